// Suggestions: asked for where the cursor is, shown as they are written, taken whole or in part.

import { call, newKey, spellProblem } from "../../src/fabula/web/static/api.js";
import { announce, count, countWords, find, make, store } from "./dom.js";
import { spellSeconds } from "./earlier.js";
import { createOffer } from "./offer.js";
import { foldSeen } from "./seen.js";
import { isFinished, watch } from "./watch.js";

const LENGTH = "fabula-length";
const keyOf = (draft) => `fabula-suggestion-${draft}`;

export function createSuggester({ desk, data, nameOf, onList }) {
  const bar = find("suggestion");
  const machines = find("machine");
  const length = find("length");
  length.value = store.read(LENGTH, length.value);
  if (!length.value) length.selectedIndex = 0;
  length.addEventListener("change", () => store.write(LENGTH, length.value));
  const offer = createOffer(desk, () => draw());
  const known = new Map();
  let current = null; // { id, status, generated, problem, isLost, … }: what the bar speaks of
  let stopWatching = () => {};
  let isAsking = false;

  function remember(suggestion) {
    known.set(suggestion.id, { ...known.get(suggestion.id), ...suggestion });
    onList([...known.values()]);
    return known.get(suggestion.id);
  }

  function follow(suggestion, where) {
    stopWatching();
    current = remember(suggestion);
    store.write(keyOf(data.draft.id), current.id);
    offer.hide();
    offer.show(where, current.generated ?? "", "executing");
    stopWatching = watch(current.id, {
      onText: (text) => text !== offer.text && offer.show(where, text, "executing"),
      onTrouble: (isLost) => {
        if (current.isLost === isLost) return;
        current.isLost = isLost;
        draw();
      },
      onEnd: (ended) => end(ended, where),
    });
    draw();
  }

  function end(suggestion, where) {
    current = remember({ ...suggestion, isLost: false });
    const words = countWords(suggestion.generated);
    if (words) offer.show(where, suggestion.generated, "done");
    else offer.hide();
    if (suggestion.status === "done") {
      announce(words
        ? `${nameOf(current)} has written ${count(words, "word")}. Tab takes them, Escape does not.`
        : `${nameOf(current)} had nothing to add.`);
    } else announce(spellEnd(suggestion));
    draw();
  }

  function spellEnd(suggestion) {
    if (suggestion.status === "cancelled") return "Stopped.";
    const words = suggestion.problem || "the co-author could not write this time";
    return spellProblem({ message: words });
  }

  async function suggest({ machine } = {}) {
    if (isAsking) return;
    if (current && !isFinished(current.status)) await stop();
    isAsking = true;
    const where = offer.isShown ? offer.offset : desk.cursor();
    offer.hide();
    current = { status: "pending" };
    offer.show(where, "", "pending");
    draw();
    try {
      await desk.flush();
      const chosen = machine || machines.value;
      const asked = await call("POST", `drafts/${data.draft.id}/suggestions`, {
        key: newKey(),
        position: Math.min(offer.offset, desk.length()),
        wanted: length.value,
        // The game's own is not asked for by name: should it be away, another takes its place.
        ...(chosen && chosen !== data.machine ? { machine: chosen } : {}),
      });
      choose(nameOf(asked));
      follow(asked, offer.offset);
    } catch (problem) {
      offer.hide();
      current = { status: "refused", problem: spellProblem(problem),
        wait_s: problem.rest?.wait_s ?? 0 };
      announce(current.problem);
      draw();
    } finally {
      isAsking = false;
    }
  }

  // A co-author that was asked for by name is the game's from then on.
  function choose(name) {
    data.machine = name;
    machines.value = name;
  }

  async function stop() {
    // A tab that looks on leaves alone what another has asked for.
    const isLooking = desk.state.kind === "elsewhere";
    if (isLooking || !current?.id || isFinished(current.status)) return current;
    try {
      const stopped = await call("POST", `suggestions/${current.id}/cancel`);
      stopWatching();
      end(stopped, offer.offset);
    } catch (problem) {
      announce(spellProblem(problem));
    }
    return current;
  }

  function dismiss() {
    stopWatching();
    offer.hide();
    current = null;
    store.write(keyOf(data.draft.id), null);
    draw();
    desk.focus();
  }

  // `part` is "word", "sentence", or nothing: up to the chosen end, and the rest is dropped.
  async function take(part) {
    // A tab that only looks on takes nothing, and ends nothing that another has asked for.
    if (!current || !offer.isShown || !desk.isEditable) return;
    if (!isFinished(current.status)) await stop();
    const words = part ? offer.first(part) : offer.chosen;
    if (!words || !current?.id) return;
    const left = part ? offer.text.slice(words.length) : "";
    const where = offer.take(words, current.id);
    if (left.trim()) offer.show(where, left, "done");
    else dismiss();
    announce(part ? `Taken: ${words.trim()}` : `${count(countWords(words), "word")} taken.`);
    desk.focus();
  }

  // One of before, shown again where the cursor is now.
  function showAgain(id) {
    const suggestion = known.get(id);
    if (!suggestion) return;
    if (!isFinished(suggestion.status)) return follow(suggestion, desk.cursor());
    stopWatching();
    offer.hide();
    current = suggestion;
    offer.show(desk.cursor(), suggestion.generated, "done");
    store.write(keyOf(data.draft.id), id);
    draw();
    desk.focus();
  }

  async function read() {
    const { items } = await call("GET", `drafts/${data.draft.id}/suggestions?limit=500`);
    for (const item of items) known.set(item.id, { ...known.get(item.id), ...item });
    onList([...known.values()]);
    return [...known.values()];
  }

  // What was asked for before the page was loaded; one that was not yet looked at comes up again.
  async function load() {
    const items = await read();
    const shown = store.read(keyOf(data.draft.id), null);
    const found = items.findLast((item) => !isFinished(item.status))
      ?? items.find((item) => item.id === shown && item.generated);
    if (!found || current) return;
    const where = Math.min(found.position ?? desk.length(), desk.length());
    if (!isFinished(found.status)) follow(found, where);
    else end(found, where);
  }

  // A click in what is offered chooses where it is to end; the cursor stays where it is.
  desk.view.dom.addEventListener("mousedown", (event) => {
    const place = offer.locate(event);
    if (place === null || !current || !isFinished(current.status)) return;
    event.preventDefault();
    event.stopPropagation();
    offer.point(place);
  }, { capture: true });

  function draw() {
    bar.hidden = !current;
    if (!current) return bar.replaceChildren();
    bar.dataset.status = current.status;
    const key = [current.id, current.status, current.isLost, offer.isShown, Boolean(offer.text)].join();
    if (bar.dataset.key !== key) {
      bar.dataset.key = key;
      // A button that has the focus may be one of those that go.
      const hadFocus = bar.contains(document.activeElement);
      bar.replaceChildren(...drawBar());
      if (hadFocus) (bar.querySelector("button") ?? bar).focus();
    }
    const spelled = find("suggestion-length");
    if (spelled) spelled.textContent = spellLength();
  }

  function spellLength() {
    const all = countWords(offer.text);
    const chosen = countWords(offer.chosen);
    return offer.isTrimmed ? `${chosen} of ${count(all, "word")}` : count(all, "word");
  }

  const button = (label, title, onclick, kind) =>
    make("button", { type: "button", title, class: kind, onclick }, label);

  function others(label) {
    const rest = data.machines.filter((name) => name !== nameOf(current));
    if (!rest.length) return [];
    if (rest.length === 1) {
      return [button(`Try ${rest[0]}`, "Ask the other co-author", () => suggest({ machine: rest[0] }))];
    }
    const menu = make("select", { "aria-label": label,
      onchange: () => menu.value && suggest({ machine: menu.value }) },
      make("option", { value: "" }, label),
      rest.map((name) => make("option", { value: name }, name)));
    return [menu];
  }

  function drawBar() {
    const { status } = current;
    if (status === "pending" || status === "executing") {
      const words = current.isLost ? "The studio does not answer; still trying."
        : offer.text ? `${nameOf(current)} is writing`
        : current.id ? `${nameOf(current)} is asked; its turn will come` : "Asking…";
      return [
        make("p", { class: "said" }, make("span", { class: "dots", "aria-hidden": "true" }), words, " ",
          make("span", { id: "suggestion-length", class: "quiet" })),
        make("div", { class: "actions" },
          button("Stop", "Esc", () => stop()),
          button("Take what is there", "Tab", () => take())),
      ];
    }
    if (!offer.isShown) {
      const wait = current.wait_s ? ` Try again in ${count(current.wait_s, "second")}.` : "";
      const said = status === "done" ? `${nameOf(current)} had nothing to add.` : spellEnd(current) + wait;
      return [
        make("p", { class: status === "cancelled" ? "said" : "said wrong" }, said),
        make("div", { class: "actions" },
          button("Try again", "Ctrl+Enter", () => suggest()),
          ...others("Try another…"),
          button("Leave it", "Esc", dismiss, "plain")),
      ];
    }
    return [
      make("p", { class: "said" }, make("strong", {}, nameOf(current)), " ",
        make("span", { id: "suggestion-length" }), " ",
        make("span", { class: "quiet" }, spellSeconds(current)), " ",
        status === "done" ? null
          : make("span", { class: status === "failed" ? "wrong" : "quiet" }, spellEnd(current))),
      make("div", { class: "actions" },
        button("Take it", "Tab", () => take(), "first"),
        button("Sentence", "Ctrl+↓: take the next sentence", () => take("sentence")),
        button("Word", "Ctrl+→: take the next word", () => take("word")),
        button("Shorter", "Alt+←: choose an earlier end", () => offer.move("sentence", false)),
        button("Again", "Ask anew (Ctrl+Enter)", () => suggest()),
        ...others("Try another…"),
        button("Leave it", "Esc", dismiss, "plain")),
      foldSeen(current),
    ];
  }

  return {
    suggest, stop, dismiss, take, showAgain, read, load, offer,
    get isWriting() { return Boolean(current && !isFinished(current.status) && current.status !== "refused"); },
    get isShown() { return Boolean(current); },
  };
}
