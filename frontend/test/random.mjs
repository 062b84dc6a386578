// Chance that is the same every time.

export function makeChance(seed) {
  const next = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(next() * list.length)];
  const between = (low, high) => low + Math.floor(next() * (high - low + 1));
  const letters = ["a", "b", " ", ".", "\n", "😀", "é", "e\u0301", "水"];
  const text = (most) => Array.from({ length: between(0, most) }, () => pick(letters)).join("");
  // Edits that follow each other, from a text on.
  const edits = (start, count) => {
    let length = [...start].length;
    return Array.from({ length: count }, () => {
      const from = between(0, length);
      const to = between(from, Math.min(length, from + 3));
      const inserted = text(4);
      length += [...inserted].length - (to - from);
      return { start: from, stop: to, inserted };
    });
  };
  return { next, pick, between, text, edits };
}
