// What the desk has to say, above the text: that unsent changes are in again, that another tab
// writes, that a text gave way to another; and the choice between two texts.

import { compareTexts } from "./steps.js";

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" });

// A time of today, or a date with its time.
export function spellTime(moment) {
  const when = new Date(moment);
  const isToday = when.toDateString() === new Date().toDateString();
  return (isToday ? clock : calendar).format(when);
}

export class Notices {
  #box;
  #shown = new Map();

  constructor(mount) {
    this.#box = make("div", { className: "desk-notices" });
    this.#box.setAttribute("role", "status");
    mount.before(this.#box);
  }

  // Says something under a name; again under the same name stands in its place.
  say(name, text, actions = []) {
    const dismiss = () => this.drop(name);
    const buttons = actions.map(({ label, act }) => make("button", { type: "button", textContent: label, onclick: act }));
    if (!actions.length) buttons.push(make("button", { type: "button", className: "plain", textContent: "Dismiss", onclick: dismiss }));
    const notice = make("p", { className: "desk-notice" }, make("span", { textContent: text }), " ", ...buttons);
    notice.dataset.notice = name;
    this.drop(name);
    this.#shown.set(name, notice);
    this.#box.append(notice);
  }

  drop(name) {
    this.#shown.get(name)?.remove();
    this.#shown.delete(name);
  }

  // Texts that gave way, to be copied or dismissed; `keep` is told which are left.
  showLost(texts, keep) {
    if (!texts.length) return this.drop("lost");
    const act = () => this.#openLost(texts, keep);
    const what = texts.length === 1 ? "A text" : `${texts.length} texts`;
    this.say("lost", `${what} of yours gave way to another; it is kept in this browser.`, [{ label: "Look at it", act }]);
    return undefined;
  }

  #openLost(texts, keep) {
    const dialog = make("dialog", { className: "desk-choice" }, make("h2", { textContent: "Kept in this browser" }));
    const close = () => dialog.close();
    texts.forEach((lost) => {
      const part = make("section", {}, make("h3", { textContent: `${lost.why}, ${spellTime(lost.at)}` }));
      const copy = () => navigator.clipboard?.writeText(lost.text);
      const remove = () => {
        part.remove();
        texts = texts.filter((other) => other !== lost);
        keep(texts);
        this.showLost(texts, keep);
        if (!texts.length) close();
      };
      part.append(
        make("div", { className: "desk-text-shown", textContent: lost.text, tabIndex: 0 }),
        make("p", { className: "actions" },
          make("button", { type: "button", textContent: "Copy", onclick: copy }),
          make("button", { type: "button", className: "danger", textContent: "Remove for good", onclick: remove })),
      );
      dialog.append(part);
    });
    dialog.append(make("p", { className: "actions" },
      make("button", { type: "button", className: "first", textContent: "Close", onclick: close })));
    dialog.onclose = () => dialog.remove();
    document.body.append(dialog);
    dialog.showModal();
  }

  remove() {
    this.#box.remove();
  }
}

// Two texts of one draft: resolves to "mine", "theirs" or "both".
export function chooseText(mine, theirs) {
  const { start, stop, pieces: [piece] } = compareTexts(theirs, mine);
  // The words in which they differ are marked, and looked at first: the texts may be long.
  const column = (title, text, end) => {
    const points = [...text];
    const differs = make("mark", { textContent: points.slice(start, end).join("") });
    return make("section", {}, make("h3", { textContent: title }), make("div",
      { className: "desk-text-shown", tabIndex: 0 },
      ...(text ? [points.slice(0, start).join(""), differs, points.slice(end).join("")] : ["(empty)"])));
  };
  const button = (value, label, className = "") => make("button", { type: "button", value, className, textContent: label });
  const dialog = make("dialog", { className: "desk-choice" },
    make("h2", { textContent: "This draft was changed in two places" }),
    make("p", { textContent: "Both changed the same part. The text that you do not keep stays in this browser until you remove it." }),
    make("div", { className: "desk-two" },
      column("Yours, here", mine, start + [...piece.text].length),
      column("Saved elsewhere", theirs, stop)),
    make("p", { className: "actions" }, button("mine", "Keep mine", "first"),
      button("theirs", "Take theirs"), button("both", "Both, one below the other")));
  dialog.setAttribute("aria-label", "This draft was changed in two places");
  document.body.append(dialog);
  dialog.showModal();
  for (const differs of dialog.querySelectorAll("mark")) differs.scrollIntoView({ block: "center" });
  return new Promise((resolve) => {
    // It cannot be put off: what is typed now would be a third text.
    dialog.oncancel = (event) => event.preventDefault();
    dialog.onclose = () => dialog.isConnected && dialog.showModal();
    dialog.onclick = ({ target }) => {
      if (!target.value) return;
      dialog.remove();
      resolve(target.value);
    };
  });
}
