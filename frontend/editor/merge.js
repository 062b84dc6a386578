// Two texts that come from one: edits brought to a text that went on elsewhere, where both do not
// touch the same place; and where they do, both put below each other.

import { applyEdits } from "./log.js";
import { countPoints, slicePoints } from "./text.js";

// What edits change of the text they begin with: regions [from, to) of it, each with what stands
// there now, in order and apart from each other.
export function findRegions(edits) {
  // The text as pieces: stretches of the old one, and what is new.
  let pieces = [{ from: 0, to: Infinity }];
  for (const { start, stop, inserted } of edits) {
    const [left, rest] = splitPieces(pieces, start);
    const right = splitPieces(rest, stop - start)[1];
    pieces = [...left, ...(inserted ? [{ text: inserted }] : []), ...right];
  }
  const regions = [];
  let at = 0;
  let text = "";
  for (const piece of pieces) {
    if (piece.text !== undefined) text += piece.text;
    else {
      if (text || piece.from > at) regions.push({ from: at, to: piece.from, inserted: text });
      [at, text] = [piece.to, ""];
    }
  }
  return regions;
}

function splitPieces(pieces, at) {
  let place = 0;
  for (; place < pieces.length; place += 1) {
    const length = measure(pieces[place]);
    if (at < length) break;
    at -= length;
  }
  if (!at || place === pieces.length) return [pieces.slice(0, place), pieces.slice(place)];
  const { from, to, text } = pieces[place];
  const [left, right] = text === undefined
    ? [{ from, to: from + at }, { from: from + at, to }]
    : [{ text: slicePoints(text, 0, at) }, { text: slicePoints(text, at) }];
  return [[...pieces.slice(0, place), left], [right, ...pieces.slice(place + 1)]];
}

const measure = (piece) => (piece.text === undefined ? piece.to - piece.from : countPoints(piece.text));

const touch = (one, other) => one.from <= other.to && other.from <= one.to;

// Edits of ours brought to a text that has edits of others already: `edits` follow that text, and
// `incoming` are the regions of the others in ours. Null where both touch the same place.
export function rebaseEdits(mine, theirs) {
  const regions = findRegions(theirs);
  if (findRegions(mine).some((own) => regions.some((other) => touch(own, other)))) return null;
  // Where the others' regions are in our text, as it was before each edit of ours.
  let others = regions.map(({ from, to, inserted }) => ({ from, to, inserted }));
  const edits = [];
  for (const edit of mine) {
    const own = { from: edit.start, to: edit.stop };
    if (others.some((other) => touch(own, other))) return rebaseRegions(mine, regions);
    const shift = others
      .filter((other) => other.to < edit.start)
      .reduce((sum, other) => sum + countPoints(other.inserted) - (other.to - other.from), 0);
    edits.push({ ...edit, start: edit.start + shift, stop: edit.stop + shift });
    const grown = countPoints(edit.inserted) - (edit.stop - edit.start);
    others = others.map((other) =>
      other.from > edit.stop ? { ...other, from: other.from + grown, to: other.to + grown } : other);
  }
  return { edits, incoming: others };
}

// The same where an edit of ours came near to theirs and was taken back: what is left of ours.
function rebaseRegions(mine, regions) {
  let grown = 0;
  const last = mine.at(-1);
  const edits = findRegions(mine).map(({ from, to, inserted }) => {
    const edit = {
      ...last, source: "person", suggestion_id: null, isWhole: true,
      start: from + grown, stop: to + grown, inserted,
    };
    grown += countPoints(inserted) - (to - from);
    return edit;
  });
  return rebaseEdits(edits, regions.map(asEdit).reverse());
}

const asEdit = ({ from, to, inserted }) => ({ start: from, stop: to, inserted });

// Edits of ours that the studio has: the same place and words at the same moment. A record in the
// browser may be older than what was sent: then the studio's edit has more words.
export function dropSaved(mine, theirs) {
  let count = 0;
  while (count < mine.length && count < theirs.length) {
    const [own, row] = [mine[count], theirs[count]];
    const isSame = own.start === row.start && own.stop === row.stop && own.source === row.source
      && row.inserted.startsWith(own.inserted) && Date.parse(own.made_at) === Date.parse(row.made_at);
    if (!isSame) break;
    count += 1;
    if (own.inserted === row.inserted) continue;
    const start = own.start + countPoints(own.inserted);
    const more = { start, stop: start, inserted: row.inserted.slice(own.inserted.length) };
    return { mine: mine.slice(count), theirs: [more, ...theirs.slice(count)] };
  }
  return { mine: mine.slice(count), theirs: theirs.slice(count) };
}

// The text that both lead to; where they touch the same place, theirs and then ours, as paragraphs.
export function mergeBoth(text, mine, theirs) {
  const marked = [
    ...findRegions(theirs).map((region) => ({ ...region, isMine: false })),
    ...findRegions(mine).map((region) => ({ ...region, isMine: true })),
  ].sort((one, other) => one.from - other.from || one.to - other.to);
  const clusters = [];
  for (const region of marked) {
    const last = clusters.at(-1);
    if (last && region.from <= last.to) {
      last.to = Math.max(last.to, region.to);
      last.regions.push(region);
    } else clusters.push({ from: region.from, to: region.to, regions: [region] });
  }
  let shift = 0;
  for (const { from, to, regions } of clusters) {
    const old = slicePoints(text, from + shift, to + shift);
    const side = (isMine) => applyEdits(old, regions.filter((region) => region.isMine === isMine)
      .reverse().map((region) => asEdit({ ...region, from: region.from - from, to: region.to - from })));
    const sides = [false, true].filter((isMine) => regions.some((region) => region.isMine === isMine));
    const joined = sides.map(side).filter((part, at, all) => part && all.indexOf(part) === at).join("\n");
    text = slicePoints(text, 0, from + shift) + joined + slicePoints(text, to + shift);
    shift += countPoints(joined) - (to - from);
  }
  return text;
}

// The text before edits.
export function revertEdits(text, edits) {
  return applyEdits(text, [...edits].reverse().map(({ start, inserted, removed }) =>
    ({ start, stop: start + countPoints(inserted), inserted: removed })));
}
