// The review page: takes a story in, has it read, and shows the parts as they come. The text is in
// this page alone: nothing is put into the browser's stores, and the studio keeps none of it.

import { call, Problem, spellProblem } from "./api.js";
import { offerSaving } from "./review_saving.js";

const find = (id) => document.getElementById(id);
const form = find("intake");
const most = { characters: +form.dataset.mostCharacters, bytes: +form.dataset.mostBytes };
const drafts = [...form.querySelectorAll("[data-draft]")].map((section) => ({
  section,
  text: section.querySelector("textarea"),
  count: section.querySelector(".count"),
  file: section.querySelector("input[type=file]"),
  example: section.querySelector("select"),
  alert: section.querySelector("[role=alert]"),
  label: section.querySelector("label"),
}));
const csrf = document.querySelector('meta[name="csrf"]').content;
let running = null;

const isPair = () => find("pair").getAttribute("aria-pressed") === "true";
const number = (value) => value.toLocaleString("en");

// Taking a story in

function setPair(both) {
  find("pair").setAttribute("aria-pressed", String(both));
  drafts[1].section.hidden = !both;
  form.querySelector(".drafts").classList.toggle("both", both);
  drafts[0].label.textContent = both ? "Earlier draft" : drafts[0].label.dataset.name;
  find("start").textContent = both ? "Compare" : "Review";
}

// Characters as the studio counts them, and not as a browser does.
const countCharacters = (text) => (text.length <= most.characters ? text.length : [...text].length);

function showCount({ text, count }) {
  const length = countCharacters(text.value);
  count.textContent = `${number(length)} of ${number(most.characters)} characters`;
  count.classList.toggle("over", length > most.characters);
}

function fill(draft, story) {
  draft.text.value = story.text;
  draft.text.dataset.title = story.title;
  draft.alert.textContent = "";
  if (story.prompt) find("prompt").value = story.prompt;
  showCount(draft);
}

async function takeIn(draft, ask) {
  draft.alert.textContent = "";
  try {
    fill(draft, await ask());
  } catch (problem) {
    draft.alert.textContent = spellProblem(problem);
  }
}

async function readFile(file) {
  if (file.size > most.bytes) {
    const message = `${file.name} has ${number(file.size)} bytes, and ${number(most.bytes)} are read`;
    throw new Problem(413, { message, remedy: "leave out its pictures, or save the text alone" });
  }
  const body = await file.arrayBuffer();
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf };
  headers["Content-Type"] = "application/octet-stream";
  const path = `/review/file?name=${encodeURIComponent(file.name)}`;
  return call("POST", path, undefined, { body, headers });
}

for (const draft of drafts) {
  showCount(draft);
  draft.text.addEventListener("input", () => {
    // What is typed anew is no longer the file or the example.
    if (!draft.text.value) draft.text.dataset.title = "";
    showCount(draft);
  });
  draft.file.addEventListener("change", () => {
    const [file] = draft.file.files;
    // Chosen again, the same file is read again.
    if (file) takeIn(draft, () => readFile(file)).then(() => (draft.file.value = ""));
  });
  draft.example.addEventListener("change", () => {
    const name = draft.example.value;
    if (name) takeIn(draft, () => call("GET", `/review/examples/${encodeURIComponent(name)}`));
  });
  const drop = draft.section;
  drop.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    drop.classList.add("dropping");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("dropping"));
  drop.addEventListener("drop", (event) => {
    drop.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    takeIn(draft, () => readFile(file));
  });
}

find("pair").addEventListener("click", () => {
  setPair(!isPair());
  if (isPair()) drafts[1].text.focus();
});

// Reading

function readBody() {
  const given = drafts.slice(0, isPair() ? 2 : 1);
  const prompt = find("prompt").value;
  return {
    drafts: given.map(({ text }, at) => ({
      text: text.value,
      title: text.dataset.title || (isPair() ? ["Earlier draft", "Later draft"][at] : ""),
      prompt,
    })),
  };
}

async function* readLines(stream) {
  let rest = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

async function ask(body, signal) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  headers["X-CSRF-Token"] = csrf;
  const options = { method: "POST", headers, body: JSON.stringify(body), signal };
  let answer;
  try {
    answer = await fetch("/review/read", options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { message: "the studio does not answer" });
  }
  if (!answer.ok) throw new Problem(answer.status, await answer.json());
  return answer.body;
}

const WAITS = { "-1": "", 0: "Your story is next.", 1: "One story is before yours." };

function showState({ state, ahead, doing, done, total }) {
  const progress = find("progress");
  if (total) [progress.max, progress.value] = [total, done];
  else progress.removeAttribute("value");
  if (state === "waiting") find("state").textContent = WAITS[ahead] ?? `${ahead} stories are before yours.`;
  else if (state === "starting") find("state").textContent = "The reader wakes up, which takes some seconds …";
  else find("state").textContent = `Reading: ${doing}${total ? ` ${done} of ${total}` : ""} …`;
}

// Sizes that depend on a value: the page's policy lets a script set them, but no markup.
function applyStyles(root) {
  for (const element of root.querySelectorAll("[data-style]")) {
    element.style.cssText = element.dataset.style;
  }
}

function showParts(root, parts) {
  for (const [name, markup] of Object.entries(parts)) {
    const place = root.querySelector(`[data-part="${name}"]`);
    if (name === "length") find("desk").className = `desk ${markup}`;
    if (!place) continue;
    // A fold that is open and a place that is read stay as they are where nothing has changed.
    place.innerHTML = markup;
    applyStyles(place);
  }
  for (const link of root.querySelectorAll("[data-to]")) {
    link.hidden = !document.querySelector(link.getAttribute("href"));
  }
}

function showResult(both) {
  for (const root of [find("one"), find("two")]) {
    for (const place of root.querySelectorAll("[data-part]")) place.replaceChildren();
  }
  find("one").hidden = both;
  find("two").hidden = !both;
  find("one").classList.add("unread");
  find("saving").hidden = true;
}

async function follow(stream, drafts) {
  const both = drafts.length === 2;
  const root = find(both ? "two" : "one");
  for await (const event of readLines(stream)) {
    if (event.event === "state") showState(event);
    else if (event.event === "parts") {
      if (root.hidden) begin(both);
      showParts(root, event.parts);
      if (event.step !== "counts") root.classList.remove("unread");
    } else if (event.event === "problem") throw new Problem(500, event);
    else if (event.event === "done") {
      offerSaving(find("saving"), event.saved, drafts);
      return;
    }
  }
  throw new Problem(0, { message: "the studio stopped in the middle", remedy: "try again" });
}

function begin(both) {
  showResult(both);
  find(both ? "two" : "one").scrollIntoView({ block: "start" });
}

async function start() {
  if (running) return;
  const body = readBody();
  running = new AbortController();
  find("refusal").textContent = "";
  find("one").hidden = find("two").hidden = find("saving").hidden = true;
  find("reading").hidden = false;
  find("start").disabled = true;
  showState({ state: "waiting", ahead: -1 });
  find("state").textContent = "Sending the story …";
  try {
    await follow(await ask(body, running.signal), body.drafts);
    find("state").textContent = "";
  } catch (problem) {
    if (problem.name !== "AbortError") find("refusal").textContent = spellProblem(problem);
    else find("refusal").textContent = "Stopped.";
    find("refusal").scrollIntoView({ block: "nearest" });
  } finally {
    running = null;
    find("reading").hidden = true;
    find("start").disabled = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  start();
});
find("stop").addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) start();
});

// Both columns go together, each as far in its own length.
const columns = [...document.querySelectorAll(".columns .story")];
let led = null;
for (const column of columns) {
  const other = columns.find((each) => each !== column);
  column.addEventListener("scroll", () => {
    if (led === column) {
      led = null;
      return;
    }
    const share = column.scrollTop / Math.max(1, column.scrollHeight - column.clientHeight);
    const top = Math.round(share * (other.scrollHeight - other.clientHeight));
    if (Math.abs(top - other.scrollTop) < 1) return;
    led = other;
    other.scrollTop = top;
  });
}

setPair(isPair());
if (form.dataset.run !== undefined) start();
