// The study's page: tables that sort, tabs, the hint beside the pointer.

function keyOfCell(cell) {
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.classList.contains("num") ? null : cell.textContent;
}

// In a column of numbers what has no value comes last; words and numbers compare as words.
function sortTable(head) {
  const order = turned(head);
  const column = head.cellIndex;
  const body = head.closest("table").tBodies[0];
  const keyed = [...body.rows].map((row) => ({ row, key: keyOfCell(row.cells[column]) }));
  keyed.sort((one, other) => compared(one.key, other.key, order === "descending"));
  body.append(...keyed.map((one) => one.row));
  markSorted(head, order);
}

for (const head of document.querySelectorAll("table.sortable thead th")) {
  head.querySelector("button").addEventListener("click", () => sortTable(head));
}

function choose(tabs, chosen) {
  for (const tab of tabs) {
    const is = tab === chosen;
    tab.setAttribute("aria-selected", is);
    tab.tabIndex = is ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).classList.toggle("off", !is);
  }
  markMore();
}

function walkTabs(event, tabs) {
  const at = tabs.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const tab = tabs[(to + tabs.length) % tabs.length];
  choose(tabs, tab);
  tab.focus();
}

for (const bar of document.querySelectorAll(".tab-bar")) {
  const tabs = [...bar.children];
  for (const tab of tabs) tab.addEventListener("click", () => choose(tabs, tab));
  bar.addEventListener("keydown", (event) => walkTabs(event, tabs));
  choose(tabs, tabs[0]);
}

// Shows lines of words beside a place of the window, where there is room for them.
function showHint(lines, x, y) {
  const hint = byId("hint");
  const parts = lines.map((line, place) => element(place ? "span" : "strong", "", line));
  hint.replaceChildren(...parts);
  const { width, height } = hint.getBoundingClientRect();
  const right = x + 14 + width < window.innerWidth ? x + 14 : x - 14 - width;
  const below = y + 16 + height < window.innerHeight ? y + 16 : y - 12 - height;
  hint.style.left = `${Math.max(8, Math.min(right, window.innerWidth - width - 8))}px`;
  hint.style.top = `${Math.max(8, below)}px`;
}

function hideHint() {
  byId("hint").replaceChildren();
}

window.addEventListener("scroll", hideHint, { passive: true, capture: true });
