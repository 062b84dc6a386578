// The log: what was written and is not yet at the studio, as edits one after the other, and who
// wrote each character of the text they lead to.

import { markEdit } from "./marks.js";
import { countPoints, slicePoints } from "./text.js";

// Typing goes on in one edit as long as it does not pause, jump, or begin another word.
const PAUSE_MS = 1000;
const MOST_TYPED = 200;
// Of one saving; the studio takes 5,000 edits and 1,000,000 characters, and 4 MiB on the wire.
export const MOST_EDITS = 4000;
export const MOST_INSERTED = 400_000;

export class Log {
  #before = null; // Runs before the last edit: it may still grow.

  constructor(runs) {
    this.runs = runs;
    this.edits = [];
  }

  // Takes an edit in, or lets the last one grow by it.
  add(edit) {
    const last = this.edits.at(-1);
    const grown = this.#before && last && mergeEdits(last, edit);
    if (grown) this.edits[this.edits.length - 1] = grown;
    else this.edits.push(edit);
    this.#before = grown ? this.#before : this.runs;
    this.runs = markEdit(this.#before, grown || edit);
    if (edit.isWhole) this.#before = null;
  }

  // The last edit is as long as it will be.
  seal() {
    this.#before = null;
  }

  // Takes out as many edits as one saving may have.
  take() {
    this.seal();
    let count = 0;
    let inserted = 0;
    while (count < this.edits.length && count < MOST_EDITS) {
      inserted += this.edits[count].inserted.length;
      if (count && inserted > MOST_INSERTED) break;
      count += 1;
    }
    return this.edits.splice(0, count);
  }

  // Begins anew: the studio says who wrote its text, and these edits follow it.
  settle(runs, edits = this.edits) {
    this.edits = edits;
    const open = this.#before !== null && edits.length > 0;
    this.runs = edits.slice(0, open ? -1 : undefined).reduce(markEdit, runs);
    if (!open) return;
    this.#before = this.runs;
    this.runs = markEdit(this.runs, edits.at(-1));
  }
}

// One edit that does what two do that follow each other, or null where they stay two.
export function mergeEdits(last, edit) {
  if (last.isWhole || edit.isWhole || last.source !== "person" || edit.source !== "person") return null;
  const length = countPoints(last.inserted);
  const end = last.start + length;
  const merged = { ...last, touched_at: edit.touched_at };
  if (edit.composition != null && edit.composition === last.composition
      && edit.start >= last.start && edit.stop <= end) {
    // A composition writes itself anew until it ends: what counts is how it ends.
    const head = slicePoints(last.inserted, 0, edit.start - last.start);
    const tail = slicePoints(last.inserted, edit.stop - last.start);
    return { ...merged, inserted: head + edit.inserted + tail };
  }
  if (edit.touched_at - last.touched_at > PAUSE_MS || length >= MOST_TYPED) return null;
  if (edit.start === edit.stop && last.inserted && edit.start === end) {
    if (/\s$/.test(last.inserted) && /^\S/.test(edit.inserted)) return null;
    return { ...merged, inserted: last.inserted + edit.inserted };
  }
  if (edit.inserted || last.inserted) return null;
  if (edit.stop === last.start) {
    const { start, before } = edit;
    return { ...merged, start, before, removed: edit.removed + last.removed };
  }
  if (edit.start === last.start) {
    const stop = last.stop + edit.stop - edit.start;
    return { ...merged, stop, removed: last.removed + edit.removed };
  }
  return null;
}

// An edit as the API takes it.
export function spellEdit({ start, stop, inserted, source, suggestion_id, made_at }) {
  return { start, stop, inserted, source, suggestion_id, made_at };
}

export function applyEdits(text, edits) {
  for (const { start, stop, inserted } of edits) {
    text = slicePoints(text, 0, start) + inserted + slicePoints(text, stop);
  }
  return text;
}
