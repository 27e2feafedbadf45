'use strict';
(() => {
  const page = JSON.parse(document.getElementById('data').textContent);
  const results = page.results;
  const palette = ['#1668c7', '#d9480f', '#2b8a3e', '#9c36b5', '#e8a200', '#0b7285',
                   '#c2255c', '#5c940d', '#495057', '#7048e8', '#a0522d'];
  const color = (k) => palette[k % palette.length];
  const byId = (id) => document.getElementById(id);
  const width = () => Math.min(1060, document.body.clientWidth - 32);
  const fixed = (value, places) => value == null ? '-' : value.toFixed(places);
  const curves = (names) => names.map((label, k) => (
    {label, stroke: color(k), width: 2, spanGaps: true, points: {show: false}}));

  byId('setting').textContent = page.setting;

  const columns = [
    ['router', (r) => r.router],
    ['requests', (r) => r.requests],
    ['errors', (r) => r.errors],
    ['hit ratio', (r) => fixed(r.token_hit_ratio, 3)],
    ['replayed', (r) => fixed(r.replay_token_hit_ratio, 3)],
    ['TTFT mean, s', (r) => fixed(r.ttft_mean_s, 2)],
    ['replayed', (r) => fixed(r.replay_ttft_mean_s, 2)],
    ['p50', (r) => fixed(r.ttft_p50_s, 2)],
    ['p99', (r) => fixed(r.ttft_p99_s, 2)],
    ['expected / reported', (r) => fixed(r.truth && r.truth.expected_over_reported, 3)],
    ['CPU ms/request', (r) => fixed(r.router_cpu_ms_per_request, 2)],
    ['RSS, MB', (r) => fixed(r.router_rss_mb, 0)],
  ];
  const addRow = (cells, tag) => {
    const row = byId('table').insertRow();
    for (const text of cells) {
      const cell = document.createElement(tag);
      cell.textContent = text;
      row.appendChild(cell);
    }
  };
  addRow(columns.map((c) => c[0]), 'th');
  for (const r of results) addRow(columns.map((c) => c[1](r)), 'td');

  const names = results.map((r) => r.router);
  const floor = 0.01;
  const shares = results.map((r) => {
    const n = r.ttft_quantiles_s.length;
    const at = new Map();
    r.ttft_quantiles_s.forEach((t, k) => at.set(Math.max(floor, t), (k + 1) / n));
    return [[...at.keys()], [...at.values()]];
  });
  new uPlot({
    width: width(), height: 340,
    scales: {x: {time: false, distr: 3}, y: {range: [0, 1]}},
    axes: [{label: 'seconds'}, {label: 'share of requests'}],
    series: [{label: 'TTFT, s'}].concat(curves(names)),
  }, uPlot.join(shares), byId('ttft'));

  new uPlot({
    width: width(), height: 300,
    scales: {x: {time: false, range: [-0.6, names.length - 0.4]}, y: {range: [0, 1]}},
    axes: [
      {splits: names.map((_, k) => k), values: () => names, size: 60, grid: {show: false}},
      {label: 'token hit ratio'},
    ],
    series: [
      {label: 'router', value: (_, v) => names[v] ?? ''},
      {label: 'live', stroke: color(0), fill: color(0) + '88',
       paths: uPlot.paths.bars({size: [0.5, 80]}), points: {show: false}},
      {label: 'replayed', stroke: color(1), paths: () => null, points: {show: true, size: 10, fill: color(1)}},
    ],
  }, [names.map((_, k) => k), results.map((r) => r.token_hit_ratio),
      results.map((r) => r.replay_token_hit_ratio ?? null)], byId('hits'));

  const column = (rows, k) => rows.map((row) => row[k]);
  new uPlot({
    width: width(), height: 320,
    scales: {x: {time: false}, y: {distr: 3}},
    axes: [{label: 'seconds of the trace'}, {label: 'TTFT mean, s'}],
    series: [{label: 'time, s'}].concat(curves(names)),
  }, uPlot.join(results.map((r) => [column(r.course, 0), column(r.course, 1).map((t) => Math.max(floor, t))])),
  byId('course'));

  const believing = results.filter((r) => r.truth_course.length > 0);
  if (believing.length === 0) return;
  byId('truth').hidden = false;
  let plots = [];
  const draw = (index) => {
    plots.forEach((plot) => plot.destroy());
    const r = believing[index];
    const backends = Object.keys(r.beliefs);
    plots = [new uPlot({
      width: width(), height: 300,
      scales: {x: {time: false}, y: {range: [0, 2]}},
      axes: [{label: 'answers'}, {label: 'ratio'}],
      series: [{label: 'answers'}].concat(
        curves(['cached tokens, expected / reported', 'first token, measured / predicted'])),
    }, [0, 1, 2].map((k) => column(r.truth_course, k)), byId('ratios'))];
    if (backends.length === 0) return;
    plots.push(new uPlot({
      width: width(), height: 300,
      scales: {x: {time: false}},
      axes: [{label: 'seconds of the trace'}, {label: 'tokens', size: 90}],
      series: [{label: 'time, s'}].concat(curves(backends)),
    }, uPlot.join(backends.map((b) => [column(r.beliefs[b], 0), column(r.beliefs[b], 1)])), byId('capacity')));
  };
  believing.forEach((r, k) => byId('strategy').add(new Option(r.router, String(k))));
  byId('strategy').addEventListener('change', (event) => draw(Number(event.target.value)));
  draw(0);
})();
