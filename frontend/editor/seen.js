// "What the model saw", in plain words: every part of the story that the co-author was shown, how
// much of it fitted, and what was cut.

import { call, spellProblem } from "../../src/fabula/web/static/api.js";
import { make } from "./dom.js";

const NAMES = {
  character: "The character",
  intro: "How the scene began",
  previous: "An entry before",
  challenge: "The challenge",
  prompt: "The prompt",
  plan: "What it planned",
  entry: "Your text up to the cursor",
  chartype: "Card played: nature",
  goal: "Card played: goal",
  strength: "Card played: strength",
  weakness: "Card played: weakness",
  thing: "Card played: asset",
  subplot: "Card played: subplot",
};

function spellShare({ kind, tokens, available }) {
  if (!available) return kind === "entry" ? "nothing yet" : "only its name";
  if (tokens >= available) return "all of it";
  if (!tokens) return "nothing of it: there was no room";
  return `${Math.round((100 * tokens) / available)} % of it (${tokens.toLocaleString("en")} of `
    + `${available.toLocaleString("en")} tokens)`;
}

// The whole segment, with what was cut off at one of its ends struck out.
function drawText(seen, whole) {
  const kept = seen.text;
  const at = whole ? whole.lastIndexOf(kept) : -1;
  if (at < 0 || whole === kept) return [kept];
  const cut = (text) => (text ? make("del", {}, text) : null);
  return [cut(whole.slice(0, at)), kept, cut(whole.slice(at + kept.length))];
}

function drawSegment(seen, whole) {
  const share = seen.available ? seen.tokens / seen.available : 1;
  const meter = make("span", { class: "meter", "aria-hidden": "true" }, make("span"));
  meter.firstChild.style.inlineSize = `${Math.round(100 * share)}%`;
  const name = NAMES[seen.kind] ?? seen.kind;
  return make("li", {},
    make("p", {}, make("strong", {}, seen.title ? `${name}: ${seen.title}` : name), meter,
      make("span", { class: "quiet" }, spellShare(seen))),
    seen.text || whole
      ? make("details", {}, make("summary", {}, "Read it"),
        make("p", { class: "prose" }, drawText(seen, whole)))
      : null);
}

// Segments and what was seen of them stand in the same order, but for those with nothing in them.
function findWhole(seen, segments, text) {
  if (seen.kind === "entry") return text;
  return segments.find((each) => each.kind === seen.kind && each.title === seen.title
    && (!seen.text || each.text.includes(seen.text)))?.text ?? "";
}

async function load(suggestion) {
  const [{ seen }, context] = await Promise.all([
    suggestion.seen ? suggestion : call("GET", `suggestions/${suggestion.id}`),
    call("GET", `suggestions/${suggestion.id}/context`),
  ]);
  const segments = context.segments ?? [];
  if (!seen?.length) {
    // It has not said what it saw: this is what it was given.
    const given = [...segments, { kind: "entry", title: "", text: context.text }]
      .filter((each) => each.text || each.title);
    return [
      make("p", { class: "quiet" }, "The co-author has not told how much of this it could take in."),
      make("ul", { class: "seen" }, given.map((each) => make("li", {},
        make("p", {}, make("strong", {}, NAMES[each.kind] ?? each.kind, each.title && `: ${each.title}`)),
        make("details", {}, make("summary", {}, "Read it"), make("p", { class: "prose" }, each.text))))),
    ];
  }
  const cut = seen.filter((each) => each.tokens < each.available);
  const words = cut.length === 0 ? "It saw all that it was given."
    : `It saw ${seen.length - cut.length} of ${seen.length} parts whole; the rest was cut to fit.`;
  return [
    make("p", { class: "quiet" }, words),
    make("ul", { class: "seen" }, seen.map((each) =>
      drawSegment(each, findWhole(each, segments, context.text)))),
  ];
}

export function foldSeen(suggestion) {
  const fold = make("details", { class: "fold" }, make("summary", {}, "What the model saw"));
  fold.addEventListener("toggle", async () => {
    if (!fold.open || fold.dataset.loaded) return;
    fold.dataset.loaded = "yes";
    const body = make("div", {}, make("p", { class: "quiet" }, "One moment…"));
    fold.append(body);
    try {
      body.replaceChildren(...(await load(suggestion)));
    } catch (problem) {
      delete fold.dataset.loaded;
      body.replaceChildren(make("p", { role: "alert" }, spellProblem(problem)));
    }
  });
  return fold;
}
