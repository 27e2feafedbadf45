'use strict';
(() => {
  const page = JSON.parse(document.getElementById('results').textContent);
  const results = page.results;
  const palette = ['#1668c7', '#d9480f', '#2b8a3e', '#9c36b5', '#e8a200', '#0b7285',
                   '#c2255c', '#5c940d', '#495057', '#7048e8', '#a0522d'];
  const color = (k) => palette[k % palette.length];
  const width = () => Math.min(960, document.body.clientWidth - 32);
  const byId = (id) => document.getElementById(id);

  byId('setting').textContent = page.setting;

  const columns = [
    ['strategy', (r) => r.strategy],
    ['token hit ratio', (r) => r.token_hit_ratio.toFixed(3)],
    ['TTFT mean, s', (r) => r.ttft_mean_s.toFixed(2)],
    ['p50', (r) => r.ttft_p50_s.toFixed(2)],
    ['p90', (r) => r.ttft_p90_s.toFixed(2)],
    ['p99', (r) => r.ttft_p99_s.toFixed(2)],
    ['busiest / mean work', (r) => r.work_max_over_mean.toFixed(2)],
  ];
  const table = byId('table');
  const addRow = (cells, tag) => {
    const row = table.insertRow();
    for (const text of cells) {
      const cell = document.createElement(tag);
      cell.textContent = text;
      row.appendChild(cell);
    }
  };
  addRow(columns.map((c) => c[0]), 'th');
  for (const r of results) addRow(columns.map((c) => c[1](r)), 'td');

  // TTFT: each strategy's quantiles as an ascending list; joined on a common time axis.
  const floor = 0.01;
  const tables = results.map((r) => {
    const n = r.ttft_quantiles_s.length;
    const at = new Map();
    r.ttft_quantiles_s.forEach((t, k) => at.set(Math.max(floor, t), (k + 1) / n));
    return [[...at.keys()], [...at.values()]];
  });
  new uPlot({
    width: width(), height: 340,
    scales: {x: {time: false, distr: 3}, y: {range: [0, 1]}},
    axes: [{label: 'seconds'}, {label: 'share of requests'}],
    series: [{label: 'TTFT, s'}].concat(results.map((r, k) => ({
      label: r.strategy, stroke: color(k), width: 2, spanGaps: true, points: {show: false},
    }))),
  }, uPlot.join(tables), byId('ttft'));

  const names = results.map((r) => r.strategy);
  const line = (value) => names.map(() => value);
  new uPlot({
    width: width(), height: 300,
    scales: {x: {time: false, range: [-0.6, names.length - 0.4]}, y: {range: [0, 1]}},
    axes: [
      {splits: names.map((_, k) => k), values: () => names, size: 60, grid: {show: false}},
      {label: 'token hit ratio'},
    ],
    series: [
      {label: 'strategy', value: (_, v) => names[v] ?? ''},
      {label: 'hit ratio', stroke: color(0), fill: color(0) + '88',
       paths: uPlot.paths.bars({size: [0.5, 80]}), points: {show: false}},
      {label: 'infinite cache', stroke: color(2), dash: [6, 4], points: {show: false}},
      {label: 'one LRU', stroke: color(1), dash: [6, 4], points: {show: false}},
    ],
  }, [names.map((_, k) => k), results.map((r) => r.token_hit_ratio),
      line(results[0].bound_infinite), line(results[0].bound_lru)], byId('hits'));

  let loadPlot = null;
  const drawLoad = (index) => {
    if (loadPlot) loadPlot.destroy();
    const r = results[index];
    const buckets = r.load[0].length;
    const step = r.span_s / buckets;
    const times = Array.from({length: buckets}, (_, k) => (k + 0.5) * step);
    loadPlot = new uPlot({
      width: width(), height: 320,
      scales: {x: {time: false}},
      axes: [{label: 'seconds of the replay'}, {label: 'prefill servers kept busy'}],
      series: [{label: 'time, s'}].concat(r.load.map((_, k) => ({
        label: 'backend ' + k, stroke: color(k), width: 1, points: {show: false},
      }))),
    }, [times].concat(r.load.map((row) => row.map((work) => work / step))), byId('load'));
  };
  const select = byId('strategy');
  names.forEach((name, k) => select.add(new Option(name, String(k))));
  select.addEventListener('change', () => drawLoad(Number(select.value)));
  drawLoad(0);
})();
