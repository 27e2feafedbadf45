import {showBackends, showPrefixes} from './backends.js';
import {Charts} from './charts.js';
import {showDecisions} from './decisions.js';
import {byId} from './dom.js';
import {History} from './figures.js';
import {assess, showBanner, showSaved, showTiles} from './fleet.js';
import {span} from './format.js';
import {follow, forgetToken, hasToken, keepToken} from './stream.js';

const kSilence = 8000;  // milliseconds; the router speaks every 2 s

let history = null;
let state = null;
let strategy = '';
const charts = new Charts();

const chosenWindow = () => Number(document.querySelector('input[name=window]:checked').value);

function show() {
  if (!history || !state) return;
  const figures = history.window(chosenWindow());
  showBanner(assess(state, figures));
  showTiles(state, figures, history.bounds);
  showSaved(state);
  charts.show(history.series());
  showBackends(state.backends);
  showPrefixes(state.prefixes, state.backends);
  showDecisions(state.decisions);
  byId('about').textContent = `${location.host} · strategy ${strategy} · up ${span(state.sample.at - history.started)}`;
  byId('footer-state').textContent = `As of ${new Date(state.sample.at * 1000).toLocaleTimeString('en-GB')}`;
}

function handle(name, data) {
  if (name === 'history') {
    history = new History(data);
    strategy = data.strategy;
    byId('login').hidden = true;
    byId('figures').hidden = false;
    byId('figures').classList.remove('is-stale');
    byId('forget').hidden = !hasToken();
  } else if (name === 'state') {
    state = data;
    history.add(data.sample);
    show();
  }
}

function askForToken() {
  byId('login-note').textContent = hasToken() ? 'The router does not know this token. Try again.'
    : 'This router asks for a token. It is kept in this tab only and forgotten with it.';
  forgetToken();
  byId('figures').hidden = true;
  byId('forget').hidden = true;
  byId('login').hidden = false;
  showBanner({level: 'wait', headline: 'A token is needed', detail: ''});
  byId('token').focus();
}

function lost(status) {
  if (status === 401) {
    askForToken();
    return;
  }
  byId('figures').classList.add('is-stale');
  const detail = history ? 'What is shown below is old. Trying again.' : 'Trying again.';
  showBanner(status === 503
    ? {level: 'warn', headline: 'As many dashboards are open as may be', detail: 'Close one, this one then follows.'}
    : {level: 'bad', headline: 'The router does not answer', detail});
}

const begin = () => follow('dashboard/events', kSilence, handle, lost);

byId('login').addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(byId('token').value.trim());
  byId('token').value = '';
  begin();
});
byId('forget').addEventListener('click', () => {
  forgetToken();
  location.reload();
});
for (const input of document.querySelectorAll('input[name=window]')) input.addEventListener('change', show);
begin();
