import {byId, figure, make} from './dom.js';
import {percent, perSecond, seconds, whole} from './format.js';

const sum = (list, value) => list.reduce((total, entry) => total + value(entry), 0);
const held = (state) => Object.values(state.queue.held).reduce((total, count) => total + count, 0);

function tile(name, label, raw, text, sub, level) {
  return make('div', {'data-level': level}, make('dt', {}, label), figure(name, raw, text, 'dd'),
    sub ? make('dd', {class: 'sub'}, sub) : null);
}

const firstToken = (value, bounds) =>
  (value !== null && value >= bounds[bounds.length - 1] ? `> ${seconds(value)}` : seconds(value));

export function showTiles(state, figures, bounds) {
  const [p50, p90, p99] = figures.ttft;
  const waiting = held(state);
  const isFull = waiting >= 0.8 * state.queue.max_requests;
  byId('tiles').replaceChildren(
    tile('requests_per_s', 'Requests/s', figures.requests_per_s, perSecond(figures.requests_per_s), `${whole(figures.requests)} answered`),
    tile('failed', 'Failed (5xx)', figures.failed, whole(figures.failed),
      figures.requests > 0 ? `${percent(figures.failed / figures.requests)} of all` : null, failureLevel(figures)),
    tile('ttft_p50', 'First token, p50', p50, firstToken(p50, bounds)),
    tile('ttft_p90', 'First token, p90', p90, firstToken(p90, bounds)),
    tile('ttft_p99', 'First token, p99', p99, firstToken(p99, bounds)),
    tile('hit_ratio', 'Hit ratio', figures.hit_ratio, percent(figures.hit_ratio), 'of prompt tokens'),
    tile('in_flight', 'In flight', state.sample.in_flight, whole(state.sample.in_flight), 'held ones included'),
    tile('held', 'Held in the queue', waiting, whole(waiting), `of ${whole(state.queue.max_requests)}`, waiting > 0 && isFull ? 'bad' : ''));
}

export function showSaved(state) {
  const {prompt_tokens: prompt, cached_tokens: cached} = state.sample;
  const saved = sum(state.backends, (backend) => backend.counts.saved_prefill_s);
  byId('saved').replaceChildren(
    tile('saved_tokens', 'Prompt tokens not computed', cached, whole(cached), prompt > 0 ? `of ${whole(prompt)} reported` : 'no engine has reported cached tokens'),
    tile('saved_share', 'Share', prompt > 0 ? cached / prompt : null, percent(prompt > 0 ? cached / prompt : null)),
    tile('saved_prefill_s', 'Prefill time', saved, seconds(saved),
      saved === 0 && cached > 0 ? 'no rate learned yet: that takes long prompts' : 'of engine time'));
}

function failureLevel(figures) {
  if (figures.failed === 0) return '';
  return figures.failed > 0.01 * figures.requests ? 'bad' : 'warn';
}

const isDown = (backend) => backend.health !== 'healthy' && backend.health !== 'unknown';
const plural = (count, one, many) => (count === 1 ? one : many);

function describeDown(backend) {
  return `${backend.id}: ${backend.last_error ?? backend.health.replace('_', ' ')}`;
}

// How the fleet is, in a second: the worst that is true, then what else is.
export function assess(state, figures) {
  const staying = state.backends.filter((backend) => !backend.leaving);
  const total = staying.length;
  const down = staying.filter(isDown);
  const unknown = staying.filter((backend) => backend.health === 'unknown');
  const faults = [];
  if (state.draining) faults.push(['warn', 'Draining: it takes no new connections']);
  else if (!state.ready) faults.push(['bad', 'No backend is usable']);
  if (down.length > 0) faults.push(['bad', `${down.length} of ${total} backends ${plural(down.length, 'is', 'are')} down`, ...down.map(describeDown)]);
  if (unknown.length > 0) faults.push(['warn', `${unknown.length} of ${total} backends ${plural(unknown.length, 'has', 'have')} not answered a probe yet`, ...unknown.map(describeDown)]);
  const failing = failureLevel(figures);
  if (failing) faults.push([failing, `${whole(figures.failed)} of ${whole(figures.requests)} requests failed`]);
  if (held(state) >= Math.max(1, 0.8 * state.queue.max_requests)) faults.push(['bad', 'The queue is nearly full']);
  if (faults.length === 0) {
    return {level: 'good', headline: 'All is well', detail: `${total} ${plural(total, 'backend', 'backends')} healthy`};
  }
  const worst = faults.find(([level]) => level === 'bad') ?? faults[0];
  const rest = faults.filter((fault) => fault !== worst).map(([, text]) => text);
  return {level: worst[0], headline: worst[1], detail: [...worst.slice(2), ...rest].join('\n')};
}

export function showBanner({level, headline, detail}) {
  byId('banner').dataset.level = level;
  for (const [id, text] of [['headline', headline], ['detail', detail]]) {
    if (byId(id).textContent !== text) byId(id).textContent = text;  // or it is read out again
  }
  document.title = level === 'good' ? 'prefix-router' : `${level === 'bad' ? '✕' : '!'} ${headline} – prefix-router`;
}
