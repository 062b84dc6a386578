// Every action by keyboard, and the sheet of help that says so.

import { find, make, openBox } from "./dom.js";

const isMac = /Mac|iP/.test(navigator.platform);
const MOD = isMac ? "⌘" : "Ctrl";

const HELP = [
  ["Suggestions", [
    [`${MOD} Enter`, "suggest where the cursor is; again: another one"],
    ["Tab", "take the suggestion, up to the end that you chose"],
    [`${MOD} →`, "take the next word"],
    [`${MOD} ↓`, "take the next sentence"],
    ["Alt ← →", "choose an end by words; the rest is dropped when you take it"],
    ["Alt ↑ ↓", "choose an end by sentences"],
    ["Esc", "stop the co-author; then leave the suggestion"],
  ]],
  ["Writing", [
    [`${MOD} Z`, "undo, also what was done before the page was loaded"],
    [isMac ? "⌘ Shift Z" : "Ctrl Shift Z, Ctrl Y", "redo"],
    [`${MOD} S`, "save now (it is saved as you write, too)"],
    [`${MOD} Shift Enter`, "publish, and rate what was suggested"],
  ]],
  ["Moving about", [
    ["F6, Ctrl ;", "from the sheet to the side and back"],
    ["← →", "in the side’s tabs: from one to the next"],
    ["Esc", "close what is open; from the side back to the sheet"],
    [`${MOD} /, ?`, "this help (? outside the text)"],
  ]],
];

export function showHelp() {
  openBox("Keys", (close) => [
    ...HELP.map(([title, keys]) => make("section", {},
      make("h3", {}, title),
      make("dl", { class: "keys" }, keys.flatMap(([key, words]) => [
        make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)])))),
    make("div", { class: "actions" },
      make("button", { type: "button", "data-first": true, onclick: close }, "Back to writing")),
  ], { wide: true });
}

export function createKeys({ desk, actions, suggester, drawer }) {
  const side = find("side");
  const isInSheet = () => Boolean(desk?.view?.dom.contains(document.activeElement));
  const isTyping = () => isInSheet() || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);

  function switchPlace() {
    if (side.contains(document.activeElement)) toSheet();
    else if (drawer.isDrawer) drawer.open();
    else (side.querySelector('[role="tab"][aria-selected="true"]') ?? side).focus();
  }

  function toSheet() {
    if (drawer.isOpen) drawer.close();
    if (desk) desk.focus();
    else find("main").focus();
  }

  function escape() {
    const menu = document.querySelector("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (drawer.isOpen) toSheet();
    else if (suggester?.isWriting) suggester.stop();
    else if (suggester?.isShown) suggester.dismiss();
    else if (side.contains(document.activeElement)) toSheet();
    else return false;
    return true;
  }

  // Keys of the suggestion, where it can be seen: in the sheet.
  function steer(event) {
    if (!suggester?.offer.isShown || !isInSheet()) return false;
    const mod = isMac ? event.metaKey : event.ctrlKey;
    const { offer } = suggester;
    const plain = !event.shiftKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "Tab" && plain && !event.altKey) suggester.take();
    else if (suggester.isWriting) return false;
    else if (mod && !event.shiftKey && !event.altKey && event.key === "ArrowRight") suggester.take("word");
    else if (mod && !event.shiftKey && !event.altKey && event.key === "ArrowDown") suggester.take("sentence");
    else if (event.altKey && plain && event.key === "ArrowRight") offer.move("word", true);
    else if (event.altKey && plain && event.key === "ArrowLeft") offer.move("word", false);
    else if (event.altKey && plain && event.key === "ArrowDown") offer.move("sentence", true);
    else if (event.altKey && plain && event.key === "ArrowUp") offer.move("sentence", false);
    else return false;
    return true;
  }

  function act(event) {
    const mod = event.ctrlKey || event.metaKey;
    if (document.querySelector("dialog[open]")) return false;
    if (event.key === "Escape") return escape();
    if (event.key === "F6" || (event.ctrlKey && event.key === ";")) switchPlace();
    else if (mod && event.key === "/") showHelp();
    else if (event.key === "?" && !isTyping()) showHelp();
    else if (mod && event.shiftKey && event.key === "Enter" && actions.publish) actions.publish();
    else if (mod && event.key === "Enter" && actions.suggest) actions.suggest();
    else if (mod && event.key.toLowerCase() === "s" && actions.save) actions.save();
    else return steer(event);
    return true;
  }

  // Before the desk sees them: Tab, say, is its own only while nothing is suggested.
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || !act(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}
