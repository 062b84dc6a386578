// The suggestion in the text, before it is taken: where it stands, and how much of it is wanted.
// It is no part of the draft; the desk only shows it, and moves it as one types around it.

import { endBefore, endsOfSentences, endsOfWords, nextEnd, snap } from "./parts.js";

export function createOffer(desk, onChange) {
  // `text` is what can be taken still, `end` how much of it is chosen (UTF-16 units).
  let text = "";
  let end = 0;
  let status = "";
  let isShown = false;

  const draw = () => {
    desk.showGhost(offset(), text, { status, end });
    onChange();
  };
  // Where all around it was deleted the desk has lost it: it is near where it was.
  let at = 0;
  const offset = () => Math.min((isShown ? desk.ghostOffset() : null) ?? at, desk.length());

  const offer = {
    get isShown() { return isShown; },
    get text() { return text; },
    get chosen() { return text.slice(0, end); },
    get isTrimmed() { return end < text.length; },
    get offset() { return offset(); },

    show(where, words, state) {
      at = isShown ? offset() : where;
      isShown = true;
      // An end that was not chosen goes along with the text.
      if (end >= text.length || end > words.length) end = words.length;
      [text, status] = [words, state];
      draw();
    },
    hide() {
      if (!isShown) return;
      [isShown, text, end] = [false, "", 0];
      desk.hideGhost();
      onChange();
    },
    choose(place) {
      end = Math.max(0, Math.min(place, text.length));
      draw();
    },
    // By a word or a sentence, onwards or back.
    move(unit, isForward) {
      const ends = unit === "word" ? endsOfWords(text) : endsOfSentences(text);
      offer.choose(isForward ? nextEnd(ends, end, text) : Math.max(endBefore(ends, end), 0));
    },
    point(place) {
      offer.choose(snap(endsOfWords(text), place));
    },
    // The first word or sentence of what is left.
    first(unit) {
      const ends = unit === "word" ? endsOfWords(text) : endsOfSentences(text);
      return text.slice(0, nextEnd(ends, 0, text));
    },
    // Where a mouse or a finger points at in it, in UTF-16 units; null: not at its text.
    locate(event) {
      const shown = event.target.closest?.(".ghost");
      if (!shown || !isShown) return null;
      const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
      const range = at ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
      const [node, inside] = at ? [at.offsetNode, at.offset] : [range?.startContainer, range?.startOffset];
      if (node?.nodeType !== Node.TEXT_NODE || !shown.contains(node)) return null;
      const before = document.createRange();
      before.setStart(shown, 0);
      before.setEnd(node, inside);
      return before.toString().length;
    },
    // Into the draft with it; what is left of it stays, unless all or a chosen part was taken.
    take(words, suggestionId) {
      const where = offset();
      const left = text.slice(words.length);
      desk.hideGhost();
      desk.insertMachine(where, words, suggestionId);
      at = where + [...words].length;
      [text, end] = [left, left.length];
      isShown = false;
      return at;
    },
  };
  return offer;
}
