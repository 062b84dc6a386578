// What of a review can be kept: the page in one file, its values, or the text as a draft of one's
// own. The review itself came to the browser; the studio does not have it any more.

import { call, newKey, spellProblem } from "./api.js";

function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  // The browser reads it after this; a minute is more than it needs.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// A name that every system takes.
function spellName(title) {
  const name = title.replace(/\.[a-z]{2,4}$/i, "").replace(/[^\p{L}\p{N}]+/gu, "-");
  return name.replace(/^-+|-+$/g, "").slice(0, 80) || "review";
}

function makeButton(words, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.addEventListener("click", act);
  return button;
}

// A story of one's own that begins with the text. Tried again, it is still one story: keys are the
// same until the page is left.
function makeWriter(draft, alert) {
  const keys = [newKey(), newKey()];
  const button = makeButton("Write on in the studio", async () => {
    button.disabled = true;
    alert.textContent = "";
    try {
      const title = draft.title.slice(0, 200) || "Your story";
      const { id } = await call("POST", "games/start", { key: keys[0], title });
      const edit = { start: 0, stop: 0, inserted: draft.text };
      const saving = { key: keys[1], base_version: 0, edits: [edit] };
      await call("POST", `drafts/${id}/save`, saving);
      location.assign(`/drafts/${id}`);
    } catch (problem) {
      alert.textContent = spellProblem(problem);
      button.disabled = false;
    }
  });
  return button;
}

export function offerSaving(place, saved, drafts) {
  const buttons = saved.flatMap(({ title, html, json }, at) => {
    const which = saved.length === 1 ? "" : [" of the earlier", " of the later"][at];
    const name = `${spellName(title)}-review`;
    return [
      makeButton(`Save the page${which}`, () => download(`${name}.html`, "text/html", html)),
      makeButton(`Save the values${which} (JSON)`, () =>
        download(`${name}.json`, "application/json", json)),
    ];
  });
  const alert = document.createElement("p");
  alert.setAttribute("role", "alert");
  if (place.dataset.mayWrite !== undefined) buttons.push(makeWriter(drafts.at(-1), alert));
  place.replaceChildren(...buttons, alert);
  place.hidden = false;
}
