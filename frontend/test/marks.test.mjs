// Who wrote it: by hand, and beside the studio's own rules (FABULA_MARKS names a file of cases that
// Python made).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findStrengths, markEdit, readRuns, sameRuns, splitRuns } from "../editor/marks.js";
import { slicePoints } from "../editor/text.js";

const MACHINE = [{ length: 14, origin: "machine", id: "s" }];
const TEXT = "The ford rose.";

function mark(runs, text, start, stop, inserted, more = {}) {
  const removed = slicePoints(text, start, stop);
  const before = slicePoints(text, Math.max(0, start - 12), start);
  return markEdit(runs, { start, stop, inserted, removed, before, source: "person", suggestion_id: null, ...more });
}

const tell = (runs) => runs.map((run) => `${run.origin} ${run.length}`).join(", ");

test("what replaces a machine's words is edited, what follows them is a person's", () => {
  assert.equal(tell(mark(MACHINE, TEXT, 4, 8, "beck")), "machine 4, edited 4, machine 6");
  assert.equal(tell(mark(MACHINE, TEXT, 14, 14, " It")), "machine 14, person 3");
  assert.equal(tell(mark(MACHINE, TEXT, 4, 4, "old ")), "machine 4, edited 4, machine 10");
});

test("what is put back as it was keeps its author", () => {
  assert.equal(tell(mark(MACHINE, TEXT, 4, 8, "fold")), "machine 6, edited 1, machine 7");
  assert.equal(tell(mark(MACHINE, TEXT, 4, 8, "ford")), "machine 14");
});

test("a sentence of one's own between two of a machine is one's own", () => {
  const text = "It rose. It fell.";
  const runs = [{ length: 17, origin: "machine", id: "s" }];
  assert.equal(tell(mark(runs, text, 9, 9, "I ran. ")), "machine 9, person 7, machine 8");
});

test("a mark is as strong as the share that still stands", () => {
  const runs = (machine, edited) => [
    { length: machine, origin: "machine", id: "s" }, { length: edited, origin: "edited", id: "s" },
  ];
  const strength = (...lengths) => findStrengths(runs(...lengths)).get("s");
  assert.deepEqual([strength(10, 0), strength(9, 1), strength(7, 3), strength(5, 5), strength(3, 7), strength(1, 9), strength(0, 4)],
    [5, 5, 4, 3, 2, 1, 1]);
});

test("runs are split and compared", () => {
  assert.deepEqual(splitRuns(MACHINE, 0), [[], MACHINE]);
  assert.deepEqual(splitRuns(MACHINE, 4)[1], [{ length: 10, origin: "machine", id: "s" }]);
  assert.ok(sameRuns(MACHINE, readRuns([[14, "machine", "s", -1]])));
  assert.ok(!sameRuns(MACHINE, readRuns([[14, "machine", "t"]])));
});

test("the studio's own rules say the same", { skip: !process.env.FABULA_MARKS }, () => {
  const cases = JSON.parse(readFileSync(process.env.FABULA_MARKS, "utf8"));
  assert.ok(cases.length >= 100);
  for (const { text: begun, edits } of cases) {
    let [text, runs] = [begun, begun ? [{ length: [...begun].length, origin: "person", id: null }] : []];
    for (const { start, stop, inserted, source, suggestion_id, marks } of edits) {
      runs = mark(runs, text, start, stop, inserted, { source, suggestion_id });
      text = slicePoints(text, 0, start) + inserted + slicePoints(text, stop);
      assert.deepEqual(runs, readRuns(marks), JSON.stringify({ text, start, stop, inserted, source }));
    }
  }
});
