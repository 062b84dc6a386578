// Elements made by hand: what is text goes in as text, so nothing that people wrote is ever markup.

// make("p", { class: "quiet", onclick }, "text", otherElement): null and false children are left out.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false));
  return element;
}

export const find = (id) => document.getElementById(id);

// Said once to who listens to the page; the same words twice are said twice.
export function announce(words) {
  const place = find("told");
  place.textContent = "";
  setTimeout(() => { place.textContent = words; }, 50);
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export const countWords = (text) => (text.match(/\S+/gu) ?? []).length;

// The page's one dialogue: it gives the focus back to where it was. `fill` gets a way to close it.
// Opened while it is open, it says something else: a dialogue that closes tells so only later.
let shown = null; // { before, onclose }

export function openBox(title, fill, { wide = false, onclose } = {}) {
  const box = find("box");
  const before = box.open ? shown.before : document.activeElement;
  if (box.open) shown.onclose?.();
  const close = () => box.open && box.close();
  const heading = make("h2", { id: "box-title", tabindex: "-1" }, title);
  box.replaceChildren(heading, ...[fill(close)].flat());
  box.classList.toggle("wide", wide);
  box.onclose = leaveBox;
  shown = { before, onclose };
  if (!box.open) box.showModal();
  box.scrollTop = 0;
  (box.querySelector("[data-first]") ?? heading).focus();
  return close;
}

function leaveBox() {
  const { before, onclose } = shown;
  shown = null;
  const box = find("box");
  // This is told after the box has closed: who has gone on to somewhere else stays there.
  const isLost = document.activeElement === document.body || box.contains(document.activeElement);
  box.replaceChildren();
  // Where the focus was may be gone, or hidden: then the sheet is the place to be.
  if (isLost && before?.isConnected && before !== document.body) before.focus();
  onclose?.();
}

export function ask(title, words, { yes = "Yes", no = "Cancel", danger = false } = {}) {
  return new Promise((resolve) => {
    let answer = false;
    openBox(title, (close) => [
      make("p", {}, words),
      make("div", { class: "actions" },
        make("button", { type: "button", "data-first": true, onclick: close }, no),
        make("button", {
          type: "button",
          class: danger ? "danger" : "first",
          onclick: () => { answer = true; close(); },
        }, yes)),
    ], { onclose: () => resolve(answer) });
  });
}

// What the person's browser keeps; where it keeps nothing, all goes on without.
export const store = {
  read(key, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  write(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
    } catch { /* full, or not allowed */ }
  },
};
