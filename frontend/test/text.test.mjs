// Places in the text: code points here, UTF-16 units and borders of paragraphs there.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cleanText, countPoints, countWords, isClean, makeDoc, measureDoc, offsetAt, positionAt, readText,
  slicePoints,
} from "../editor/text.js";

// An astral character, a flag of two, a family joined by zero-width joiners, a combining accent.
const ODD = ["", "a😀b", "🇩🇪", "👩‍👩‍👧", "e\u0301a", "", "\u{2f800}", "x"];

test("a text is the same after it was a document, empty paragraphs and all", () => {
  for (const text of ["", "\n", "\n\na\n", ODD.join("\n")]) {
    assert.equal(readText(makeDoc(text)), text);
    assert.equal(measureDoc(makeDoc(text)), [...text].length);
  }
});

test("every offset has a place in the document, and that place the offset", () => {
  const text = ODD.join("\n");
  const doc = makeDoc(text);
  for (let offset = 0; offset <= [...text].length; offset += 1) {
    const pos = positionAt(doc, offset);
    assert.equal(offsetAt(doc, pos), offset);
    const before = doc.textBetween(0, pos, "\n");
    assert.equal(before, [...text].slice(0, offset).join(""), `at ${offset}`);
  }
});

test("a place between paragraphs is the beginning of the next, and offsets beyond are the end", () => {
  const doc = makeDoc("ab\ncd");
  assert.equal(offsetAt(doc, 4), 3);
  assert.equal(offsetAt(doc, 0), 0);
  assert.equal(offsetAt(doc, doc.content.size), 5);
  assert.equal(positionAt(doc, 99), doc.content.size - 1);
});

test("runs of authors become marks, and a line's end belongs to somebody too", () => {
  const runs = [
    { length: 2, origin: "person", id: null },
    { length: 4, origin: "machine", id: "s" },
    { length: 1, origin: "edited", id: "s" },
  ];
  const doc = makeDoc("ab😀\ncde", runs);
  const spans = [];
  doc.descendants((node) => {
    if (node.isText) spans.push([node.text, node.marks[0]?.type.name]);
  });
  assert.deepEqual(spans, [["ab", undefined], ["😀", "machine"], ["cd", "machine"], ["e", "edited"]]);
});

test("what the studio does not keep is taken out", () => {
  assert.equal(cleanText("a\r\nb\rc\u2028d\0e"), "a\nb\nc\nde");
  assert.equal(cleanText("x\ud83dy\ude00z😀"), "x\ufffdy\ufffdz😀");
  assert.ok(isClean("a😀\n") && !isClean("\ud83d") && !isClean("a\r") && !isClean("\0"));
});

test("code points are counted and cut as Python does", () => {
  assert.equal(countPoints("a😀e\u0301"), 4);
  assert.equal(countPoints("\ud83d"), 1);
  assert.equal(slicePoints("a😀b", 1, 2), "😀");
  assert.equal(slicePoints("a😀b", 2), "b");
});

test("words have a letter or a digit", () => {
  assert.equal(countWords(makeDoc("It's 5 o'clock — “now”!\n\n— 😀 über 水")), 6);
});
