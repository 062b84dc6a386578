// Going back through what was done before the page was opened.

import assert from "node:assert/strict";
import { test } from "node:test";
import { history, undo, undoDepth } from "prosemirror-history";
import { EditorState } from "prosemirror-state";
import { applyEdits } from "../editor/log.js";
import { makeDoc, offsetAt, readText } from "../editor/text.js";
import { replayEdits } from "../editor/undo.js";
import { makeChance } from "./random.mjs";

const open = (text, runs = []) =>
  EditorState.create({ doc: makeDoc(text, runs), plugins: [history({ depth: 500 })] });

function edit(start, removed, inserted, at_s, more = {}) {
  const stop = start + [...removed].length;
  const made_at = new Date(Date.UTC(2026, 0, 5, 14, 2, at_s)).toISOString();
  return { start, stop, removed, inserted, made_at, source: "person", suggestion_id: null, ...more };
}

function goBack(state) {
  let next = state;
  undo(state, (transaction) => (next = state.apply(transaction)));
  return next;
}

test("what was typed apart is undone apart, with the cursor where it was", () => {
  const edits = [edit(0, "", "The ", 1), edit(4, "", "ford ", 3), edit(0, "The", "A", 9)];
  let { state } = replayEdits(open(""), [], edits);
  assert.equal(readText(state.doc), "A ford ");
  const texts = [];
  for (let step = 0; step < 3; step += 1) texts.push(readText((state = goBack(state)).doc));
  assert.deepEqual(texts, ["The ford ", "The ", ""]);
  const { state: again } = replayEdits(open(""), [], edits);
  assert.equal(offsetAt(again.doc, again.selection.head), 1);
});

test("an accepted suggestion goes out in one step, and only that", () => {
  const machine = { source: "machine", suggestion_id: "s" };
  const edits = [edit(0, "", "It rose. ", 1), edit(9, "", "It fell.\nIt rose.", 1, machine), edit(26, "", " I", 1)];
  const { state, runs } = replayEdits(open(""), [], edits);
  assert.deepEqual(runs.map((run) => [run.length, run.origin]), [[9, "person"], [17, "machine"], [2, "person"]]);
  const marked = [];
  state.doc.descendants((node) => {
    if (node.isText) marked.push([node.text, node.marks.length]);
  });
  assert.deepEqual(marked, [["It rose. ", 0], ["It fell.", 1], ["It rose.", 1], [" I", 0]]);
  const before = goBack(state);
  assert.equal(readText(before.doc), "It rose. It fell.\nIt rose.");
  assert.equal(readText(goBack(before).doc), "It rose. ");
});

test("only the last edits have a way back, and the text is what all of them lead to", () => {
  const chance = makeChance(3);
  let text = "";
  const edits = chance.edits(text, 300).map((one, at) => {
    const removed = [...text].slice(one.start, one.stop).join("");
    text = applyEdits(text, [one]);
    return edit(one.start, removed, one.inserted, 2 * at);
  });
  const { state } = replayEdits(open(""), [], edits, 200);
  assert.equal(readText(state.doc), text);
  assert.ok(undoDepth(state) <= 200 && undoDepth(state) > 150);
});
