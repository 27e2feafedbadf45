import {byId} from './dom.js';
import {percent, perSecond, seconds, whole} from './format.js';

/* global uPlot */

const kHeight = 170;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const kCharts = [
  {id: 'chart-ttft', format: seconds, lines: [['p50', 'p50', 'accent'], ['p90', 'p90', 'second'], ['p99', 'p99', 'third']]},
  {id: 'chart-requests', format: perSecond, lines: [['requests', 'answered', 'accent'], ['failed', 'failed', 'bad']]},
  {id: 'chart-hits', format: percent, top: 1, lines: [['hits', 'hit ratio', 'accent']]},
  {id: 'chart-load', format: whole, lines: [['in_flight', 'in flight', 'accent'], ['held', 'held', 'second']]},
];

const width = (chart) => Math.max(200, byId(chart.id).clientWidth);

function options(chart) {
  const axis = {stroke: colour('muted'), grid: {stroke: colour('line'), width: 1}, ticks: {show: false}, font: '11px system-ui, sans-serif'};
  return {
    width: width(chart), height: kHeight, padding: [10, 22, 0, 0],
    cursor: {y: false, drag: {x: false, y: false}, points: {size: 6}},
    scales: {x: {time: true}, y: {range: (_, low, high) => [0, chart.top ?? (high > 0 ? high * 1.1 : 1)]}},
    axes: [{...axis, grid: {show: false}, values: (_, ticks) => ticks.map(clock), space: 80, size: 26},
           {...axis, values: (_, ticks) => ticks.map(chart.format), size: 66}],
    series: [{label: 'at', value: (_, at) => (at === null ? '–' : clock(at))}].concat(chart.lines.map(([, label, name], k) => ({
      label, stroke: colour(name), width: 2, spanGaps: false, points: {show: false},
      fill: k === 0 && chart.lines.length < 3 ? `${colour(name)}22` : undefined,
      value: (_, value) => (value === null ? '–' : chart.format(value)),
    }))),
  };
}

const clock = (at) => new Date(at * 1000).toLocaleTimeString('en-GB');

export class Charts {
  constructor() {
    this.plots = [];
    this.series = null;
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.rebuild());
    addEventListener('resize', () => this.resize());
  }

  rebuild() {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    if (this.series) this.show(this.series);
  }

  resize() {
    this.plots.forEach((plot, k) => plot.setSize({width: width(kCharts[k]), height: kHeight}));
  }

  show(series) {
    this.series = series;
    kCharts.forEach((chart, k) => {
      const values = [series.at, ...chart.lines.map(([name]) => series[name])];
      if (!this.plots[k]) {
        this.plots[k] = new uPlot(options(chart), values, byId(chart.id));
        byId(chart.id).querySelector('canvas').setAttribute('aria-hidden', 'true');
      } else {
        this.plots[k].setData(values);
      }
      if (this.plots[k].cursor.left < 0) this.plots[k].setLegend({idx: series.at.length - 1});
    });
  }
}
