// A draft is plain text: paragraphs joined by "\n". The API counts its characters as Unicode code
// points; ProseMirror counts UTF-16 units and the borders of paragraphs. All that converts the one
// into the other is here.

import { Fragment, Schema, Slice } from "prosemirror-model";

const spellMark = (name) => (mark) =>
  ["span", { class: `by-${name}`, "data-suggestion": mark.attrs.id }, 0];

// What is typed at the border of a machine's text is not the machine's: marks do not grow.
const authorMark = (name) => ({
  attrs: { id: {} },
  inclusive: false,
  excludes: "machine edited",
  toDOM: spellMark(name),
});

export const schema = new Schema({
  nodes: {
    doc: { content: "paragraph+" },
    paragraph: {
      content: "text*",
      marks: "machine edited",
      toDOM: () => ["p", 0],
      parseDOM: [{ tag: "p" }],
    },
    text: {},
  },
  marks: { machine: authorMark("machine"), edited: authorMark("edited") },
});

const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const SURROGATES = /[\ud800-\udfff]/;

// Takes out what the studio does not keep: NUL, halves of characters, other ends of lines.
export function cleanText(text) {
  return text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll("\0", "")
    .replace(HALVES, "\ufffd");
}

export function isClean(text) {
  return !/[\r\0\u2028\u2029]/.test(text) && (!SURROGATES.test(text) || text.search(HALVES) < 0);
}

export function countPoints(text) {
  if (!SURROGATES.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

// How many UTF-16 units the first `points` characters of a text have.
export function countUnits(text, points) {
  if (!SURROGATES.test(text)) return Math.max(0, Math.min(points, text.length));
  let units = 0;
  for (const sign of text) {
    if (points-- <= 0) break;
    units += sign.length;
  }
  return units;
}

export function slicePoints(text, start, stop = Infinity) {
  const from = countUnits(text, start);
  return text.slice(from, stop === Infinity ? undefined : countUnits(text, stop));
}

// Nodes are never changed, only replaced: what was counted of one is true for good.
const lengths = new WeakMap();

export function measureNode(node) {
  let length = lengths.get(node);
  if (length === undefined) {
    length = 0;
    if (node.isText) length = countPoints(node.text);
    else node.forEach((child) => (length += measureNode(child)));
    lengths.set(node, length);
  }
  return length;
}

export function measureDoc(doc) {
  let length = doc.childCount - 1;
  for (let at = 0; at < doc.childCount; at += 1) length += measureNode(doc.child(at));
  return length;
}

// The offset in code points of a place in the document.
export function offsetAt(doc, pos) {
  const $pos = doc.resolve(pos);
  const index = $pos.index(0);
  if (!$pos.depth && index === doc.childCount) return measureDoc(doc);
  let offset = index;
  for (let at = 0; at < index; at += 1) offset += measureNode(doc.child(at));
  if (!$pos.depth) return offset;
  let units = $pos.parentOffset;
  for (let at = 0; units > 0; at += 1) {
    const child = $pos.parent.child(at);
    offset += units >= child.nodeSize ? measureNode(child) : countPoints(child.text.slice(0, units));
    units -= child.nodeSize;
  }
  return offset;
}

// The place in the document of an offset in code points.
export function positionAt(doc, offset) {
  let pos = 0;
  for (let at = 0; at < doc.childCount; at += 1) {
    const paragraph = doc.child(at);
    const length = measureNode(paragraph);
    if (offset <= length) return pos + 1 + countUnitsIn(paragraph, Math.max(0, offset));
    offset -= length + 1;
    pos += paragraph.nodeSize;
  }
  return pos - 1;
}

function countUnitsIn(paragraph, points) {
  let units = 0;
  for (let at = 0; points > 0; at += 1) {
    const child = paragraph.child(at);
    const length = measureNode(child);
    units += points >= length ? child.nodeSize : countUnits(child.text, points);
    points -= length;
  }
  return units;
}

const texts = new WeakMap();

export function readText(doc) {
  let text = texts.get(doc);
  if (text === undefined) {
    const lines = [];
    doc.forEach((paragraph) => lines.push(paragraph.textContent));
    texts.set(doc, (text = lines.join("\n")));
  }
  return text;
}

export function markOf(run) {
  return run.origin === "person" ? [] : [schema.marks[run.origin].create({ id: run.id })];
}

// A document of a text; `marks` are runs of characters by who wrote them.
export function makeDoc(text, marks = []) {
  return schema.node("doc", null, makeParagraphs(text, marks));
}

function makeParagraphs(text, marks) {
  const paragraphs = [];
  let place = 0;
  let left = marks[0]?.length ?? Infinity;
  for (const line of text.split("\n")) {
    const nodes = [];
    let units = 0;
    let points = countPoints(line);
    while (points > 0) {
      const taken = Math.min(points, left);
      const end = units + countUnits(line.slice(units), taken);
      const run = marks[place];
      nodes.push(schema.text(line.slice(units, end), run ? markOf(run) : []));
      units = end;
      points -= taken;
      left -= taken;
      if (!left) left = marks[++place]?.length ?? Infinity;
    }
    paragraphs.push(schema.node("paragraph", null, nodes));
    // The end of a line is a character too, and belongs to somebody.
    left -= 1;
    if (!left) left = marks[++place]?.length ?? Infinity;
  }
  return paragraphs;
}

// A text as it is put into a document: its first and last lines join what is around them.
export function makeSlice(text, mark = null) {
  const marks = mark ? [{ length: Infinity, origin: mark.type.name, id: mark.attrs.id }] : [];
  const paragraphs = makeParagraphs(text, marks);
  return new Slice(Fragment.from(paragraphs), 1, 1);
}

const counts = new WeakMap();

// Words are what stands between blanks and has a letter or a digit in it.
export function countWords(doc) {
  let total = 0;
  doc.forEach((paragraph) => {
    let count = counts.get(paragraph);
    if (count === undefined) {
      count = paragraph.textContent.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      counts.set(paragraph, count);
    }
    total += count;
  });
  return total;
}
