// What the samples of the fleet's counters say about a stretch of time. Pure.
const kMostSamples = 450;
const kQuantileSpan = 30;  // seconds that a point of the chart looks back

export class History {
  constructor(begin) {
    this.started = begin.started;
    this.bounds = begin.first_token_bounds;
    const columns = begin.samples;
    this.samples = (columns.at ?? []).map((_, k) =>
      Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[k]])));
  }

  add(sample) {
    if (this.samples.length > 0 && sample.at <= this.latest().at) this.samples.pop();
    this.samples.push(sample);
    if (this.samples.length > kMostSamples) this.samples.shift();
  }

  latest() { return this.samples[this.samples.length - 1]; }

  // The last sample at or before `at`, else the first one.
  before(at) {
    let found = this.samples[0];
    for (const sample of this.samples) {
      if (sample.at > at) break;
      found = sample;
    }
    return found;
  }

  // Figures of the last `span` seconds; 0: since the start.
  window(span) {
    const end = this.latest();
    const begin = span === 0 ? this.nothing() : this.before(end.at - span);
    return this.between(begin, end);
  }

  nothing() {
    const zero = {at: this.started, requests: 0, failed: 0, prompt_tokens: 0, cached_tokens: 0};
    return {...zero, first_tokens: this.bounds.map(() => 0).concat(0)};
  }

  between(begin, end) {
    const passed = Math.max(end.at - begin.at, 0);
    const rate = (name) => (passed > 0 ? (end[name] - begin[name]) / passed : 0);
    const prompt = end.prompt_tokens - begin.prompt_tokens;
    const counts = end.first_tokens.map((count, k) => count - begin.first_tokens[k]);
    return {
      seconds: passed,
      requests: end.requests - begin.requests,
      failed: end.failed - begin.failed,
      requests_per_s: rate('requests'),
      failed_per_s: rate('failed'),
      hit_ratio: prompt > 0 ? (end.cached_tokens - begin.cached_tokens) / prompt : null,
      ttft: [0.5, 0.9, 0.99].map((q) => quantile(q, counts, this.bounds)),
    };
  }

  // Columns for the charts: one point per sample, each over a short stretch before it.
  series() {
    const columns = {at: [], p50: [], p90: [], p99: [], requests: [], failed: [], hits: [], in_flight: [], held: []};
    let begin = 0;
    for (let k = 1; k < this.samples.length; ++k) {
      const sample = this.samples[k];
      while (begin + 1 < k && this.samples[begin + 1].at <= sample.at - kQuantileSpan) ++begin;
      const figures = this.between(this.samples[begin], sample);
      const recent = this.between(this.samples[Math.max(begin, k - 5)], sample);
      const values = {at: sample.at, p50: figures.ttft[0], p90: figures.ttft[1], p99: figures.ttft[2],
        requests: recent.requests_per_s, failed: recent.failed_per_s, hits: figures.hit_ratio,
        in_flight: sample.in_flight, held: sample.held};
      for (const [name, value] of Object.entries(values)) columns[name].push(value);
    }
    return columns;
  }
}

// As Prometheus' histogram_quantile: linear inside a bucket; null without observations.
export function quantile(q, counts, bounds) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let rank = q * total;
  for (let k = 0; k < bounds.length; ++k) {
    if (counts[k] > 0 && rank <= counts[k]) {
      const low = k === 0 ? 0 : bounds[k - 1];
      return low + (bounds[k] - low) * (rank / counts[k]);
    }
    rank -= counts[k];
  }
  return bounds[bounds.length - 1];
}
