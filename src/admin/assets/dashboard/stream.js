// Server-sent events by fetch: EventSource cannot send the token that the router may ask for.
const kTokenKey = 'prefix-router-admin-token';
const kPauses = [1000, 2000, 5000];

export const hasToken = () => sessionStorage.getItem(kTokenKey) !== null;
export const keepToken = (token) => sessionStorage.setItem(kTokenKey, token);
export const forgetToken = () => sessionStorage.removeItem(kTokenKey);

const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const event = {name: 'message', data: ''};
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) event.name = line.slice(7);
        if (line.startsWith('data: ')) event.data += line.slice(6);
      }
      yield event;
    }
  }
}

// Silence is a fault, too: a router that hangs sends nothing and ends nothing.
async function listen(path, silence, handle) {
  const abort = new AbortController();
  let watchdog = setTimeout(() => abort.abort(), silence);
  try {
    const token = sessionStorage.getItem(kTokenKey);
    const headers = token === null ? {} : {Authorization: `Bearer ${token}`};
    const answer = await fetch(path, {headers, signal: abort.signal, cache: 'no-store'});
    if (!answer.ok) return answer.status;
    for await (const event of events(answer.body)) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), silence);
      handle(event.name, JSON.parse(event.data));
    }
  } catch (error) {
    if (!(error instanceof TypeError || error.name === 'AbortError')) throw error;
  } finally {
    clearTimeout(watchdog);
    abort.abort();
  }
  return 0;
}

// For ever. `lost(status)`: the stream has ended or did not begin; 401 ends it until begun anew.
export async function follow(path, silence, handle, lost) {
  for (let tries = 0; ; ++tries) {
    const status = await listen(path, silence, (name, data) => {
      tries = 0;
      handle(name, data);
    });
    lost(status);
    if (status === 401) return;
    await pause(kPauses[Math.min(tries, kPauses.length - 1)]);
  }
}
