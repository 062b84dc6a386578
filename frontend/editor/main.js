// The editor's page: the desk one writes at, and what lies around it.

import { Selection } from "prosemirror-state";
import { call, spellProblem } from "../../src/fabula/web/static/api.js";
import { createCards } from "./cards.js";
import { createDesk } from "./desk.js";
import { announce, ask, find, make, openBox } from "./dom.js";
import { drawEarlier, readEarlier } from "./earlier.js";
import { createGoal } from "./goal.js";
import { createKeys, showHelp } from "./keys.js";
import { spellTime } from "./notices.js";
import { showLeftovers } from "./meeting.js";
import { createDrawer, createScene, createTabs } from "./panel.js";
import { createPublisher, sendKept } from "./publish.js";
import { createSuggester } from "./suggest.js";
import { createVersions } from "./versions.js";

const data = JSON.parse(find("editor-data").textContent);
const scene = createScene(data);
const drawer = createDrawer(scene.showLast);
const nameOf = (suggestion) => data.machine_names[suggestion.machine_id] ?? "A co-author";

// Panels are filled when they are first looked at; versions every time, for they grow.
function createSide(panels) {
  const opened = new Set();
  return createTabs((name) => {
    if (opened.has(name) && name !== "versions") return;
    opened.add(name);
    panels[name]?.();
  });
}

// What stands on the page as data-do="…" is done by the action of that name.
function listen(actions) {
  // Asking by mouse leaves the cursor in the sheet: one goes on writing, and Tab takes what comes.
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest('[data-do="suggest"]')) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button && actions[button.dataset.do]) {
      button.closest("details.menu")?.removeAttribute("open");
      actions[button.dataset.do]();
    } else if (drawer.isOpen && drawer.isDrawer && !find("side").contains(event.target)
      && !find("box").contains(event.target)) drawer.close();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
}

const toggleSide = () => (drawer.isOpen ? drawer.close() : drawer.open());

function read() {
  const show = createSide({
    scene: scene.open,
    suggestions: () => readEarlier(data.draft.id, { nameOf }).catch((problem) => {
      find("panel-suggestions").replaceChildren(
        make("p", { role: "alert" }, spellProblem(problem)));
    }),
  });
  listen({ side: toggleSide });
  createKeys({ desk: null, actions: {}, suggester: null, drawer });
  show("scene");
  const { draft, person } = data;
  if (draft.author_id === person.id) {
    showLeftovers({ mount: find("read"), draft, person: person.id, ask: call });
  }
}

const STATES = {
  saved: "Saved",
  unsaved: "Not saved yet",
  saving: "Saving…",
  offline: "Offline: kept here, sent later",
  conflict: "Changed elsewhere",
  elsewhere: "Open in another tab",
  "signed-out": "Signed out: kept here, sent when you are back",
  closed: "Closed",
};
// That it is being saved, again and again, need not be read out: only what is out of the ordinary.
const ORDINARY = ["saved", "unsaved", "saving"];

function showState({ kind, at, message }) {
  const place = find("state");
  // Where nothing can be saved nothing can be asked for or published either.
  const isIdle = ["elsewhere", "closed"].includes(kind);
  for (const id of ["suggest", "publish"]) find(id).disabled = isIdle;
  find("suggestion").inert = isIdle;
  const words = STATES[kind] ?? kind;
  const reason = message ? `${message[0].toUpperCase()}${message.slice(1)}` : "";
  place.title = reason || (at ? `Saved at ${spellTime(at)}` : "");
  const said = kind === "closed" || kind === "unsaved" ? reason || words : words;
  if (place.dataset.kind === kind && place.textContent === said) return;
  place.dataset.kind = kind;
  place.setAttribute("aria-live", ORDINARY.includes(kind) && !reason ? "off" : "polite");
  place.textContent = said;
  if (kind === "signed-out") {
    place.append(" ", make("a", { href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, "Sign in"));
  }
}

async function discard(desk) {
  const isSure = await ask("Discard this draft?",
    "It leaves your list of drafts and cannot be published any more. Its log is kept for you and for research.",
    { yes: "Discard it", no: "Keep it", danger: true });
  if (!isSure) return;
  try {
    await desk.flush().catch(() => {});
    await call("POST", `drafts/${data.draft.id}/discard`);
    await desk.close({ forget: true });
    location.assign(`/games/${data.game.id}`);
  } catch (problem) {
    openBox("It is still there", () => make("p", { role: "alert" }, spellProblem(problem)));
  }
}

// Where the game's own co-author is not to be had, whose turn it is is for the studio to say.
function fillMachines() {
  const isOn = data.machines.includes(data.machine);
  const free = data.machines.length ? "whoever is free" : "nobody is on offer now";
  find("machine").replaceChildren(
    ...(isOn ? [] : [make("option", { value: "" }, free)]),
    ...data.machines.map((name) => make("option", { value: name },
      name === data.machine ? `${name} (this game’s)` : name)));
}

function write() {
  const who = data.characters.find((each) => each.id === data.draft.character_id)?.name ?? "the narrator";
  const desk = createDesk({
    mount: find("desk"), draft: data.draft, log: data.log, person: data.person.id, label: `Your text, as ${who}`,
  });
  desk.onState(showState);
  showState(desk.state);
  fillMachines();
  const suggester = createSuggester({ desk, data, nameOf, onList: (list) =>
    drawEarlier(list, { nameOf, onShow: (id) => { drawer.close(); suggester.showAgain(id); } }) });
  const cards = createCards(data);
  const versions = createVersions({ desk, data });
  const publisher = createPublisher({ desk, data, suggester, cards, nameOf });
  const goal = createGoal({ desk, data });
  const show = createSide({ scene: scene.open, versions: versions.open });
  const actions = {
    side: toggleSide,
    suggest: () => {
      if (document.activeElement === find("suggest")) desk.focus();
      suggester.suggest();
    },
    publish: () => publisher.open(),
    save: () => desk.flush().then(() => announce("Saved."), (problem) => announce(spellProblem(problem))),
    undo: () => { desk.undo(); desk.focus(); },
    redo: () => { desk.redo(); desk.focus(); },
    versions: () => { if (drawer.isDrawer) drawer.open(); show("versions", { focus: true }); },
    goal: goal.open,
    help: showHelp,
    discard: () => discard(desk),
  };
  listen(actions);
  createKeys({ desk, actions, suggester, drawer });
  show("scene");
  cards.open();
  suggester.load().catch((problem) => announce(spellProblem(problem)));
  sendKept(data.person);
  addEventListener("online", () => sendKept(data.person));
  // One goes on where one stopped: at the end.
  desk.ready.then(() => {
    const { state } = desk.view;
    desk.view.dispatch(state.tr.setSelection(Selection.atEnd(state.doc)));
    desk.focus();
  });
}

if (data.can_write) write();
else read();
