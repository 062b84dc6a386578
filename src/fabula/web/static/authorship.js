// Says of the passage that is pointed at, or walked to by keys, who wrote it and when. The text is
// one stop of the tab key, however many passages it has.

import { exact } from "./times.js";

const passages = [...document.querySelectorAll(".passage")];
const note = document.getElementById("note");

function describe({ dataset }) {
  const [began, ended] = [new Date(dataset.began), new Date(dataset.ended)];
  const who = dataset.suggestion ? `${dataset.words}, suggestion ${dataset.suggestion}` : dataset.words;
  return `${who[0].toUpperCase()}${who.slice(1)}: ${exact.formatRange(began, ended)}`;
}

function show(passage) {
  for (const other of document.querySelectorAll(".passage.here")) other.classList.remove("here");
  passage.classList.add("here");
  note.textContent = describe(passage);
}

function walk(event) {
  const here = passages.indexOf(event.target);
  const places = {
    ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1,
    Home: 0, End: passages.length - 1,
  };
  const next = passages[places[event.key]];
  if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

const text = document.getElementById("passages");
text?.addEventListener("mouseover", (event) => event.target.matches(".passage") && show(event.target));
text?.addEventListener("focusin", (event) => event.target.matches(".passage") && show(event.target));
text?.addEventListener("click", (event) => event.target.matches(".passage") && show(event.target));
text?.addEventListener("keydown", walk);
