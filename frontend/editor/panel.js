// The side: the scene so far, and which of the panels is open. A game may have thousands of
// entries: only the last few are fetched, and older ones as one scrolls up to them.

import { call, spellProblem } from "../../src/fabula/web/static/api.js";
import { find, make } from "./dom.js";

const AT_ONCE = 15;
const OUTCOMES = { 1: "a strong outcome", 0: "an uncertain outcome", "-1": "a weak outcome" };

// Tabs as the ARIA practices have them: arrows move, and what is moved to is shown.
export function createTabs(onShow) {
  const tabs = [...document.querySelectorAll('#side [role="tab"]')];
  const show = (name, { focus = false } = {}) => {
    for (const tab of tabs) {
      const isIt = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(isIt));
      tab.tabIndex = isIt ? 0 : -1;
      find(tab.getAttribute("aria-controls")).hidden = !isIt;
      if (isIt && focus) tab.focus();
    }
    onShow(name);
  };
  for (const [number, tab] of tabs.entries()) {
    tab.addEventListener("click", () => show(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1
        : step ? (number + step + tabs.length) % tabs.length : -1;
      if (to < 0) return;
      event.preventDefault();
      show(tabs[to].id.slice(4), { focus: true });
    });
  }
  return show;
}

function nameCards(entry, use) {
  return entry.cards.filter((card) => card.use === use).map((card) => card.snapshot.name);
}

function drawEntry(entry, data) {
  const who = data.characters.find((each) => each.id === entry.character_id);
  const [played, target] = [nameCards(entry, "played"), nameCards(entry, "target")];
  const laid = [...nameCards(entry, "challenge"), ...nameCards(entry, "place"), ...nameCards(entry, "pickup")];
  const notes = [
    played.length ? `played ${played.join(", ")}${target.length ? ` on ${target[0]}` : ""}` : "",
    laid.length ? `on the table: ${laid.join(", ")}` : "",
    entry.polarity === null ? "" : OUTCOMES[entry.polarity] ?? "",
  ].filter(Boolean);
  return make("article", { class: "entry" },
    make("h3", {}, who?.name ?? "Narrator",
      entry.format === "move" ? null : make("span", { class: "quiet" }, ` ${entry.format}`)),
    entry.text.split(/\n+/).filter(Boolean).map((line) => make("p", { class: "prose" }, line)),
    notes.length ? make("p", { class: "legend" }, notes.join(" · ")) : null);
}

export function createScene(data) {
  const panel = find("panel-scene");
  const list = make("div", { class: "entries" });
  const older = make("button", { type: "button", class: "plain", onclick: () => load() }, "Older entries");
  const alert = make("p", { role: "alert" });
  panel.replaceChildren(older, alert, list);

  // Where the next older page ends: a scene, and how many of its entries are not here yet.
  let scene = data.scenes.length - 1;
  let left = data.scenes[scene].entries;
  let isLoading = false;
  const name = (each) => `Scene ${each.number}${each.title ? `: ${each.title}` : ""}`;

  async function load() {
    if (isLoading) return;
    isLoading = true;
    alert.textContent = "";
    try {
      while (!left && scene > 0) left = data.scenes[--scene].entries;
      const from = Math.max(0, left - AT_ONCE);
      const { id } = data.scenes[scene];
      const { items } = left ? await call("GET",
        `games/${data.game.id}/entries?scene_id=${id}&offset=${from}&limit=${left - from}`) : { items: [] };
      // What is read stays where it is while older entries come in above it.
      const below = panel.scrollHeight - panel.scrollTop;
      list.prepend(...items.map((entry) => drawEntry(entry, data)));
      if (!from && items.length) list.prepend(make("h2", { class: "scene-name" }, name(data.scenes[scene])));
      panel.scrollTop = panel.scrollHeight - below;
      left = from;
    } catch (problem) {
      alert.textContent = spellProblem(problem);
    } finally {
      isLoading = false;
    }
    const isAll = !left && !data.scenes.slice(0, scene).some((each) => each.entries);
    older.hidden = isAll;
    if (isAll) watcher.disconnect();
  }

  const watcher = new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting) && panel.scrollTop < 40 && list.childElementCount) load();
  }, { root: panel, rootMargin: "200px 0px 0px" });

  async function open() {
    const own = data.scenes.at(-1);
    if (!own.entries) {
      list.append(make("h2", { class: "scene-name" }, name(own)),
        make("p", { class: "quiet" }, data.scenes.some((each) => each.entries)
          ? "Nothing has been written in this scene yet; above is what came before."
          : `Nothing has been published yet.${data.can_write ? " The story begins on your sheet." : ""}`));
    }
    await load();
    showLast();
    watcher.observe(older);
  }

  // The story so far ends where the sheet begins; a drawer that is closed cannot be scrolled yet.
  let isShown = false;
  function showLast() {
    if (isShown || !panel.clientHeight) return;
    isShown = true;
    panel.scrollTop = panel.scrollHeight;
  }
  return { open, showLast };
}

// On a phone the side is a drawer; it is open or closed, and gives the focus back.
export function createDrawer(onOpen) {
  const side = find("side");
  const openers = document.querySelectorAll('[data-do="side"][aria-expanded]');
  const set = (isOpen) => {
    document.body.classList.toggle("side-open", isOpen);
    for (const opener of openers) opener.setAttribute("aria-expanded", String(isOpen));
  };
  return {
    get isOpen() { return document.body.classList.contains("side-open"); },
    get isDrawer() { return getComputedStyle(side).position === "fixed"; },
    open() {
      set(true);
      onOpen();
      (side.querySelector('[role="tab"][aria-selected="true"]') ?? side).focus();
    },
    close() { set(false); },
  };
}
