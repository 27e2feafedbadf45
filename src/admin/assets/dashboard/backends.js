import {bar, byId, chip, figure, make, small, table} from './dom.js';
import {percent, seconds, whole} from './format.js';

const kLevels = {healthy: 'good', unknown: 'warn', unhealthy: 'bad', half_open: 'bad', ejected: 'bad'};

function health(backend) {
  const cells = [chip(kLevels[backend.health] ?? 'warn', backend.health.replace('_', ' '))];
  if (backend.leaving) cells.push(' ', chip('warn', 'leaving'));
  else if (backend.draining) cells.push(' ', chip('warn', 'draining'));
  if (backend.last_error) cells.push(small(backend.last_error));
  return cells;
}

function load(backend) {
  const most = backend.max_in_flight === null ? '' : ` of ${backend.max_in_flight}`;
  const {running, waiting} = backend.reported;
  const engine = running === null ? 'engine tells none' : `engine runs ${whole(running)}, queues ${whole(waiting ?? 0)}`;
  return [figure('requests', backend.requests, `${whole(backend.requests)}${most}`), small(engine)];
}

function map(backend) {
  const share = backend.capacity_tokens > 0 ? backend.resident_tokens / backend.capacity_tokens : 0;
  const source = backend.capacity_is_learned ? 'learned' : backend.reported.capacity_tokens === null ? 'assumed' : 'told';
  return [figure('resident_tokens', backend.resident_tokens, percent(share)), bar(share),
    small(`${whole(backend.resident_tokens)} of ${whole(backend.capacity_tokens)} tokens, ${source}`)];
}

function rate(backend) {
  return [figure('prefill_tokens_per_s', backend.prefill_tokens_per_s, `${whole(backend.prefill_tokens_per_s)} tokens/s`),
    small(`${backend.lanes === 1 ? '1 lane' : `${backend.lanes.toPrecision(2)} lanes`}, ${percent(backend.prefill_utilization)} busy`)];
}

export function expectedCached(counts) {
  return counts.reported_cached_tokens + counts.missing_cached_tokens - counts.unexpected_cached_tokens;
}

function cached(backend) {
  const {counts} = backend;
  const prompt = counts.reported_prompt_tokens;
  if (prompt === 0) return [make('span', {class: 'muted'}, 'no reports')];
  const expected = expectedCached(counts);
  const actual = counts.reported_cached_tokens;
  const line = (name, label, tokens, kind) => [make('span', {class: 'muted'}, label), bar(tokens / prompt, kind),
    figure(name, tokens, percent(tokens / prompt))];
  return [make('div', {class: 'cached'}, ...line('expected_cached_tokens', 'expected', expected, 'second'),
    ...line('reported_cached_tokens', 'reported', actual, ''))];
}

function served(backend) {
  const {requests, failures, refusals} = backend.counts;
  return [figure('served', requests, whole(requests)), small(`${whole(failures)} broke, ${whole(refusals)} refused`)];
}

function name(backend) {
  const models = backend.models.length > 2 ? `${backend.models.length} models` : backend.models.join(', ');
  return [backend.id, small(backend.url), models ? small(models) : null];
}

export function showBackends(backends) {
  table(byId('backends'), ['Backend', 'Health', 'Load', 'Backlog', 'Prefix map', 'Prefill rate', 'Cached', 'Sent'],
    backends.map((backend) => ({key: backend.leaving ? `${backend.id} leaves` : backend.id, cells: [
      name(backend).filter((part) => part !== null), health(backend), load(backend),
      figure('backlog_s', backend.backlog_s, seconds(backend.backlog_s)), map(backend), rate(backend), cached(backend), served(backend)]})));
}

export function showPrefixes(prefixes, backends) {
  if (prefixes.length === 0) {
    byId('prefixes').replaceChildren(make('caption', {class: 'muted'}, 'The last prompts have no beginning in common.'));
    return;
  }
  table(byId('prefixes'), ['Prefix', 'Size', 'Prompts', 'Copies'], prefixes.map((prefix) => ({key: prefix.hash, cells: [
    make('span', {class: 'mono'}, prefix.hash),
    figure('tokens', prefix.tokens, `${whole(prefix.tokens)} tokens`),
    figure('prompts', prefix.prompts, whole(prefix.prompts)),
    figure('copies', prefix.copies, `on ${prefix.copies} of ${backends.length} backends`)]})));
}
