// Heads of a table sort it: the better end first, then the other; missing values come last.

function valueOf(row, column) {
  const cell = row.children[column];
  if (cell?.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = cell?.textContent.trim() ?? "";
  return text === "" || text === "–" ? null : text;
}

function compare(one, other, sign) {
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * String(one).localeCompare(String(other));
}

document.addEventListener("click", (event) => {
  const head = event.target.closest("table.sortable th[scope=col]");
  if (!head || !event.target.closest(".sort")) return;
  const now = head.getAttribute("aria-sort");
  const turned = now === "ascending" ? "descending" : "ascending";
  const order = now ? turned : head.dataset.first ?? "ascending";
  const column = [...head.parentElement.children].indexOf(head);
  const body = head.closest("table").tBodies[0];
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
  rows.sort((one, other) => compare(one[0], other[0], sign));
  body.append(...rows.map((pair) => pair[1]));
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
});
