// Keystrokes that become edits of the log.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Log, MOST_EDITS, MOST_INSERTED, applyEdits, mergeEdits, spellEdit } from "../editor/log.js";

const AT = Date.parse("2026-01-05T14:02:00Z");

function makeEdit(start, stop, inserted, more = {}) {
  const after_ms = more.after_ms ?? 0;
  return {
    start, stop, inserted, removed: "x".repeat(stop - start), before: "", source: "person",
    suggestion_id: null, composition: null, isWhole: false,
    made_at: new Date(AT + after_ms).toISOString(), touched_at: AT + after_ms, ...more,
  };
}

// Types a text one character at a time, from an offset on.
function type(log, text, start = 0, every_ms = 100) {
  [...text].forEach((sign, at) => log.add(makeEdit(start + at, start + at, sign, { after_ms: at * every_ms })));
}

const words = (log) => log.edits.map((edit) => edit.inserted);

test("a word with the blank after it is one edit, dated when it was begun", () => {
  const log = new Log([]);
  type(log, "The ford 😀 rose");
  assert.deepEqual(words(log), ["The ", "ford ", "😀 ", "rose"]);
  assert.deepEqual(log.edits.map((edit) => edit.start), [0, 4, 9, 11]);
  assert.equal(log.edits[1].made_at, new Date(AT + 400).toISOString());
  assert.deepEqual(log.runs, [{ length: 15, origin: "person", id: null }]);
});

test("a pause, a jump, a paste and a machine end an edit", () => {
  const log = new Log([]);
  type(log, "ab", 0, 1500);
  assert.deepEqual(words(log), ["a", "b"]);
  log.add(makeEdit(0, 0, "c", { after_ms: 1600 }));
  log.add(makeEdit(1, 1, "d", { after_ms: 1650, isWhole: true }));
  log.add(makeEdit(2, 2, "e", { after_ms: 1700 }));
  log.add(makeEdit(3, 3, "M", { after_ms: 1750, source: "machine", suggestion_id: "s" }));
  log.add(makeEdit(4, 4, "f", { after_ms: 1800 }));
  assert.deepEqual(words(log), ["a", "b", "c", "d", "e", "M", "f"]);
});

test("deletions that go on in one direction are one", () => {
  const back = mergeEdits(makeEdit(5, 6, "", { removed: "f" }), makeEdit(4, 5, "", { removed: "e" }));
  assert.deepEqual([back.start, back.stop, back.removed], [4, 6, "ef"]);
  const on = mergeEdits(makeEdit(4, 5, "", { removed: "e" }), makeEdit(4, 5, "", { removed: "f" }));
  assert.deepEqual([on.start, on.stop, on.removed], [4, 6, "ef"]);
  assert.equal(mergeEdits(makeEdit(0, 0, "ab"), makeEdit(1, 2, "")), null);
});

test("a composition counts as it ends, however often it writes itself anew", () => {
  const log = new Log([]);
  const compose = { composition: 3 };
  log.add(makeEdit(0, 0, "に", compose));
  log.add(makeEdit(1, 1, "ほ", { ...compose, after_ms: 3000 }));
  log.add(makeEdit(0, 2, "日本", { ...compose, after_ms: 6000 }));
  log.add(makeEdit(1, 2, "", { ...compose, after_ms: 6100 }));
  assert.deepEqual(words(log), ["日"]);
  log.add(makeEdit(1, 1, "x", { after_ms: 9000 }));
  assert.deepEqual(words(log), ["日", "x"]);
});

test("what was taken to be sent does not grow any more", () => {
  const log = new Log([]);
  type(log, "ab");
  assert.deepEqual(log.take().map((edit) => edit.inserted), ["ab"]);
  type(log, "c", 2);
  assert.deepEqual(words(log), ["c"]);
});

test("a saving has no more than the studio takes", () => {
  const log = new Log([]);
  for (let at = 0; at < MOST_EDITS + 5; at += 1) log.add(makeEdit(0, 0, "a", { isWhole: true }));
  assert.equal(log.take().length, MOST_EDITS);
  assert.equal(log.take().length, 5);
  for (let at = 0; at < 3; at += 1) {
    log.add(makeEdit(0, 0, "b".repeat(MOST_INSERTED - 10), { isWhole: true }));
  }
  assert.equal(log.take().length, 1);
});

test("the API gets the six fields of an edit", () => {
  assert.deepEqual(Object.keys(spellEdit(makeEdit(0, 0, "a"))),
    ["start", "stop", "inserted", "source", "suggestion_id", "made_at"]);
});

test("edits lead from a text to another", () => {
  assert.equal(applyEdits("a😀c", [makeEdit(1, 2, "b"), makeEdit(3, 3, "d")]), "abcd");
});

test("who wrote the text is told anew by the studio, and the edits after it follow the rules", () => {
  const log = new Log([{ length: 4, origin: "person", id: null }]);
  type(log, "x", 2);
  log.settle([{ length: 4, origin: "machine", id: "s" }]);
  assert.deepEqual(log.runs.map((run) => [run.length, run.origin]), [[2, "machine"], [1, "edited"], [2, "machine"]]);
  // The edit may go on growing.
  log.add(makeEdit(3, 3, "y", { after_ms: 50 }));
  assert.deepEqual(words(log), ["xy"]);
  assert.deepEqual(log.runs.map((run) => run.length), [2, 2, 2]);
});
