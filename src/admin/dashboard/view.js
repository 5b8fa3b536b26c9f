// How things are shown. All that weir says is set as text, never as markup.

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Leaves the page alone where nothing has changed.
function say(to, text) {
  if (to.textContent !== text) to.textContent = text;
}

function word(to, text, kind) {
  say(to, text);
  to.className = 'word ' + kind;
}

const count = (value) => String(Math.round(value));
const rate = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1)) + '/s';
const limited = (value, most) => most > 0 ? `${value} / ${most}` : String(value);

function milliseconds(seconds) {
  const value = seconds * 1000;
  return (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)) + ' ms';
}

function bytes(value) {
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (value < 1000) return `${value < 10 && unit !== 'B' ? value.toFixed(1) : Math.round(value)} ${unit}/s`;
    value /= 1024;
  }
  return value.toFixed(1) + ' GiB/s';
}

function duration(seconds) {
  const whole = Math.floor(seconds);
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = parts.findIndex(([size]) => whole >= size);
  if (first < 0) return '0 s';
  return parts.slice(first, first + 2).map(([size, unit], i) => {
    const value = Math.floor((i === 0 ? whole : whole % parts[first][0]) / size);
    return `${value} ${unit}`;
  }).join(' ');
}

// Name and value pairs that keep their places: { now: set('active', '3 / 50') }.
class Facts {
  constructor(className) {
    this.root = element('dl', className);
    this.values = new Map();
  }
  set(name, text, kind = '') {
    let value = this.values.get(name);
    if (!value) {
      const pair = element('div');
      value = element('dd');
      pair.append(element('dt', '', name), value);
      this.root.append(pair);
      this.values.set(name, value);
    }
    say(value, text);
    if (value.className !== kind) value.className = kind;
  }
}

// One view for each item of a list, kept as long as its name is there, in the list's order. A name
// may come twice: what was removed and came back may have sessions from before.
class Views {
  constructor(root, make) {
    this.root = root;
    this.make = make;
    this.views = new Map();
  }
  show(items, ...more) {
    const gone = new Set(this.views.keys());
    items.forEach((item, place) => {
      const earlier = items.slice(0, place).filter((each) => each.name === item.name).length;
      const key = `${earlier} ${item.name}`;
      if (!this.views.has(key)) this.views.set(key, this.make(item));
      gone.delete(key);
      const view = this.views.get(key);
      if (this.root.children[place] !== view.root) {
        this.root.insertBefore(view.root, this.root.children[place] || null);
      }
      view.show(item, ...more);
    });
    for (const key of gone) {
      this.views.get(key).root.remove();
      this.views.delete(key);
    }
  }
}

// A name with a line under it, a state with a line under it, and numbers.
class Row {
  constructor() {
    this.name = element('b');
    this.under = element('span');
    this.state = element('span', 'word');
    this.more = element('span', 'more');
    this.numbers = new Facts('numbers');
    const who = element('div', 'who');
    who.append(this.name, this.under);
    const what = element('div', 'what');
    what.append(this.state, this.more);
    this.root = element('li');
    this.root.append(who, what, this.numbers.root);
  }
}
