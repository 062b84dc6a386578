// Two who wrote on from the same text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdits } from "../editor/log.js";
import { dropSaved, findRegions, mergeBoth, rebaseEdits, revertEdits } from "../editor/merge.js";
import { makeChance } from "./random.mjs";

const edit = (start, stop, inserted, more = {}) => ({ start, stop, inserted, ...more });
const incomingEdits = (regions) => [...regions].reverse().map(({ from, to, inserted }) => edit(from, to, inserted));

test("edits that follow each other are regions of the first text", () => {
  assert.deepEqual(findRegions([edit(2, 2, "ab"), edit(3, 4, ""), edit(0, 1, "")]),
    [{ from: 0, to: 1, inserted: "" }, { from: 2, to: 2, inserted: "a" }]);
  assert.deepEqual(findRegions([edit(3, 3, "x"), edit(3, 4, "")]), []);
});

test("changes apart from each other are both kept", () => {
  const text = "The ford rose. It fell.";
  const mine = [edit(0, 3, "A"), edit(1, 1, " deep")];
  const theirs = [edit(22, 22, " again"), edit(0, 0, ""), edit(18, 22, "sank")];
  const { edits, incoming } = rebaseEdits(mine, theirs);
  const both = "A deep ford rose. It sank again.";
  assert.equal(applyEdits(applyEdits(text, theirs), edits), both);
  assert.equal(applyEdits(applyEdits(text, mine), incomingEdits(incoming)), both);
});

test("changes of the same place are not brought together", () => {
  assert.equal(rebaseEdits([edit(3, 3, "a")], [edit(3, 3, "b")]), null);
  assert.equal(rebaseEdits([edit(1, 4, "")], [edit(4, 5, "b")]), null);
});

test("what came near theirs and was taken back is no conflict", () => {
  const mine = [edit(5, 5, "oops"), edit(5, 9, ""), edit(0, 0, "x", { made_at: "t" })];
  const rebased = rebaseEdits(mine, [edit(5, 6, "zz")]);
  assert.equal(applyEdits(applyEdits("abcdefgh", [edit(5, 6, "zz")]), rebased.edits), "xabcdezzgh");
});

test("both orders lead to the same text, whatever was written", () => {
  const chance = makeChance(11);
  let merged = 0;
  for (let round = 0; round < 3000; round += 1) {
    const text = chance.text(30);
    const mine = chance.edits(text, chance.between(1, 4)).map((one) => ({ ...one, source: "person" }));
    const theirs = chance.edits(text, chance.between(1, 3));
    const rebased = rebaseEdits(mine, theirs);
    if (!rebased) continue;
    merged += 1;
    assert.equal(applyEdits(applyEdits(text, theirs), rebased.edits),
      applyEdits(applyEdits(text, mine), incomingEdits(rebased.incoming)));
  }
  assert.ok(merged > 300, `only ${merged} were brought together`);
});

test("where both changed the same place, both stand there as paragraphs", () => {
  const text = "The ford rose. It fell.";
  const both = mergeBoth(text, [edit(4, 8, "beck"), edit(0, 0, "> ")], [edit(4, 8, "river")]);
  assert.equal(both, "> The river\nbeck rose. It fell.");
  assert.equal(mergeBoth("ab", [edit(2, 2, "same")], [edit(2, 2, "same")]), "absame");
});

test("edits can be taken back by what gave way", () => {
  const edits = [edit(0, 1, "xy", { removed: "a" }), edit(2, 3, "", { removed: "b" })];
  assert.equal(revertEdits(applyEdits("abc", edits), edits), "abc");
});

test("edits that the studio has by another way are not sent twice", () => {
  const [first, second, third] = ["a", "b", "c"].map((inserted, at) =>
    edit(at, at, inserted, { source: "person", made_at: `2026-01-05T14:02:0${at}.000Z` }));
  const row = (one) => ({ ...one, made_at: one.made_at.replace(".000Z", "+00:00") });
  assert.deepEqual(dropSaved([first, second, third], [row(first), row(second)]), { mine: [third], theirs: [] });
  // The browser's record was older: the studio's edit has grown since.
  const grown = { ...row(second), inserted: "bcd" };
  assert.deepEqual(dropSaved([first, second], [row(first), grown]), { mine: [], theirs: [edit(2, 2, "cd")] });
  const later = { ...row(first), made_at: "2026-01-05T14:03:00Z" };
  assert.equal(dropSaved([first], [later]).mine.length, 1);
});
