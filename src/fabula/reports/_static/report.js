// The table of systems that sorts, and the switch for aspects.

function columnsShown() {
  const all = byId("all-aspects")?.checked;
  return data.columns.map((_, place) => place).filter((place) => all || data.columns[place].main);
}

function headOf(column) {
  const button = element("button", "sort");
  button.type = "button";
  button.append(element("span", "metric", column.title));
  const arrow = element("span", "arrow", ARROWS[column.direction]);
  arrow.setAttribute("aria-hidden", "true");
  button.append(arrow);
  return button;
}

// Both blocks of the table keep the same order.
function sortSystems(head) {
  const order = turned(head);
  const column = [...head.parentElement.children].indexOf(head);
  const keyed = [...head.closest("table").tBodies[0].rows].map((row) => {
    const cell = row.cells[column];
    const value = cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    return { place: row.dataset.place, key: column === 0 ? cell.textContent : value };
  });
  keyed.sort((one, other) => compared(one.key, other.key, order === "descending"));
  for (const body of document.querySelectorAll("#systems .screen tbody")) {
    const rows = new Map([...body.rows].map((row) => [row.dataset.place, row]));
    body.append(...keyed.map((one) => rows.get(one.place)));
  }
  for (const other of document.querySelectorAll("#systems [aria-sort]")) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", order);
}

for (const head of document.querySelectorAll("#systems .screen thead th")) {
  head.querySelector("button").addEventListener("click", () => sortSystems(head));
}
byId("all-aspects")?.addEventListener("change", (event) => {
  document.body.classList.toggle("all-aspects", event.target.checked);
  drawStories();
});
