// Keeps the dashboard up to date: the studio tells when something changed, the page is fetched
// again, and parts that are others are put in place of the old ones. A part somebody reads in
// (a fold is open, the focus or a selection is in it) waits until they are done.

const board = document.getElementById("board");
const state = document.querySelector("[data-live]");
const reload = document.querySelector("[data-reload]");
let waiting = null; // the newest page, of which some parts could not be shown yet
let fetching = false;
let again = false;

const clock = () => new Date().toLocaleTimeString([], { hour12: false });

function tell(words, live = true, action = null) {
  state.classList.toggle("live", live);
  state.textContent = words;
  reload.hidden = live;
  document.getElementById("show-now")?.remove();
  if (!action) return;
  const button = document.createElement("button");
  button.type = "button";
  button.id = "show-now";
  button.textContent = action.name;
  button.addEventListener("click", action.run);
  state.after(" ", button);
}

function isRead(part) {
  if (part.contains(document.activeElement)) return true;
  if (part.querySelector("details[open]")) return true;
  const selection = document.getSelection();
  return !selection.isCollapsed && part.contains(selection.anchorNode);
}

// What is on the screen stays where it is, whatever grows or shrinks above it.
function keepPlace(change) {
  const parts = [...board.querySelectorAll("[data-part]")];
  const top = parts.find((part) => part.getBoundingClientRect().bottom > 0);
  const before = top?.getBoundingClientRect().top;
  change();
  const now = top && document.getElementById(top.id);
  if (now) scrollBy(0, now.getBoundingClientRect().top - before);
}

function put(page, force = false) {
  const fresh = page.getElementById("board");
  const known = (root) => [...root.querySelectorAll("[data-part]")].map((part) => part.id).join();
  let left = 0;
  keepPlace(() => {
    // Other parts than before, as at the first publication: everything is new.
    if (known(fresh) !== known(board)) board.replaceChildren(...fresh.children);
    else {
      for (const part of fresh.querySelectorAll("[data-part]")) {
        const old = document.getElementById(part.id);
        if (old.isEqualNode(part)) continue;
        if (!force && isRead(old)) left += 1;
        else old.replaceWith(part);
      }
    }
  });
  board.dataset.mark = fresh.dataset.mark;
  waiting = left ? page : null;
  if (left) {
    const show = () => put(waiting, true);
    tell("Paused while you read.", true, { name: "Show what is new", run: show });
  } else tell(`Live. Up to date at ${clock()}.`);
}

async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.getElementById("board")) throw new Error("no figures");
    put(page);
  } catch {
    tell("Something is new here, and could not be fetched.", false);
  } finally {
    fetching = false;
    if (again) {
      again = false;
      refresh();
    }
  }
}

function resume() {
  if (waiting) put(waiting);
}

// A page whose studio tells nothing by itself is asked again every so many seconds.
function ask() {
  setInterval(() => document.visibilityState === "visible" && refresh(), 1000 * board.dataset.poll);
  tell(`Live. Up to date at ${clock()}.`);
}

function listen() {
  const source = new EventSource("/dashboard/events");
  source.addEventListener("changed", (event) => {
    if (event.data !== board.dataset.mark) refresh();
    else if (!waiting) tell(`Live. Up to date at ${clock()}.`);
  });
  source.addEventListener("error", () => {
    // The browser tries again by itself unless it was refused.
    if (source.readyState === EventSource.CLOSED) tell("Not live.", false);
    else tell("Not live just now.", false);
  });
  addEventListener("pagehide", () => source.close());
}

if (board && state) {
  board.addEventListener("toggle", resume, true);
  board.addEventListener("focusout", () => setTimeout(resume));
  document.addEventListener("selectionchange", () => {
    if (document.getSelection().isCollapsed) resume();
  });
  if (board.dataset.poll) ask();
  else {
    addEventListener("pageshow", (event) => event.persisted && listen());
    listen();
  }
}
