// Words, the time of this sitting, and a goal that one may set. Kept in the browser, for each
// person; the studio knows nothing of it.

import { announce, count, find, make, openBox, store } from "./dom.js";

const PAUSE_MS = 30 * 60_000; // as `split_sittings` has it: a longer pause ends a sitting
const MOST_GOAL = 100_000;

export function createGoal({ desk, data }) {
  const place = find("progress");
  const [goalKey, sittingKey] = [`fabula-goal-${data.person.id}`, `fabula-sitting-${data.person.id}`];
  const bar = make("progress", { max: 1, "aria-hidden": "true" });
  const words = make("span", { class: "full" });
  // A phone has room for a number.
  const short = make("span", { class: "short" });
  place.append(bar, words, short);
  let goal = Number(store.read(goalKey, 0)) || 0;
  let isReached = false;

  // { began, last, drafts: { id: { from, to } } }: words of each draft when the sitting began, and now
  function readSitting() {
    const sitting = store.read(sittingKey, null);
    const isOn = sitting?.drafts && Date.now() - sitting.last < PAUSE_MS;
    return isOn ? sitting : { began: Date.now(), last: Date.now(), drafts: {} };
  }

  const sum = (sitting) => Object.values(sitting.drafts)
    .reduce((all, { from, to }) => all + Math.max(0, to - from), 0);

  function update({ hasWritten = true } = {}) {
    const now = desk.words();
    const sitting = readSitting();
    const own = (sitting.drafts[data.draft.id] ??= { from: now, to: now });
    own.to = now;
    if (hasWritten) {
      sitting.last = Date.now();
      store.write(sittingKey, sitting);
    }
    draw(now, sitting, hasWritten);
  }

  function draw(now, sitting, hasWritten) {
    const written = sum(sitting);
    const minutes = Math.floor((Date.now() - sitting.began) / 60_000);
    const time = minutes < 1 ? "" : minutes < 60 ? ` · ${minutes} min`
      : ` · ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    bar.hidden = !goal;
    if (goal) bar.value = Math.min(1, written / goal);
    words.textContent = goal ? `${written} of ${count(goal, "word")}${time}` : `${count(now, "word")}${time}`;
    short.textContent = goal ? `${written}/${goal}` : String(now);
    place.setAttribute("aria-label", `${words.textContent}. ${goal ? "Change" : "Set"} the goal of this sitting`);
    place.title = goal ? `${count(now, "word")} in the draft. Change the goal`
      : "Set a goal for this sitting";
    const reaches = goal > 0 && written >= goal;
    if (reaches && !isReached && hasWritten) {
      announce(`You have reached your goal of ${count(goal, "word")}.`);
    }
    isReached = reaches;
    place.classList.toggle("reached", reaches);
  }

  function open() {
    openBox("A goal for this sitting", (close) => {
      const input = make("input", { type: "number", id: "goal-words", min: 0, max: MOST_GOAL, step: 1,
        value: goal || "", placeholder: "none", "data-first": true });
      const form = make("form", {},
        make("p", {}, "How many words would you like to add before you get up? A pause of half an hour ends the sitting."),
        make("label", { for: "goal-words" }, "Words"), input,
        make("div", { class: "actions" },
          make("button", { class: "first" }, "Set it"),
          make("button", { type: "button", onclick: () => { input.value = ""; form.requestSubmit(); } }, "No goal"),
          make("button", { type: "button", onclick: () => {
            store.write(sittingKey, null);
            isReached = false;
            update();
            close();
          } }, "Begin a new sitting")));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        goal = Math.max(0, Math.min(MOST_GOAL, Math.round(Number(input.value)) || 0));
        store.write(goalKey, goal || null);
        update({ hasWritten: false });
        close();
      });
      return form;
    });
  }

  // Counting a long text on every key would be felt: it is done when the keys rest.
  let timer = 0;
  desk.onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(update, 250);
  });
  setInterval(() => update({ hasWritten: false }), 30_000);
  update({ hasWritten: false });
  // The beginning of a sitting is what was there before the first word of it.
  if (!store.read(sittingKey, null)?.drafts?.[data.draft.id]) update();
  return { open };
}
