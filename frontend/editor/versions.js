// Versions: name the one that stands, look at one of before, let it stand again.

import { call, newKey, spellProblem } from "../../src/fabula/web/static/api.js";
import { announce, ask, count, countWords, find, make, openBox } from "./dom.js";
import { spellTime } from "./notices.js";

const AT_ONCE = 30;
const CLASSES = { machine: "by-machine", edited: "by-edited" };

// A text with its marks as paragraphs; marks count code points.
export function drawMarked({ text, marks }) {
  const signs = [...text];
  const paragraphs = [make("p")];
  let at = 0;
  for (const [length, origin] of marks) {
    const lines = signs.slice(at, at += length).join("").split("\n");
    for (const [number, line] of lines.entries()) {
      if (number) paragraphs.push(make("p"));
      if (line) paragraphs.at(-1).append(make("span", { class: CLASSES[origin] }, line));
    }
  }
  return make("div", { class: "prose marked" }, paragraphs);
}

export function createVersions({ desk, data }) {
  const panel = find("panel-versions");
  const list = make("ol", { class: "versions" });
  const alert = make("p", { role: "alert" });
  const name = make("input", { id: "version-name", maxlength: 200, required: true,
    placeholder: "Before the storm" });
  const form = make("form", {}, make("label", { for: "version-name" }, "Name this version"), name,
    make("div", { class: "actions" }, make("button", {}, "Keep it by this name")));
  const older = make("button", { type: "button", class: "plain", hidden: true }, "Older versions");
  let from = 0;

  const tell = (problem) => { alert.textContent = spellProblem(problem); };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    alert.textContent = "";
    try {
      const version = await desk.flush();
      if (!version) throw new Error("There is nothing to name yet: write something first.");
      await call("PUT", `drafts/${data.draft.id}/versions/${version}/name`, { name: name.value.trim() });
      announce(`This version is called ${name.value.trim()}.`);
      name.value = "";
      await open();
    } catch (problem) {
      tell(problem);
    }
  });

  function drawRow(version) {
    const when = spellTime(version.saved_at);
    return make("li", { class: version.name ? "named" : "" },
      make("button", { type: "button", class: "plain", onclick: () => look(version) },
        version.name ?? `Version ${version.number}`),
      make("span", { class: "quiet" }, ` ${when} · ${count(version.edits, "edit")}`));
  }

  async function look(version) {
    try {
      const old = await call("GET", `drafts/${data.draft.id}/versions/${version.number}`);
      openBox(version.name ?? `Version ${version.number}`, (close) => [
        make("p", { class: "quiet" }, `${spellTime(version.saved_at)} · ${count(countWords(old.text), "word")}`),
        old.text ? drawMarked(old) : make("p", { class: "quiet" }, "Nothing was written."),
        make("div", { class: "actions" },
          make("button", { type: "button", "data-first": true, onclick: close }, "Back to writing"),
          make("button", { type: "button", onclick: () => restore(version) }, "Let this version stand again")),
      ], { wide: true });
    } catch (problem) {
      tell(problem);
    }
  }

  async function restore(version) {
    const isSure = await ask("Go back?",
      "The sheet will be as it was then. Nothing is lost: what you have now stays in the list of versions.",
      { yes: "Go back to it", no: "Stay" });
    if (!isSure) return;
    try {
      const base_version = await desk.flush();
      await call("POST", `drafts/${data.draft.id}/restore`,
        { key: newKey(), number: version.number, base_version });
      await desk.close();
      location.reload();
    } catch (problem) {
      tell(problem);
    }
  }

  const fetchPage = (offset, limit) =>
    call("GET", `drafts/${data.draft.id}/versions?offset=${offset}&limit=${limit}`);

  async function open() {
    alert.textContent = "";
    panel.replaceChildren(form, alert, make("h3", {}, "Saved versions"), list, older);
    try {
      const { total } = await fetchPage(0, 1);
      from = total;
      list.replaceChildren();
      await more();
      if (!total) list.replaceChildren(make("li", { class: "quiet" }, "Nothing has been saved yet."));
    } catch (problem) {
      tell(problem);
    }
  }

  async function more() {
    const limit = Math.min(AT_ONCE, from);
    if (limit) {
      const { items } = await fetchPage(from - limit, limit);
      list.append(...items.reverse().map(drawRow));
      from -= limit;
    }
    older.hidden = !from;
  }
  older.addEventListener("click", () => more().catch(tell));
  return { open };
}
