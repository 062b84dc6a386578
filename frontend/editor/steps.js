// What a transaction of ProseMirror does to the plain text: edits in code points.

import { ReplaceStep } from "prosemirror-transform";
import { END_LENGTH, markEdit, splitRuns } from "./marks.js";
import { countPoints, isClean, offsetAt, readText, schema, slicePoints } from "./text.js";

const OPEN = Symbol("open");
const CLOSE = Symbol("close");

// A slice as a row of tokens: texts with their mark, and the borders of paragraphs.
function listTokens(slice) {
  const tokens = [];
  const last = slice.content.childCount - 1;
  slice.content.forEach((node, _, at) => {
    if (node.isText) return tokens.push({ text: node.text, mark: node.marks[0] ?? null });
    if (at > 0 || !slice.openStart) tokens.push(OPEN);
    node.forEach((child) => tokens.push({ text: child.text, mark: child.marks[0] ?? null }));
    if (at < last || !slice.openEnd) tokens.push(CLOSE);
  });
  return tokens;
}

// The end of a paragraph and the beginning of the next are one character, "\n".
function readTokens(tokens) {
  const pieces = [];
  const add = (text, mark) => {
    const previous = pieces.at(-1);
    if (previous && previous.mark === mark) previous.text += text;
    else pieces.push({ text, mark });
  };
  tokens.forEach((token, at) => {
    if (token === CLOSE && tokens[at + 1] === OPEN) {
      // It has no mark of its own: it is taken for that of its neighbours where they agree.
      const before = tokens[at - 1]?.mark ?? null;
      const after = tokens[at + 2]?.mark ?? before;
      add("\n", before && after && before.eq(after) ? before : null);
    } else if (token.text) add(token.text, token.mark);
  });
  return pieces;
}

const join = (pieces) => pieces.map((piece) => piece.text).join("");

// What stands between two places, piece by piece with its mark.
export function readPieces(doc, from, to) {
  return readTokens(listTokens(doc.slice(from, to)));
}

function readRange(doc, from, to) {
  return join(readPieces(doc, from, to));
}

// The last characters before a place, as far as the rules of authorship look.
function readBefore(doc, pos) {
  const text = readRange(doc, Math.max(0, pos - 2 * END_LENGTH - END_LENGTH), pos);
  return slicePoints(text, Math.max(0, countPoints(text) - END_LENGTH));
}

// Whether a place is between the two halves of a character.
function isInside(doc, pos) {
  const { nodeBefore, nodeAfter } = doc.resolve(pos);
  return /[\ud800-\udbff]$/.test(nodeBefore?.text ?? "") && /^[\udc00-\udfff]/.test(nodeAfter?.text ?? "");
}

// What one step does: characters `start` to `stop` (`removed`) give way to `pieces`. Null where it
// cuts a character in two: then the texts have to be compared.
function readStep(step, doc) {
  let { from, to } = step;
  let tokens = listTokens(step.slice);
  // Between two paragraphs: take the border as a whole.
  if (!doc.resolve(from).depth && from > 0) {
    from -= 1;
    tokens = [CLOSE, ...tokens];
  }
  if (!doc.resolve(to).depth && to < doc.content.size) {
    to += 1;
    tokens = [...tokens, OPEN];
  }
  const removed = readRange(doc, from, to);
  const pieces = readTokens(tokens);
  if (isInside(doc, from) || isInside(doc, to)) return null;
  if (!isClean(removed) || !isClean(join(pieces))) return null;
  const start = offsetAt(doc, from);
  const stop = start + countPoints(removed);
  return { start, stop, removed, before: readBefore(doc, from), pieces };
}

// One edit that leads from a text to another.
export function compareTexts(old, text) {
  const gone = [...old];
  const come = [...text];
  let head = 0;
  while (head < gone.length && head < come.length && gone[head] === come[head]) head += 1;
  let tail = 0;
  const most = Math.min(gone.length, come.length) - head;
  while (tail < most && gone[gone.length - 1 - tail] === come[come.length - 1 - tail]) tail += 1;
  return {
    start: head,
    stop: gone.length - tail,
    removed: gone.slice(head, gone.length - tail).join(""),
    before: gone.slice(Math.max(0, head - END_LENGTH), head).join(""),
    pieces: [{ text: come.slice(head, come.length - tail).join(""), mark: null }],
  };
}

// What transactions that follow each other do to the text, in order.
export function readChanges(transactions) {
  const changes = [];
  for (const transaction of transactions) {
    for (const [at, step] of transaction.steps.entries()) {
      if (!(step instanceof ReplaceStep) && !step.slice) continue; // Marks leave the text as it is.
      const change = step instanceof ReplaceStep ? readStep(step, transaction.docs[at]) : null;
      if (!change) return compareWhole(transactions);
      if (change.removed || change.pieces.length) changes.push(change);
    }
  }
  return changes;
}

function compareWhole(transactions) {
  const change = compareTexts(readText(transactions[0].before), readText(transactions.at(-1).doc));
  return change.removed || change.pieces[0].text ? [change] : [];
}

// Edits of a change. What a person typed is a person's, whatever marks it took on from around it.
export function spellTyped({ start, stop, removed, before, pieces }) {
  return [{ start, stop, removed, before, inserted: join(pieces), source: "person", suggestion_id: null }];
}

// Edits of a change that puts back what was there (undo, a move): its marks say whose it is. A
// machine's text is put back as the machine's, for which it has to be a part of what that
// suggestion wrote (`knows`); then what stood between, so that it counts as rewritten again.
export function spellRestored(change, runs, knows) {
  const parts = change.pieces.flatMap((piece) => splitKnown(piece, knows));
  if (!parts.length || (!change.removed && parts.length === 1)) return spellParts(change, parts);
  const whole = spellParts(change, parts);
  if (!change.removed) return whole;
  // With or without a deletion of its own: what comes nearer to the marks that it had.
  const { start, stop, removed, before } = change;
  const deletion = { start, stop, removed, before, inserted: "", source: "person", suggestion_id: null };
  const apart = [deletion, ...spellParts({ ...change, stop: start, removed: "" }, parts)];
  return countRight(apart, runs, change, parts) > countRight(whole, runs, change, parts) ? apart : whole;
}

function splitKnown({ text, mark }, knows) {
  if (mark?.type !== schema.marks.machine) return [{ text, id: null, mark }];
  const parts = [];
  while (text) {
    let [known, most] = [0, countPoints(text)];
    // Every beginning of a known text is known: look for the longest by halves.
    while (known < most) {
      const middle = Math.ceil((known + most) / 2);
      if (knows(mark.attrs.id, slicePoints(text, 0, middle))) known = middle;
      else most = middle - 1;
    }
    if (!known) return [...parts, { text, id: null, mark }];
    parts.push({ text: slicePoints(text, 0, known), id: mark.attrs.id, mark });
    text = slicePoints(text, known);
  }
  return parts;
}

function spellParts({ start, stop, removed, before }, parts) {
  const edits = [];
  const placed = parts.map(() => 0);
  const order = [...parts.keys()].sort((one, other) => !parts[one].id - !parts[other].id || one - other);
  for (const at of order) {
    const ahead = placed.slice(0, at).reduce((sum, length) => sum + length, 0);
    const standing = parts.slice(0, at).filter((_, place) => placed[place]).map((part) => part.text);
    const first = !edits.length;
    edits.push({
      start: start + ahead,
      stop: first ? stop : start + ahead,
      removed: first ? removed : "",
      before: slicePoints(before + standing.join(""), Math.max(0,
        countPoints(before) + ahead - END_LENGTH)),
      inserted: parts[at].text,
      source: parts[at].id ? "machine" : "person",
      suggestion_id: parts[at].id,
    });
    placed[at] = countPoints(parts[at].text);
  }
  if (!edits.length && stop > start) {
    edits.push({ start, stop, removed, before, inserted: "", source: "person", suggestion_id: null });
  }
  return edits;
}

// How many characters would be marked as they were.
function countRight(edits, runs, { start }, parts) {
  const after = edits.reduce(markEdit, runs);
  let rest = splitRuns(after, start)[1];
  let right = 0;
  for (const { text, mark } of parts) {
    const [own, others] = splitRuns(rest, countPoints(text));
    rest = others;
    for (const run of own) {
      const is = mark ? run.origin === mark.type.name && run.id === mark.attrs.id : run.id === null;
      if (is) right += run.length;
    }
  }
  return right;
}
