// What ProseMirror does to the document, as edits of the text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joinBackward, splitBlock } from "prosemirror-commands";
import { Fragment, Slice } from "prosemirror-model";
import { AllSelection, EditorState, TextSelection } from "prosemirror-state";
import { applyEdits } from "../editor/log.js";
import { markEdit } from "../editor/marks.js";
import { readChanges, spellRestored, spellTyped } from "../editor/steps.js";
import { makeDoc, makeSlice, positionAt, readText, schema } from "../editor/text.js";
import { makeChance } from "./random.mjs";

const begin = (text, runs) => EditorState.create({ doc: makeDoc(text, runs) });
const typed = (...transactions) => readChanges(transactions).flatMap(spellTyped);

function select(state, start, stop = start) {
  const { doc } = state;
  const between = TextSelection.create(doc, positionAt(doc, start), positionAt(doc, stop));
  return state.apply(state.tr.setSelection(between));
}

function run(state, command) {
  let done;
  assert.ok(command(state, (transaction) => (done = transaction)));
  return done;
}

test("typing, Enter and Backspace at a border are edits of a few characters", () => {
  const state = select(begin("a😀b\ncd"), 2);
  const [insertion] = typed(state.tr.insertText("x"));
  assert.deepEqual([insertion.start, insertion.stop, insertion.inserted], [2, 2, "x"]);
  assert.equal(insertion.before, "a😀");
  const [split] = typed(run(state, splitBlock));
  assert.deepEqual([split.start, split.stop, split.inserted], [2, 2, "\n"]);
  const [joined] = typed(run(select(state, 4), joinBackward));
  assert.deepEqual([joined.start, joined.stop, joined.removed, joined.inserted], [3, 4, "\n", ""]);
});

test("all is taken out, whole paragraphs come in between, and marks change nothing", () => {
  const state = begin("ab\n\ncd");
  const all = state.apply(state.tr.setSelection(new AllSelection(state.doc)));
  const [emptied] = typed(all.tr.deleteSelection());
  assert.deepEqual([emptied.removed, emptied.inserted], ["ab\n\ncd", ""]);
  const paragraph = schema.node("paragraph", null, [schema.text("new")]);
  for (const [pos, text] of [[0, "new\nab\n\ncd"], [4, "ab\nnew\n\ncd"], [10, "ab\n\ncd\nnew"]]) {
    const coming = state.tr.insert(pos, paragraph);
    assert.equal(readText(coming.doc), text);
    assert.equal(applyEdits("ab\n\ncd", typed(coming)), text);
  }
  const mark = schema.marks.machine.create({ id: "s" });
  assert.deepEqual(typed(state.tr.addMark(1, 3, mark)), []);
});

test("a step that leaves half a character is read by comparing the texts", () => {
  const state = begin("a😀b");
  const halved = state.tr.delete(2, 3);
  const mended = state.apply(halved).tr.delete(2, 3);
  assert.equal(applyEdits("a😀b", typed(halved, mended)), "ab");
  const between = state.tr.insertText("x", 3);
  const whole = state.apply(between).tr.replaceWith(1, 6, schema.text("ayb"));
  assert.equal(applyEdits("a😀b", typed(between, whole)), "ayb");
});

test("whatever is done to the document, the edits lead to its text", () => {
  const chance = makeChance(7);
  for (let round = 0; round < 300; round += 1) {
    let state = begin(chance.text(12));
    for (let turn = 0; turn < 8; turn += 1) {
      const size = [...readText(state.doc)].length;
      const start = chance.between(0, size);
      const stop = chance.between(start, Math.min(size, start + 5));
      state = select(state, start, stop);
      const doing = chance.pick([
        () => state.tr.replaceSelection(makeSlice(chance.text(6))),
        () => state.tr.deleteSelection(),
        () => state.tr.replaceSelection(new Slice(Fragment.from(makeDoc("x\ny").content), 0, 0)),
        () => run(state, splitBlock),
        () => state.tr.insertText("q").insertText("r"),
      ])();
      const edits = typed(doing);
      assert.equal(applyEdits(readText(state.doc), edits), readText(doing.doc));
      for (const edit of edits) assert.equal([...edit.removed].length, edit.stop - edit.start);
      state = state.apply(doing);
    }
  }
});

const MACHINE = "The ford rose. It fell again.";
const knows = (id, text) => id === "s" && MACHINE.includes(text);

function restore(text, runs, start, stop) {
  const state = begin(text, runs);
  const { doc } = state;
  const deletion = state.tr.delete(positionAt(doc, start), positionAt(doc, stop));
  const after = typed(deletion).reduce(markEdit, runs);
  const undoing = deletion.steps[0].invert(doc);
  const back = state.apply(deletion).tr.step(undoing);
  const edits = readChanges([back]).flatMap((change) => spellRestored(change, after, knows));
  assert.equal(applyEdits(readText(deletion.doc), edits), text);
  return { edits, runs: edits.reduce(markEdit, after) };
}

test("a machine's text that is put back is the machine's, what was rewritten in it is so again", () => {
  const runs = [
    { length: 4, origin: "machine", id: "s" },
    { length: 4, origin: "edited", id: "s" },
    { length: 6, origin: "machine", id: "s" },
    { length: 3, origin: "person", id: null },
  ];
  const { edits, runs: after } = restore("The beck rose. Me", runs, 0, 14);
  assert.deepEqual(edits.map((edit) => [edit.start, edit.inserted, edit.source]), [
    [0, "The ", "machine"], [4, " rose.", "machine"], [4, "beck", "person"],
  ]);
  assert.deepEqual(after, runs);
});

test("only what the suggestion wrote is put back as its own", () => {
  // "The rose." is what is left of it: no part of what it wrote, but two parts are.
  const runs = [{ length: 9, origin: "machine", id: "s" }];
  const { edits, runs: after } = restore("The rose.", runs, 0, 9);
  assert.deepEqual(edits.map((edit) => [edit.inserted, edit.source]),
    [["The ", "machine"], ["rose.", "machine"]]);
  assert.deepEqual(after, runs);
  const unknown = [{ length: 5, origin: "machine", id: "other" }];
  assert.deepEqual(restore("words", unknown, 0, 5).edits.map((edit) => edit.source), ["person"]);
});

test("one's own words that come back in the place of a machine's are one's own", () => {
  const state = begin("The ford rose.", [{ length: 14, origin: "machine", id: "s" }]);
  const undoing = state.tr.replace(1, 15, makeSlice("Mine."));
  const [change] = readChanges([undoing]);
  const runs = [{ length: 14, origin: "machine", id: "s" }];
  const edits = spellRestored(change, runs, knows);
  assert.deepEqual(edits.reduce(markEdit, runs), [{ length: 5, origin: "person", id: null }]);
});
