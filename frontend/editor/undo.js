// Undo across a reload: the document as it was some edits ago, and those edits done again, so that
// the history has them.

import { closeHistory } from "prosemirror-history";
import { TextSelection } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { followRuns } from "./authors.js";
import { END_LENGTH, markEdit } from "./marks.js";
import { countPoints, makeSlice, positionAt, readText, schema, slicePoints } from "./text.js";

// Puts a text in the place of characters `start` to `stop`.
export function replaceText(transaction, start, stop, text, mark = null) {
  const { doc } = transaction;
  const [from, to] = [positionAt(doc, start), positionAt(doc, stop)];
  return transaction.step(new ReplaceStep(from, to, makeSlice(text, mark)));
}

// Does edits again upon a state whose characters are of these runs. Each is a step of the history,
// as it was when it was made; `last` of them, the others are done without a way back.
export function replayEdits(state, runs, edits, last = edits.length) {
  let wasMachine = true;
  edits.forEach((edit, at) => {
    const { start, stop, inserted } = edit;
    const mark = edit.source === "machine"
      ? schema.marks.machine.create({ id: edit.suggestion_id }) : null;
    const doing = replaceText(state.tr, start, stop, inserted, mark).setTime(Date.parse(edit.made_at));
    if (at < edits.length - last) doing.setMeta("addToHistory", false);
    else if (mark || wasMachine) closeHistory(doing);
    wasMachine = Boolean(mark);
    const end = start + countPoints(inserted);
    doing.setSelection(TextSelection.create(doing.doc, positionAt(doing.doc, end)));
    const before = edit.before ?? readBefore(state.doc, start);
    state = state.apply(doing);
    runs = markEdit(runs, { ...edit, before });
    const marking = inserted && followRuns(state, runs, start, end);
    if (marking) state = state.apply(marking);
  });
  return { state: state.apply(closeHistory(state.tr)), runs };
}

function readBefore(doc, start) {
  return slicePoints(readText(doc), Math.max(0, start - END_LENGTH), start);
}
