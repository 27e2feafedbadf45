import {byId, chip, make, table} from './dom.js';
import {age, percent, seconds, whole} from './format.js';

const kTerms = [['backlog_s', 'Backlog'], ['own_prefill_s', 'Own prefill'], ['eviction_s', 'Eviction'],
  ['externality_s', 'Others’ wait'], ['memory_wait_s', 'Memory'], ['slot_wait_s', 'Slot'], ['in_flight_s', 'In flight'],
  ['total_s', 'Cost']];

function terms(decision) {
  const element = make('table', {});
  table(element, ['Backend', 'Match', ...kTerms.map(([, label]) => label)], decision.candidates.map((candidate) => ({
    key: candidate.backend,
    cells: [candidate.backend, whole(candidate.match_tokens), ...kTerms.map(([name]) => seconds(candidate[name]))],
  })));
  for (const row of element.querySelectorAll('tbody tr')) {
    row.classList.toggle('is-chosen', row.dataset.row === decision.backend);
  }
  return make('div', {class: 'terms', tabindex: '0', role: 'group', 'aria-label': `Cost at each backend, request ${decision.request}`}, element);
}

function line(decision) {
  const cached = decision.prompt_tokens > 0 ? decision.expected_cached_tokens / decision.prompt_tokens : 0;
  const parts = [
    make('span', {class: 'where'}, decision.backend ?? decision.action),
    chip('', decision.reason ?? decision.action),
    make('span', {}, `${whole(decision.prompt_tokens)} tokens, ${percent(cached)} expected cached`),
    decision.held_s > 0 ? make('span', {}, `held ${seconds(decision.held_s)}`) : null,
    make('span', {class: 'muted'}, age(decision.age_s)),
  ];
  return make('summary', {}, ...parts);
}

export function showDecisions(decisions) {
  const list = byId('decisions');
  if (list.querySelector('details[open]') || list.contains(document.activeElement)) return;
  if (decisions.length === 0) {
    list.replaceChildren(make('p', {class: 'muted'}, 'Nothing has been decided yet.'));
    return;
  }
  list.replaceChildren(...decisions.map((decision) => make('details', {'data-row': decision.request}, line(decision),
    decision.candidates.length > 0 ? terms(decision) : make('p', {class: 'muted note'}, 'This strategy weighs no costs.'))));
}
