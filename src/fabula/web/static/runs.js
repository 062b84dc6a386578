// Follows runs that are going on, sorts tables, and leads from two chosen runs to their comparison.

import { call, Problem } from "./api.js";
import "./tables.js";

const EVERY_MS = 2000;

// A run that has come or gone changes the list: then the page is made again, where it was.
function update(rows, state) {
  const names = Object.keys(state);
  const filtered = new URLSearchParams(location.search);
  const isWhole = !filtered.get("q") && !filtered.get("state");
  const changed = rows.some((row) => state[row.dataset.run]?.state !== row.dataset.state)
    || (isWhole && names.length !== rows.length);
  if (changed && !document.querySelector("#choose input:checked")) location.reload();
  for (const row of rows) {
    const stories = state[row.dataset.run]?.stories;
    row.querySelector(".so-far").textContent = stories == null ? "" : stories.toLocaleString("en");
  }
}

async function followList(rows) {
  update(rows, await call("GET", "/state"));
}

async function followRun(part) {
  const answer = await fetch(`/run/part?name=${encodeURIComponent(part.dataset.run)}`);
  if (!answer.ok) throw new Problem(answer.status, { message: "the run is gone" });
  const held = part.querySelector(".scroll")?.scrollLeft ?? 0;
  part.innerHTML = await answer.text();
  part.querySelector(".scroll")?.scrollTo({ left: held });
  // Its report and its signatures come with the whole page.
  if (!part.querySelector("progress") && !part.textContent.includes("Going on")) location.reload();
}

async function follow(look) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    if (document.hidden) continue;
    try {
      await look();
    } catch (problem) {
      if (problem.status !== 0) return;
    }
  }
}

const rows = [...document.querySelectorAll("tr[data-run]")];
const part = document.getElementById("part");
if (document.querySelector("table.list, .empty") && !part) follow(() => followList(rows));
if (part?.dataset.state === "going") follow(() => followRun(part));

document.getElementById("choose")?.addEventListener("submit", (event) => {
  const form = new FormData(event.target);
  if (!form.get("a") || !form.get("b")) {
    event.preventDefault();
    event.target.querySelector("input[type=radio]")?.focus();
  }
});
