// Who wrote which characters: the rules of the studio (docs/studio/writing.md, "Who wrote it"),
// so that the desk shows at once what the studio will say. Runs are { length, origin, id }.

import { countPoints, slicePoints } from "./text.js";

const BLANK = "[ \\t-\\r\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SENTENCE_END = new RegExp(`(?:[.!?…。！？]["'”’»)\\]*_]*${BLANK}+|\\n${BLANK}*)$`, "u");
// How many characters before a place are looked at for the end of a sentence.
export const END_LENGTH = 12;

// Runs as the API has them: rows of length, origin, suggestion.
export function readRuns(rows) {
  return rows.map(([length, origin, id]) => ({ length, origin, id: id ?? null }));
}

export function sameRuns(left, right) {
  return left.length === right.length && left.every((run, at) =>
    run.length === right[at].length && sameAuthor(run, right[at]));
}

const sameAuthor = (one, other) => one.origin === other.origin && one.id === other.id;

// The runs after an edit. It has with it what gave way (`removed`) and the characters before it
// (`before`): the text itself is not needed.
export function markEdit(runs, edit) {
  let { start, stop, inserted } = edit;
  let before = edit.before;
  if (edit.source === "person" && inserted && stop > start) {
    // What a person puts back as it was keeps its author.
    const gone = [...edit.removed];
    const come = [...inserted];
    let head = 0;
    while (head < gone.length && head < come.length && gone[head] === come[head]) head += 1;
    let tail = 0;
    const most = Math.min(gone.length, come.length) - head;
    while (tail < most && gone[gone.length - 1 - tail] === come[come.length - 1 - tail]) tail += 1;
    before += gone.slice(0, head).join("");
    start += head;
    stop -= tail;
    inserted = come.slice(head, come.length - tail).join("");
  }
  const [left, rest] = splitRuns(runs, start);
  const [gone, right] = splitRuns(rest, stop - start);
  if (!inserted) return joinRuns([left, [], right]);
  let origin = "machine";
  let id = edit.suggestion_id ?? null;
  if (edit.source === "person") {
    id ??= findRewritten(left, gone, right, slicePoints(before, countPoints(before) - END_LENGTH));
    origin = id ? "edited" : "person";
  }
  return joinRuns([left, [{ length: countPoints(inserted), origin, id }], right]);
}

// Which suggestion a person rewrites: the one that gives way, or whose sentence it is in.
function findRewritten(left, gone, right, before) {
  if (gone.length) {
    const counted = new Map();
    let own = 0;
    let others = 0;
    for (const { id, length } of gone) {
      if (id === null) own += length;
      else {
        counted.set(id, (counted.get(id) ?? 0) + length);
        others += length;
      }
    }
    if (others < Math.max(own, 1)) return null;
    return [...counted].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
  }
  if (!left.length || !right.length || left.at(-1).id !== right[0].id) return null;
  // A sentence of one's own between two of a suggestion is one's own.
  return SENTENCE_END.test(before) ? null : left.at(-1).id;
}

export function splitRuns(runs, at) {
  let place = 0;
  let passed = 0;
  while (place < runs.length && passed + runs[place].length <= at) passed += runs[place++].length;
  if (place === runs.length || passed >= at) return [runs.slice(0, place), runs.slice(place)];
  const run = runs[place];
  return [
    [...runs.slice(0, place), { ...run, length: at - passed }],
    [{ ...run, length: passed + run.length - at }, ...runs.slice(place + 1)],
  ];
}

// Only where lists meet can neighbours tell the same.
export function joinRuns(lists) {
  const joined = [];
  for (const runs of lists) {
    const [first, ...others] = runs;
    if (!first) continue;
    const last = joined.at(-1);
    if (last && sameAuthor(last, first)) {
      joined[joined.length - 1] = { ...last, length: last.length + first.length };
    } else joined.push(first);
    joined.push(...others);
  }
  return joined;
}

// How strongly a suggestion's text is marked: of what stands of it, or in its place, the share
// that is still as the machine wrote it, in steps from 1 to 5.
export function findStrengths(runs) {
  const parts = new Map();
  for (const { origin, id, length } of runs) {
    if (id === null) continue;
    const part = parts.get(id) ?? { machine: 0, edited: 0 };
    part[origin] += length;
    parts.set(id, part);
  }
  const strengths = new Map();
  for (const [id, { machine, edited }] of parts) {
    strengths.set(id, Math.max(1, Math.ceil((5 * machine) / (machine + edited))));
  }
  return strengths;
}
