// A film of a draft: what stood there after any moment, who had written it, and what was gone.
// Nothing here knows of a page.
//
// A text is a list of pieces {text, who, gone}: `who` is a place in the film's `authors`, and what
// is `gone` was taken out and stays where it was. Who wrote what was decided by the studio, change
// by change: here characters are only put in their places.

// Changes between two states that are kept: to go anywhere takes no more than so many.
const KEPT_EVERY = 500;
// As the studio counts words: letters and digits, joined by single apostrophes.
const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;

function push(pieces, piece) {
  if (!piece.text) return;
  const last = pieces.at(-1);
  if (last && last.gone === piece.gone && (piece.gone || last.who === piece.who)) {
    pieces[pieces.length - 1] = { ...last, text: last.text + piece.text };
  } else pieces.push(piece);
}

// The state after a change; `place` and `at` say where the last one was, for the next is near.
function change(state, start, removed, inserted, who) {
  const { pieces } = state;
  let { place, at } = state;
  while (place > 0 && at >= start) {
    place -= 1;
    if (!pieces[place].gone) at -= pieces[place].text.length;
  }
  // Past all that stands before it, and what is gone from there: what is new follows that.
  while (place < pieces.length) {
    const piece = pieces[place];
    if (!piece.gone && at + piece.text.length > start) break;
    if (!piece.gone) at += piece.text.length;
    place += 1;
  }
  const first = Math.max(0, place - 1);
  const fresh = [];
  if (first < place) push(fresh, pieces[first]);
  let end = place;
  let offset = start - at;
  if (end < pieces.length && offset) push(fresh, cut(pieces[end], 0, offset));
  let left = removed;
  while (left > 0) {
    const piece = pieces[end];
    if (piece.gone) {
      push(fresh, piece);
      end += 1;
      continue;
    }
    const taken = Math.min(left, piece.text.length - offset);
    push(fresh, { ...cut(piece, offset, offset + taken), gone: true });
    left -= taken;
    offset += taken;
    if (offset === piece.text.length) {
      end += 1;
      offset = 0;
    }
  }
  push(fresh, { text: inserted, who, gone: false });
  if (end < pieces.length) {
    push(fresh, cut(pieces[end], offset));
    end += 1;
  }
  if (first < place && !pieces[first].gone) at -= pieces[first].text.length;
  pieces.splice(first, end - first, ...fresh);
  state.place = first;
  state.at = at;
}

const cut = (piece, from, to) => ({ ...piece, text: piece.text.slice(from, to) });

export class Film {
  constructor(columns) {
    this.columns = columns;
    this.length = columns.changes.length;
    const began = columns.began_at ? Date.parse(columns.began_at) : 0;
    // Of the moments 1 to `length`; 0 is the empty page.
    this.times = [began];
    this.versions = [0];
    this.changesBefore = [0];
    for (let n = 0; n < this.length; n += 1) {
      this.times.push(this.times[n] + columns.milliseconds[n]);
      this.versions.push(this.versions[n] + columns.versions[n]);
      this.changesBefore.push(this.changesBefore[n] + columns.changes[n]);
    }
    this.kept = [{ moment: 0, pieces: [] }];
    this.now = { moment: 0, pieces: [], place: 0, at: 0 };
  }

  // Pieces of the text after a moment.
  seek(moment) {
    const wanted = Math.min(Math.max(moment, 0), this.length);
    const kept = this.kept[this.#findKept(wanted)];
    if (this.now.moment > wanted || this.now.moment < kept.moment) {
      this.now = { moment: kept.moment, pieces: kept.pieces.slice(), place: 0, at: 0 };
    }
    while (this.now.moment < wanted) this.#step();
    return this.now.pieces;
  }

  // Go through to the end when there is time, so that any moment is soon found.
  prepare(until) {
    const saved = this.now;
    const last = this.kept.at(-1);
    this.now = { moment: last.moment, pieces: last.pieces.slice(), place: 0, at: 0 };
    while (this.now.moment < this.length && performance.now() < until) {
      const known = this.kept.length;
      while (this.now.moment < this.length && this.kept.length === known) this.#step();
    }
    const isDone = this.now.moment === this.length;
    this.now = saved;
    return isDone;
  }

  #step() {
    const { columns, now } = this;
    const first = this.changesBefore[now.moment];
    const end = this.changesBefore[now.moment + 1];
    for (let n = first; n < end; n += 1) {
      change(now, columns.starts[n], columns.removed[n], columns.inserted[n], columns.who[n]);
    }
    now.moment += 1;
    const last = this.kept.at(-1).moment;
    if (now.moment > last && end - this.changesBefore[last] >= KEPT_EVERY) {
      this.kept.push({ moment: now.moment, pieces: now.pieces.slice() });
    }
  }

  #findKept(moment) {
    let low = 0;
    let high = this.kept.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.kept[middle].moment <= moment) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  origin(who) {
    return this.columns.authors[who][0];
  }

  // Where in the text the last change of a moment ended; what it put in and took out.
  lastChange(moment) {
    if (!moment) return { at: 0, inserted: "", removed: 0, origin: "person" };
    const n = this.changesBefore[moment] - 1;
    const { starts, inserted, removed, who } = this.columns;
    return {
      at: starts[n] + inserted[n].length,
      inserted: inserted[n],
      removed: removed[n],
      origin: this.origin(who[n]),
    };
  }

  // Moments that are worth going to: sittings, what was taken from a machine, named versions.
  marks() {
    const { columns } = this;
    const sittings = columns.sittings.map((n) => ({ kind: "sitting", moment: n + 1 }));
    const machine = [];
    for (let n = 0; n < this.length; n += 1) {
      let letters = 0;
      for (let c = this.changesBefore[n]; c < this.changesBefore[n + 1]; c += 1) {
        if (this.origin(columns.who[c]) === "machine") letters += columns.inserted[c].length;
      }
      if (letters) machine.push({ kind: "machine", moment: n + 1, letters });
    }
    const named = columns.names.map(([version, name]) => ({
      kind: "version", name, moment: Math.max(0, this.versions.findLastIndex((v) => v <= version)),
    }));
    return { sittings, machine, named };
  }
}

// The lines of a text, each with its parts and a key that tells whether it has changed; `known`
// are lines of before, whose counts still hold.
export function layLines(pieces, { ghosts = false, known = new Map() } = {}) {
  const lines = [];
  let parts = [];
  const close = () => {
    const key = parts.map((part) => `${part.gone ? "-" : part.who}\u0001${part.text}`).join("\u0002");
    lines.push(known.get(key) ?? { key, parts });
    parts = [];
  };
  for (const piece of pieces) {
    if (piece.gone) {
      if (ghosts) push(parts, { ...piece, text: piece.text.replaceAll("\n", "¶") });
      continue;
    }
    const texts = piece.text.split("\n");
    texts.forEach((text, n) => {
      if (n) close();
      push(parts, { text, who: piece.who, gone: false });
    });
  }
  close();
  return lines;
}

// Words of lines by origin; one of several origins is an edited one.
export function countWords(lines, film) {
  const total = { person: 0, machine: 0, edited: 0 };
  for (const line of lines) {
    line.counts ??= countLine(line.parts.filter((part) => !part.gone), film);
    for (const origin of Object.keys(total)) total[origin] += line.counts[origin];
  }
  return total;
}

function countLine(parts, film) {
  const counts = { person: 0, machine: 0, edited: 0 };
  const ends = [];
  let end = 0;
  for (const part of parts) ends.push((end += part.text.length));
  let place = 0;
  for (const match of parts.map((part) => part.text).join("").matchAll(WORD)) {
    while (ends[place] <= match.index) place += 1;
    let origin = film.origin(parts[place].who);
    for (let n = place; ends[n] < match.index + match[0].length; n += 1) {
      if (film.origin(parts[n + 1].who) !== origin) origin = "edited";
    }
    counts[origin] += 1;
  }
  return counts;
}
