// Where a suggestion can be cut.

import assert from "node:assert/strict";
import { test } from "node:test";
import { endBefore, endsOfSentences, endsOfWords, nextEnd, snap } from "../editor/parts.js";

const cut = (text, ends) => ends(text).map((end) => text.slice(0, end));

test("a mark belongs to the word before it, a blank to the word after it", () => {
  assert.deepEqual(cut(" She said: “No!” Then", endsOfWords), [
    " She", " She said:", " She said: “No!”", " She said: “No!” Then",
  ]);
  assert.deepEqual(endsOfWords(""), []);
  assert.deepEqual(endsOfWords("  \n"), []);
});

test("words are found where there are no blanks, and no sign is cut in two", () => {
  assert.deepEqual(cut("😀 it’s 👩‍👩‍👧", endsOfWords), ["😀", "😀 it’s", "😀 it’s 👩‍👩‍👧"]);
  const chinese = "她点亮了灯。";
  assert.ok(endsOfWords(chinese).length > 1);
  assert.equal(endsOfWords(chinese).at(-1), chinese.length);
  assert.deepEqual(cut("a well-known “no”", endsOfWords), ["a", "a well-known", "a well-known “no”"]);
});

test("a sentence ends before the blank that follows it", () => {
  assert.deepEqual(cut(" One. Two?\n\nThree", endsOfSentences), [" One.", " One. Two?", " One. Two?\n\nThree"]);
  assert.deepEqual(endsOfSentences(" "), []);
});

test("an end moves on and back, and stops at the ends of the text", () => {
  const text = "One two three";
  const ends = endsOfWords(text);
  assert.equal(nextEnd(ends, 0, text), 3);
  assert.equal(nextEnd(ends, 3, text), 7);
  assert.equal(nextEnd(ends, 13, text), 13);
  assert.equal(endBefore(ends, 13), 7);
  assert.equal(endBefore(ends, 3), 0);
});

test("a place is moved to the nearest end of a word", () => {
  const ends = endsOfWords("One two three");
  assert.equal(snap(ends, 4), 3);
  assert.equal(snap(ends, 6), 7);
  assert.equal(snap(ends, 99), 13);
  assert.equal(snap([], 5), 0);
});
