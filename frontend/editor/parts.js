// Where a suggestion can be cut: after words and after sentences. Offsets are of UTF-16 units, for
// these are places in a string that is shown; what goes into the draft is the text itself.

const words = new Intl.Segmenter("en", { granularity: "word" });
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

// Ends of words: a mark belongs to the word it stands at, a blank to the word after it. Two words
// without a blank between them are of a script that has none.
export function endsOfWords(text) {
  const ends = [];
  let before = "blank";
  for (const { segment, index, isWordLike } of words.segment(text)) {
    const kind = /^\s+$/u.test(segment) ? "blank" : isWordLike ? "word" : "mark";
    const end = index + segment.length;
    const begins = before === "blank" || (before === "word" && kind === "word");
    if (kind !== "blank" && begins) ends.push(end);
    else if (kind !== "blank") ends[ends.length - 1] = end;
    before = kind;
  }
  return ends;
}

// Ends of sentences, without the blanks after them; the last is the end of the text.
export function endsOfSentences(text) {
  const ends = [];
  for (const { segment, index } of sentences.segment(text)) {
    const length = segment.trimEnd().length;
    if (length) ends.push(index + length);
  }
  return ends;
}

// The next end after a place, or the one before it; there is always one: the text's ends.
export function nextEnd(ends, place, text) {
  return ends.find((end) => end > place) ?? text.length;
}

export function endBefore(ends, place) {
  return ends.findLast((end) => end < place) ?? 0;
}

// To the nearest end of a word: nobody aims at a letter.
export function snap(ends, place) {
  return ends.reduce((best, end) => (Math.abs(end - place) < Math.abs(best - place) ? end : best),
    ends[0] ?? 0);
}
