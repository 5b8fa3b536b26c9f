// Pools, backends, listeners and events, each from its object of the API.

const KINDS = {
  ok: 'good', degraded: 'warn', down: 'bad', available: 'good', circuit_open: 'bad',
  circuit_half_open: 'warn', health_unhealthy: 'bad', at_capacity: 'warn', draining: 'warn',
  disabled: '', serving: 'good',
};
const kind = (state) => KINDS[state] || '';
const sum = (counts) => Object.values(counts).reduce((all, each) => all + each, 0);

function left(until, now) {
  const seconds = (Date.parse(until) - now) / 1000;
  return seconds > 0 ? `${seconds.toFixed(1)} s left` : 'due';
}

function circuitText(circuit, now) {
  if (!circuit.enabled) return 'circuit off';
  if (circuit.bypassed) return `circuit ${circuit.phase}, bypassed by an operator`;
  if (circuit.forced_open) return 'circuit open, by an operator';
  if (circuit.probe_due) return 'circuit open, probe due';
  if (circuit.phase === 'open') return `circuit open, ${left(circuit.open_until, now)}`;
  if (circuit.phase === 'half_open') {
    return `circuit half_open, ${left(circuit.half_open_until, now)}`;
  }
  return circuit.fails > 0 ? `circuit closed, ${circuit.fails} failed in a row` : 'circuit closed';
}

class BackendView extends Row {
  constructor() {
    super();
    this.dials = new Rate();
    this.failures = new Rate();
  }
  show(backend, at, now) {
    this.dials.add(at, backend.totals.dials);
    this.failures.add(at, sum(backend.totals.failures));
    say(this.name, backend.name);
    say(this.under, backend.address + (backend.priority > 0 ? ` · tier ${backend.priority}` : ''));
    word(this.state, backend.state, kind(backend.state));
    const notes = [circuitText(backend.circuit, now)];
    if (backend.drain_until) notes.unshift(`drain ends: ${left(backend.drain_until, now)}`);
    if (backend.removed) notes.unshift('removed');
    if (backend.health) notes.push(backend.health.state);
    say(this.more, notes.join(' · '));
    this.more.title = this.more.textContent;
    const failing = this.failures.lately();
    this.numbers.set('active', limited(backend.active, backend.max_active));
    this.numbers.set('dials', rate(this.dials.lately()));
    this.numbers.set('failures', rate(failing), failing > 0 ? 'bad' : '');
  }
}

class PoolView {
  constructor(pool) {
    this.verdict = element('span', 'word');
    this.facts = new Facts('facts');
    this.sessions = new Rate();
    this.begun = new Plot('new', rate);
    this.active = new Plot('active', count);
    this.waiting = new Plot('waiting', count);
    this.dials = new Mean();
    this.dialTime = new Plot('dial time', milliseconds, 1e-4);
    const list = element('ul', 'rows');
    this.backends = new Views(list, () => new BackendView());
    const head = element('header');
    const plots = element('div', 'plots');
    plots.append(this.begun.root, this.active.root, this.waiting.root, this.dialTime.root);
    this.balance = element('p');
    const title = element('div');
    title.append(element('h2', '', pool.name), this.balance);
    const verdict = element('div', 'verdict');
    verdict.append(this.verdict);
    head.append(title, verdict, this.facts.root);
    this.root = element('article', 'pool');
    this.root.append(head, plots, list);
  }
  show(pool, at, now, listeners, dialsByPool) {
    const {active, pending, max_active: mostActive, max_pending: mostPending, rejected} = pool.admission;
    const accepted = listeners.filter((each) => each.pool === pool.name)
      .reduce((all, each) => all + each.accepted, 0);
    this.sessions.add(at, accepted);
    word(this.verdict, pool.verdict, kind(pool.verdict));
    this.facts.set('active', limited(active, mostActive));
    this.facts.set('waiting', limited(pending, mostPending));
    this.facts.set('refused', String(sum(rejected)));
    this.facts.set('eligible', `${pool.eligible} of ${pool.backends.length}`);
    say(this.balance, pool.balance);
    this.begun.addLatest(at, this.sessions);
    this.active.add(at, active);
    this.waiting.add(at, pending);
    const dials = dialsByPool.get(pool.name);
    if (dials) this.dials.add(at, dials.sum, dials.count);
    this.dialTime.addLatest(at, this.dials);
    this.backends.show(pool.backends, at, now);
  }
}

class ListenerView extends Row {
  constructor() {
    super();
    this.accepted = new Rate();
    this.into = new Rate();
    this.out = new Rate();
  }
  show(listener, at) {
    this.accepted.add(at, listener.accepted);
    this.into.add(at, listener.bytes_in);
    this.out.add(at, listener.bytes_out);
    say(this.name, listener.name);
    say(this.under, listener.bind.join(', '));
    word(this.state, listener.state, kind(listener.state));
    say(this.more, `${limited(listener.connections, listener.max_connections)} open · to ${listener.pool}`);
    this.numbers.set('accepted', rate(this.accepted.lately()));
    this.numbers.set('in', bytes(this.into.lately()));
    this.numbers.set('out', bytes(this.out.lately()));
  }
}

function eventView(event) {
  const root = element('li');
  const when = new Date(event.ts);
  const time = element('time', '', when.toLocaleTimeString([], {hour12: false}));
  time.dateTime = event.ts;
  time.title = event.ts;
  const about = [event.pool, event.backend].filter((name) => name).join('/') || 'weir';
  root.append(time, element('span', 'kind', event.kind), element('span', 'about', `${about} ${event.to}`),
    element('span', 'cause', event.cause));
  return root;
}
