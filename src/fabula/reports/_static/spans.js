// Words that a story shares with another text, or with itself, and how to mark them.

// Characters of scripts without blanks are words of their own, as in Fabula's metrics.
const WORD = new RegExp(
  "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}]\\p{M}*|" +
    "(?:(?![\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}])[\\p{L}\\p{N}\\p{M}])+",
  "gu",
);
const LONGEST_GRAM = 4;

function wordsOf(text) {
  return Array.from(text.matchAll(WORD), (found) => ({
    word: found[0].toLowerCase().normalize("NFC"),
    start: found.index,
    end: found.index + found[0].length,
  }));
}

function gramsOf(words, size) {
  const grams = [];
  for (let at = 0; at + size <= words.length; at += 1) {
    grams.push(words.slice(at, at + size).map((one) => one.word).join(" "));
  }
  return grams;
}

// Levels of words and of the gaps after them: 0 is unmarked, 4 the strongest.
function blank(words) {
  return { words, level: new Uint8Array(words.length), gap: new Uint8Array(words.length) };
}

function cover(levels, at, size, level) {
  for (let word = at; word < at + size; word += 1) {
    levels.level[word] = Math.max(levels.level[word], level);
    if (word < at + size - 1) levels.gap[word] = Math.max(levels.gap[word], level);
  }
}

function sharedSpans(text, other, least) {
  const levels = blank(wordsOf(text));
  const others = wordsOf(other);
  for (let size = least; size <= LONGEST_GRAM; size += 1) {
    const known = new Set(gramsOf(others, size));
    gramsOf(levels.words, size).forEach((gram, at) => {
      if (known.has(gram)) cover(levels, at, size, size);
    });
  }
  return spansOf(levels);
}

function repeatedSpans(text, size) {
  const levels = blank(wordsOf(text));
  const grams = gramsOf(levels.words, size);
  const counts = new Map();
  for (const gram of grams) counts.set(gram, (counts.get(gram) ?? 0) + 1);
  grams.forEach((gram, at) => {
    const times = counts.get(gram);
    if (times > 1) cover(levels, at, size, times < 4 ? times - 1 : times < 7 ? 3 : 4);
  });
  return spansOf(levels);
}

function spansOf({ words, level, gap }) {
  const spans = [];
  words.forEach((word, at) => {
    if (!level[at]) return;
    const latest = spans.at(-1);
    const joined = at > 0 && gap[at - 1] > 0;
    if (joined && latest.level === level[at]) {
      latest.end = word.end;
      return;
    }
    // A stronger span that goes on from a weaker one leaves no hole between them.
    if (joined) latest.end = word.start;
    spans.push({ start: word.start, end: word.end, level: level[at] });
  });
  return spans;
}

function blockSpans(blocks, side) {
  return blocks
    .map((block, place) => ({
      start: block[side * 2],
      end: block[side * 2 + 1],
      level: (place % 2) + 2,
    }))
    .sort((one, other) => one.start - other.start);
}

// Texts only ever become text nodes: no story can add markup to the page.
function marked(text, spans) {
  const parts = document.createDocumentFragment();
  let done = 0;
  for (const { start, end, level } of spans) {
    const mark = document.createElement("mark");
    mark.className = `level-${level}`;
    mark.textContent = text.slice(start, end);
    parts.append(text.slice(done, start), mark);
    done = end;
  }
  parts.append(text.slice(done));
  return parts;
}
