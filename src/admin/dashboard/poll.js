// Asks once a second, for as long as the page is open, whatever happened to weir meanwhile.

const INTERVAL_MS = 1000;
const PATIENCE_MS = 5000;
const EVENTS_SHOWN = 15;

const byId = (id) => document.getElementById(id);
const processFacts = new Facts('facts');
byId('process').replaceWith(processFacts.root);
const pools = new Views(byId('pools'), (pool) => new PoolView(pool));
const listeners = new Views(byId('listeners'), () => new ListenerView());

// weir's clock may differ from this one's. Its answers carry the second that they were given in, so
// each says by how much to within one second, and some together say it better. As far as they allow
// that the clocks agree, they do.
const differences = [];
function learnClock(date) {
  const difference = Date.parse(date) - Date.now();
  if (Number.isNaN(difference)) return;
  differences.push(difference);
  if (differences.length > 40) differences.shift();
}
function weirNow() {
  const least = Math.max(...differences);
  const most = Math.min(...differences) + 1000;
  return Date.now() + (least <= 0 && most >= 0 ? 0 : (least + most) / 2);
}

async function get(path) {
  const response = await fetch(path, {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  learnClock(response.headers.get('date'));
  return response;
}
const getJson = async (path) => (await get(path)).json();

// Sum and count of each pool's dials: the API has no latencies, the metrics have.
async function getDials() {
  const text = await (await get('/metrics')).text();
  const pools = new Map();
  for (const [, what, pool, value] of
    text.matchAll(/^weir_dial_seconds_(sum|count)\{pool="([^"]*)"\} (\S+)$/gm)) {
    pools.set(pool, {...pools.get(pool), [what]: Number(value)});
  }
  return pools;
}

let pid = 0;
let uptime = 0;
let since = 0;

function showStatus(status) {
  say(byId('version'), status.version);
  processFacts.set('state', status.draining ? 'draining' : 'serving', status.draining ? 'bad' : '');
  processFacts.set('up', duration(status.uptime_s));
  processFacts.set('sessions', String(status.sessions));
  processFacts.set('generation', String(status.config_generation));
  processFacts.set('workers', String(status.workers));
  processFacts.set('pid', String(status.pid));
}

function showEvents(answer) {
  const list = byId('events');
  for (const event of answer.events.slice(-EVENTS_SHOWN)) list.prepend(eventView(event));
  while (list.children.length > EVENTS_SHOWN) list.lastChild.remove();
  byId('no-events').hidden = list.children.length > 0;
  since = answer.next;
}

async function ask() {
  const [status, all, doors, dials] = await Promise.all(
    [getJson('/v1/status'), getJson('/v1/pools'), getJson('/v1/listeners'), getDials()]);
  // Started anew, with a journal of its own; in a container under the same number.
  let another = status.pid !== pid || status.uptime_s < uptime;
  let journal = await getJson(`/v1/events?since=${another ? 0 : since}`);
  if (!another && journal.next < since) {
    another = true;
    journal = await getJson('/v1/events?since=0');
  }
  return {status, pools: all.pools, listeners: doors.listeners, journal, dials, another};
}

function show(answer) {
  if (answer.another) byId('events').replaceChildren();
  pid = answer.status.pid;
  uptime = answer.status.uptime_s;
  const at = performance.now();
  showStatus(answer.status);
  pools.show(answer.pools, at, weirNow(), answer.listeners, answer.dials);
  listeners.show(answer.listeners, at);
  showEvents(answer.journal);
}

let lostAt = null;
function tell(answered) {
  const contact = byId('contact');
  const time = new Date().toLocaleTimeString([], {hour12: false});
  lostAt = answered ? null : lostAt || time;
  document.body.classList.toggle('stale', !answered);
  contact.classList.toggle('lost', !answered);
  say(contact, answered ? `live, ${time}` : `weir does not answer since ${lostAt}; trying again`);
}

async function poll() {
  const began = performance.now();
  const answer = await ask().catch(() => null);
  // Before anything is shown: a fault there is seen in the console, and does not end this.
  setTimeout(poll, Math.max(0, INTERVAL_MS - (performance.now() - began)));
  tell(answer !== null);
  if (answer) show(answer);
}
poll();
