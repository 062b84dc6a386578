// The editor's page: the desk one writes at, and what lies around it.

import { createDesk } from "./desk.js";

const data = JSON.parse(document.getElementById("editor-data").textContent);
const desk = createDesk({
  mount: document.getElementById("desk"),
  draft: data.draft,
  log: data.log,
  person: data.person_id,
  label: "Your draft",
});
const state = document.getElementById("desk-state");
desk.onState(({ kind, message }) => {
  state.dataset.kind = kind;
  state.textContent = message || kind;
});
window.desk = desk;
