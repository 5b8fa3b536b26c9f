'use strict';

// The last two minutes of one number, for a plot; the page remembers them, weir does not.
const SPAN_MS = 120000;

class Series {
  constructor() { this.points = []; }

  add(at, value) {
    this.points.push([at, value]);
    while (this.points[0][0] < at - SPAN_MS) this.points.shift();
  }
  last() { return this.points.length ? this.points[this.points.length - 1][1] : 0; }
  peak() { return this.points.reduce((most, [, value]) => Math.max(most, value), 0); }
}

// Turns a total into so many a second. What counts from the beginning again, as after a restart,
// gives nothing for a moment.
class Rate {
  constructor() { this.totals = []; }

  add(at, total) {
    if (this.totals.length && total < this.totals[this.totals.length - 1][1]) this.totals = [];
    this.totals.push([at, total]);
    if (this.totals.length > 6) this.totals.shift();
  }
  between(first) {
    const last = this.totals[this.totals.length - 1];
    return first && last[0] > first[0] ? (last[1] - first[1]) * 1000 / (last[0] - first[0]) : 0;
  }
  known() { return this.totals.length > 1; }
  now() { return this.between(this.totals[this.totals.length - 2]); }
  lately() { return this.between(this.totals[0]); }  // over five seconds, to be read
}

// Of a total and the count of what is in it: the mean of what was added lately.
class Mean {
  constructor() {
    this.total = new Rate();
    this.count = new Rate();
  }
  add(at, total, count) {
    this.total.add(at, total);
    this.count.add(at, count);
  }
  known() { return this.count.known() && this.count.now() > 0; }
  now() { return this.total.now() / this.count.now(); }
  lately() { return this.total.lately() / this.count.lately(); }
}

const WIDTH = 120;
const HEIGHT = 40;

function svg(name, className) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  if (className) element.setAttribute('class', className);
  return element;
}

// A plot with what it shows, how much that is now, and the most in it.
class Plot {
  constructor(what, written, least = 1) {
    this.written = written;
    this.least = least;  // what a full height stands for at least
    this.series = new Series();
    this.now = element('b');
    this.top = element('span');
    const caption = element('figcaption');
    caption.append(element('span', '', what), this.now);
    const scale = element('p');
    scale.append(element('span', '', '2 min'), this.top);
    this.area = svg('path', 'area');
    this.curve = svg('path', 'curve');
    const picture = svg('svg');
    picture.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    picture.setAttribute('preserveAspectRatio', 'none');
    picture.setAttribute('aria-hidden', 'true');
    picture.append(this.area, this.curve);
    this.root = element('figure');
    this.root.append(caption, picture, scale);
    this.label(null);
  }

  label(value) {
    say(this.now, value === null ? '–' : this.written(value));
    say(this.top, value === null ? '' : 'peak ' + this.written(this.series.peak()));
  }
  add(at, value, shown = value) {
    this.series.add(at, value);
    this.label(shown);
    const scale = (HEIGHT - 3) / Math.max(this.series.peak(), this.least);
    const places = this.series.points.map(([when, height]) => [
      (WIDTH * (1 - (at - when) / SPAN_MS)).toFixed(2), (HEIGHT - 1 - height * scale).toFixed(2)]);
    const line = places.map((place) => place.join(' ')).join('L');
    this.curve.setAttribute('d', 'M' + line);
    this.area.setAttribute('d', `M${places[0][0]} ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}Z`);
  }

  addLatest(at, of) {
    if (of.known()) this.add(at, of.now(), of.lately());
  }
}
