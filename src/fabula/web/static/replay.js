// The page of a film: a slider, a clock that goes on, and the text at that moment. The address
// holds the moment (#t=12), so that it can be passed on.

import { call, spellProblem } from "./api.js";
import { Film, countWords, layLines } from "./film.js";
import { exact } from "./times.js";

// With pauses shortened nobody waits longer than this, in the film's own time.
const LONGEST_PAUSE_MS = 1200;
const JUMP_EVERY_MS = 1500;
const find = (id) => document.getElementById(id);
const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const PLAY = "M8 5v14l11-7z";
const PAUSE = "M7 5h4v14H7zM13 5h4v14h-4z";

let film;
let marks;
let moment = 0;
let lines = [];
let known = new Map();
let playing = null;

function makeLine(line) {
  const paragraph = document.createElement("p");
  for (const part of line.parts) {
    const origin = film.origin(part.who);
    const kind = part.gone ? "del" : origin === "person" ? "span" : "mark";
    const element = document.createElement(kind);
    if (!part.gone && origin !== "person") element.className = `by-${origin}`;
    element.textContent = part.text;
    paragraph.append(element);
  }
  if (!line.parts.length) paragraph.append(document.createElement("br"));
  return paragraph;
}

// Only the lines that have changed are made anew: a long text is a long page.
function patch(fresh) {
  const text = find("text");
  let head = 0;
  while (head < lines.length && head < fresh.length && lines[head].key === fresh[head].key) head += 1;
  let tail = 0;
  const most = Math.min(lines.length, fresh.length) - head;
  while (tail < most && lines.at(-1 - tail).key === fresh.at(-1 - tail).key) tail += 1;
  for (let n = lines.length - tail - 1; n >= head; n -= 1) text.children[n].remove();
  const made = fresh.slice(head, fresh.length - tail).map(makeLine);
  if (text.children[head]) text.children[head].before(...made);
  else text.append(...made);
  lines = fresh;
  known = new Map(fresh.map((line) => [line.key, line]));
}

// Where the last change was, as a caret; what is shown struck through does not count.
function placeCaret(at) {
  const caret = find("caret");
  let line = 0;
  let left = at;
  const length = (n) => lines[n].parts.reduce((sum, part) => sum + (part.gone ? 0 : part.text.length), 0);
  while (line < lines.length - 1 && left > length(line)) {
    left -= length(line) + 1;
    line += 1;
  }
  const paragraph = find("text").children[line];
  const standing = [...paragraph.children].filter((child) => !child.matches("del, br"));
  let box = paragraph.getBoundingClientRect();
  let edge = box.left;
  for (const element of standing) {
    const letters = element.textContent.length;
    if (left <= letters) {
      const range = document.createRange();
      range.setStart(element.firstChild, left);
      range.collapse(true);
      const rect = range.getClientRects()[0] ?? element.getBoundingClientRect();
      box = rect;
      edge = rect.left;
      break;
    }
    left -= letters;
  }
  const stage = find("text").parentElement;
  const outer = stage.getBoundingClientRect();
  caret.hidden = false;
  caret.style.left = `${edge - outer.left + stage.scrollLeft}px`;
  caret.style.top = `${box.top - outer.top + stage.scrollTop}px`;
  caret.style.height = `${box.height || 24}px`;
  // The stage follows what is written, and leaves the page where it is.
  const over = box.bottom - (outer.bottom - 32);
  const under = outer.top + 32 - box.top;
  if (over > 0) stage.scrollTop += over + outer.height / 3;
  else if (under > 0) stage.scrollTop -= under + outer.height / 3;
}

function describe(n) {
  if (!n) return "the empty page";
  const { inserted, removed, origin } = film.lastChange(n);
  const shorten = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
  if (origin === "machine" && inserted) return `taken from a suggestion: ${shorten(inserted)}`;
  if (inserted && removed) return `replaced ${removed} characters with: ${shorten(inserted)}`;
  if (inserted) return `wrote: ${shorten(inserted)}`;
  return removed ? `deleted ${removed} characters` : "nothing changed";
}

function render() {
  const pieces = film.seek(moment);
  patch(layLines(pieces, { ghosts: find("ghosts").checked, known }));
  const isBlank = lines.every((line) => !line.parts.length) && lines.length === 1;
  find("blank").hidden = !isBlank;
  if (moment && !isBlank) placeCaret(film.lastChange(moment).at);
  else find("caret").hidden = true;
  const counts = countWords(lines, film);
  for (const [origin, number] of Object.entries(counts)) {
    find(`count-${origin}`).textContent = number.toLocaleString();
  }
  const words = counts.person + counts.machine + counts.edited;
  find("count-all").textContent = words.toLocaleString();
  const when = moment ? dated.format(film.times[moment]) : "Before the first edit";
  find("when").textContent = when;
  const place = `version ${film.versions[moment]}, edit ${moment.toLocaleString()} of ${film.length.toLocaleString()}`;
  find("where").textContent = place;
  const slider = find("slider");
  slider.value = moment;
  slider.setAttribute("aria-valuetext", `${when}, ${place}, ${words} words`);
  find("step-back").disabled = find("mark-back").disabled = moment === 0;
  find("step-on").disabled = find("mark-on").disabled = moment === film.length;
}

// What a screen reader hears: only of steps that somebody took, not of every letter of a film.
function say(text) {
  find("said").textContent = text;
}

function keepAddress() {
  history.replaceState(null, "", moment ? `#t=${moment}` : location.pathname);
}

function goTo(wanted, { quiet = false } = {}) {
  moment = Math.min(Math.max(Math.round(wanted), 0), film.length);
  render();
  if (!playing) {
    keepAddress();
    if (!quiet) say(`${find("when").textContent}, ${find("where").textContent}: ${describe(moment)}`);
  }
}

function goToMark(direction) {
  const beyond = marks.filter((mark) => (mark.moment - moment) * direction > 0);
  const ends = { "-1": 0, 1: film.length };
  const near = direction > 0 ? beyond[0] : beyond.at(-1);
  goTo(near ? near.moment : ends[direction]);
}

function pauseBefore(n) {
  const pause = Math.max(0, film.times[n] - film.times[n - 1]);
  return find("shorten").checked ? Math.min(pause, LONGEST_PAUSE_MS) : pause;
}

function play() {
  if (moment === film.length) moment = 0;
  playing = { last: performance.now(), spent: 0 };
  showPlaying();
  playing.frame = requestAnimationFrame(goOn);
}

function pause() {
  if (!playing) return;
  cancelAnimationFrame(playing.frame);
  playing = null;
  showPlaying();
  keepAddress();
  say(`Paused: ${find("when").textContent}, ${find("where").textContent}`);
}

function goOn(now) {
  const speed = Number(find("speed").value);
  playing.spent += (now - playing.last) * speed;
  playing.last = now;
  const before = moment;
  if (lessMotion.matches) {
    // From version to version, with time to read: nothing moves letter by letter.
    if (playing.spent >= JUMP_EVERY_MS * Math.min(speed, 4)) {
      playing.spent = 0;
      const version = film.versions[Math.min(moment + 1, film.length)];
      while (moment < film.length && film.versions[moment + 1] <= version) moment += 1;
    }
  } else {
    while (moment < film.length && playing.spent >= pauseBefore(moment + 1)) {
      playing.spent -= pauseBefore(moment + 1);
      moment += 1;
    }
  }
  if (moment !== before) render();
  if (moment === film.length) pause();
  else playing.frame = requestAnimationFrame(goOn);
}

function showPlaying() {
  const button = find("play");
  button.querySelector("span").textContent = playing ? "Pause" : "Play";
  button.querySelector("path").setAttribute("d", playing ? PAUSE : PLAY);
}

function addGroup(label, entries) {
  if (!entries.length) return;
  const group = document.createElement("optgroup");
  group.label = label;
  for (const { moment: n, text } of entries) group.append(new Option(text, n));
  find("jump").append(group);
}

function drawMarks({ sittings, machine, named }) {
  const lineAt = ({ moment: n }) => `M${((1000 * n) / film.length).toFixed(2)} 0v10`;
  document.querySelector(".of-sitting").setAttribute("d", sittings.map(lineAt).join(""));
  document.querySelector(".of-machine").setAttribute("d", machine.map(lineAt).join(""));
  const at = (n) => exact.format(film.times[n]);
  addGroup("Sittings", sittings.map(({ moment: n }, place) => ({ moment: n, text: `${place + 1}: ${at(n)}` })));
  addGroup("Taken from suggestions", machine.map(({ moment: n, letters }) => ({ moment: n, text: `${at(n)}, ${letters} characters` })));
  addGroup("Named versions", named.map(({ moment: n, name }) => ({ moment: n, text: name })));
  marks = [...sittings, ...machine, ...named].sort((a, b) => a.moment - b.moment);
}

function readAddress() {
  const found = location.hash.match(/^#t=(\d+)$/);
  return found ? Number(found[1]) : 0;
}

function listenToKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isRange = event.target.id === "slider";
  if (event.target.matches("select")) return;
  if (event.target.matches("button, a, summary, [type=checkbox]") && event.key === " ") return;
  const actions = {
    " ": () => (playing ? pause() : play()),
    ArrowLeft: () => (event.shiftKey ? goToMark(-1) : goTo(moment - 1)),
    ArrowRight: () => (event.shiftKey ? goToMark(1) : goTo(moment + 1)),
    Home: () => goTo(0),
    End: () => goTo(film.length),
  };
  // The slider's own keys, but for those it does not know.
  if (isRange && event.key !== " " && !event.shiftKey) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listen() {
  find("play").addEventListener("click", () => (playing ? pause() : play()));
  find("step-back").addEventListener("click", () => goTo(moment - 1));
  find("step-on").addEventListener("click", () => goTo(moment + 1));
  find("mark-back").addEventListener("click", () => goToMark(-1));
  find("mark-on").addEventListener("click", () => goToMark(1));
  find("slider").addEventListener("input", (event) => goTo(Number(event.target.value), { quiet: true }));
  find("ghosts").addEventListener("change", () => {
    known = new Map();
    render();
  });
  find("jump").addEventListener("change", (event) => {
    if (event.target.value) goTo(Number(event.target.value));
    event.target.value = "";
  });
  find("link").addEventListener("click", async (event) => {
    keepAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      event.target.textContent = "Copied";
    } catch {
      event.target.textContent = "The address of this page is the link";
    }
    setTimeout(() => (event.target.textContent = "Copy a link to this moment"), 3000);
  });
  document.addEventListener("keydown", listenToKeys);
  addEventListener("hashchange", () => goTo(readAddress()));
  addEventListener("resize", () => render());
}

function prepareLater() {
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  idle(() => film.prepare(performance.now() + 12) || prepareLater());
}

async function open() {
  const root = find("replay");
  try {
    film = new Film(await call("GET", `/drafts/${root.dataset.draft}/replay/film`));
  } catch (problem) {
    find("wait").hidden = true;
    find("trouble").textContent = `${spellProblem(problem)} Load the page again to try once more.`;
    return;
  }
  find("wait").hidden = true;
  root.hidden = false;
  find("slider").max = film.length;
  drawMarks(film.marks());
  listen();
  goTo(readAddress(), { quiet: true });
  prepareLater();
}

open();
