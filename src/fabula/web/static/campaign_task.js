// The page of a task: questions are answered by pointer or keyboard, saved as they are, and
// submitted when nothing is missing. Training is the same page, answered at once.

import { call, spellProblem } from "./api.js";
import { fillAnswers, findFields, readAnswers } from "./campaign_answers.js";
import { Keeper } from "./campaign_saving.js";
import { SpanDesk } from "./campaign_spans.js";

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("task-data").textContent);
const form = find("questions");
const fields = findFields(form);
const desk = new SpanDesk(fields, data, { canMark: data.can_answer });
const read = () => readAnswers(fields);
const trouble = find("trouble");

function fill(answers) {
  fillAnswers(fields, answers);
  desk.draw();
  showLeft();
}

function showLeft() {
  const left = fields.filter(({ lack }) => lack).length;
  const place = find("left");
  if (place) place.textContent = left ? `${left} of ${fields.length} left` : "All answered";
  const current = findCurrent();
  for (const { root } of fields) root.toggleAttribute("data-current", root === current?.root);
}

// A question waits while it lacks something, and in practice while its answer is known to be wrong.
const isMarked = ({ root }) => root.dataset.practice === "wrong";
const isWaiting = (field) => Boolean(field.lack) || isMarked(field);

// The question that a digit answers: that which has the focus, or the first that waits.
function findCurrent() {
  const held = fields.find(({ root }) => root.contains(document.activeElement));
  return held ?? fields.find(isWaiting) ?? null;
}

// What the studio refuses, and what can be done about it; nothing is lost by it.

function say(words, actions = []) {
  const text = document.createElement("p");
  text.textContent = words;
  const buttons = actions.map(([name, act]) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: name });
    button.addEventListener("click", act);
    return button;
  });
  trouble.replaceChildren(text, ...buttons);
  trouble.hidden = false;
  trouble.focus();
}

function collide(current) {
  say("This task was answered in another tab, or on another device, since you opened it here."
    + " What you answered here is kept in this browser.", [
    ["Use the answers from there", () => {
      fill(current.answers);
      settle(current);
    }],
    ["Keep the answers here", () => settle(current)],
  ]);
}

function settle(current) {
  trouble.hidden = true;
  keeper.take(current.version, current.answers);
}

function refuse(problem, current) {
  const goOn = ["Go on", () => location.assign(data.next)];
  if (current?.submitted_at) {
    say("This task was submitted already, in another tab or on another device.", [goOn]);
  } else if (problem.status === 401 || problem.status === 403) {
    say("This browser is no longer known here. What you answered is kept in it: open your link"
      + " again, and it will be here.", [["Open it again", () => location.assign(data.home)]]);
  } else say(spellProblem(problem), [goOn]);
}

fill(data.answers);
const keeper = data.save
  ? new Keeper(data, { read, collide, refuse, show: (words) => (find("state").textContent = words) })
  : null;

// Submitting

function complain(lacking) {
  for (const field of fields) field.say(lacking.includes(field) ? field.lack : "");
  const [first] = lacking;
  first?.focus();
  const names = lacking.map(({ root }) =>
    (root.querySelector("legend .title") ?? root.querySelector("legend .asks")).textContent.trim());
  find("refusal").textContent = first ? `Not answered yet: ${names.join(", ")}.` : "";
}

async function submit() {
  const button = find("submit");
  // Pressed twice is sent once.
  if (button.disabled) return;
  const lacking = fields.filter(({ lack }) => lack);
  complain(lacking);
  if (lacking.length) return;
  // A try at practice is not spent on answers that were wrong before.
  const marked = fields.find(isMarked);
  if (marked) {
    marked.say(EXPECTED);
    marked.focus();
    find("refusal").textContent = "Please change what is marked first.";
    return;
  }
  button.disabled = true;
  try {
    if (data.training) showFeedback(await call("POST", data.training, { number: data.number, answers: read() }));
    else {
      await keeper.submit();
      location.assign(data.next);
      return;
    }
  } catch (problem) {
    if (problem.status === 409 && keeper) await keeper.meet(problem);
    else {
      find("refusal").textContent = spellProblem(problem);
      if (keeper) find("state").textContent = "";
    }
  }
  button.disabled = false;
}

const EXPECTED = "Another answer was expected here.";

// What is said of a practice story: which answers will do, and why.
function showFeedback({ wrong, feedback, tries_left: left }) {
  const [isRight, mayTry] = [!wrong.length, wrong.length > 0 && left > 0];
  const place = find("feedback");
  for (const field of fields) {
    const isWrong = wrong.includes(field.name);
    field.root.dataset.practice = isWrong ? "wrong" : "right";
    field.say(isWrong ? EXPECTED : "");
  }
  const title = document.createElement("p");
  title.className = "verdict";
  title.textContent = isRight ? "✓ Right." : "✗ Not quite.";
  const words = document.createElement("p");
  words.className = "said";
  words.textContent = feedback;
  const parts = [title, words];
  const make = (tag, values) => Object.assign(document.createElement(tag), values);
  if (mayTry) {
    const tries = left === 1 ? "One try is left" : `${left} tries are left`;
    parts.push(make("p", { textContent: "Please look again, and change what is marked. "
      + `${tries}; the tasks are for those who get it right.` }));
  } else {
    parts.push(make("a", { href: data.next, className: "button first", textContent: "Go on" }));
    find("submit").hidden = true;
    for (const { root } of fields) root.disabled = true;
  }
  place.replaceChildren(...parts);
  place.hidden = false;
  // Enter goes on from here; what is said is a status, and read out by itself.
  (place.querySelector("a") ?? place).focus();
}

// Keys

const isTyping = (target) => target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");

function goOn(field) {
  const rest = fields.slice(fields.indexOf(field) + 1);
  const next = rest.find(isWaiting) ?? fields.find(isWaiting);
  // What has a second part to answer is not left yet.
  if (field.lack) showLeft();
  else if (next) next.focus();
  else find("submit").focus();
}

function pressDigit(digit) {
  const field = findCurrent();
  if (!field || field.root.disabled || !field.press(digit)) return false;
  goOn(field);
  return true;
}

function scrollTexts(share) {
  const texts = find("texts");
  const isOwn = texts.scrollHeight > texts.clientHeight + 1;
  (isOwn ? texts : window).scrollBy({ top: share * (isOwn ? texts.clientHeight : innerHeight) });
}

const LETTERS = {
  i: () => find("show-instructions").click(),
  p: () => find("pause")?.click(),
  m: () => desk.hasSpans && form.querySelector("[data-sentences]").click(),
};

document.addEventListener("keydown", (event) => {
  if (find("instructions").open || event.defaultPrevented) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (data.can_answer && !find("submit").hidden) form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Enter in a line of its own goes on to the next question, and does not submit.
  const line = event.target.closest?.("textarea[rows='1']");
  if (event.key === "Enter" && line) {
    event.preventDefault();
    goOn(fields.find(({ root }) => root.contains(line)));
    return;
  }
  if (isTyping(event.target)) return;
  if (event.key === "PageDown" || event.key === "PageUp") {
    event.preventDefault();
    scrollTexts(event.key === "PageDown" ? 0.85 : -0.85);
  } else if (/^\d$/.test(event.key) && data.can_answer) {
    if (pressDigit(Number(event.key))) event.preventDefault();
  } else if (LETTERS[event.key]) {
    event.preventDefault();
    LETTERS[event.key]();
  }
});

// Beginning

find("show-instructions").addEventListener("click", () => find("instructions").showModal());
find("instructions").querySelector("[data-close]").addEventListener("click", () => find("instructions").close());
find("pause")?.addEventListener("click", async (event) => {
  event.preventDefault();
  await keeper?.flush();
  location.assign(event.target.href);
});
// Where both are one below the other, one link leads from what is read to what is asked, and back.
new IntersectionObserver(([{ isIntersecting, boundingClientRect }]) => {
  const isBelow = isIntersecting || boundingClientRect.top < 0;
  Object.assign(find("jump"), isBelow
    ? { href: "#texts", textContent: "Story" } : { href: "#questions", textContent: "Questions" });
}).observe(form);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (data.can_answer) submit();
});
form.addEventListener("focusin", showLeft);
form.addEventListener("input", (event) => {
  const field = fields.find(({ root }) => root.contains(event.target));
  // What was missing is said until it is there, and nothing new while one is at it.
  if (field?.wrong.textContent && !field.lack) field.say("");
  if (field && isMarked(field)) delete field.root.dataset.practice;
  if (!fields.some(isWaiting)) find("refusal").textContent = "";
  showLeft();
  keeper?.note();
});

for (const { root } of fields) root.disabled = !data.can_answer;
const kept = keeper?.restore();
if (kept) {
  fill(kept.answers);
  if (kept.isStale) collide({ answers: data.answers, version: data.version });
  else keeper.note();
}
document.documentElement.dataset.task = "ready";
