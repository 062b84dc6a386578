// What of a review can be kept: the page in one file, its values, or the text as a draft of one's
// own. The review itself came to the browser; the studio does not have it any more.

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

export function offerSaving(place, saved) {
  const buttons = saved.flatMap(({ title, html, json }, at) => {
    const which = saved.length === 1 ? "" : [" of the earlier", " of the later"][at];
    const name = `${spellName(title)}-review`;
    return [
      makeButton(`Save the page${which}`, () => download(`${name}.html`, "text/html", html)),
      makeButton(`Save the values${which} (JSON)`, () =>
        download(`${name}.json`, "application/json", json)),
    ];
  });
  place.replaceChildren(...buttons);
  place.hidden = false;
}
