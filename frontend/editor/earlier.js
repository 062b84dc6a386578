// What was suggested in this draft: to be looked at again, and put where the cursor is.

import { call } from "../../src/fabula/web/static/api.js";
import { count, countWords, find, make } from "./dom.js";
import { spellTime } from "./notices.js";
import { foldSeen } from "./seen.js";
import { isFinished } from "./watch.js";

const STATES = {
  pending: "waiting", executing: "being written", done: "", failed: "failed", cancelled: "stopped",
};

export function spellSeconds(suggestion) {
  if (!suggestion.ended_at) return "";
  const seconds = (new Date(suggestion.ended_at) - new Date(suggestion.asked_at)) / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

// The last comes first. `onShow(id)` is missing where a draft is only read.
export function drawEarlier(suggestions, { nameOf, onShow }) {
  const panel = find("panel-suggestions");
  if (!suggestions.length) {
    panel.replaceChildren(make("p", { class: "quiet" }, onShow
      ? "Nothing has been suggested yet. Ctrl+Enter asks a co-author to go on where the cursor is."
      : "Nothing was suggested in this draft."));
    return;
  }
  const order = suggestions.toSorted((a, b) => (a.asked_at < b.asked_at ? 1 : -1));
  panel.replaceChildren(...order.map((suggestion) => {
    const facts = [STATES[suggestion.status], spellTime(suggestion.asked_at),
      count(countWords(suggestion.generated), "word"), spellSeconds(suggestion)].filter(Boolean);
    const canShow = onShow && (suggestion.generated || !isFinished(suggestion.status));
    return make("article", { class: "earlier" },
      make("h3", {}, nameOf(suggestion)),
      make("p", { class: "legend" }, facts.join(" · ")),
      suggestion.generated ? make("p", { class: "prose clipped" }, suggestion.generated) : null,
      suggestion.problem ? make("p", { class: "wrong" }, suggestion.problem) : null,
      canShow ? make("button", { type: "button", onclick: () => onShow(suggestion.id) }, "Show at the cursor") : null,
      foldSeen(suggestion));
  }));
}

// Where nothing is written the list is fetched once.
export async function readEarlier(draftId, options) {
  const { items } = await call("GET", `drafts/${draftId}/suggestions?limit=500`);
  drawEarlier(items, options);
}
