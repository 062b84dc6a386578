// The page: its data, the table of systems that sorts, the switch for aspects.

const data = JSON.parse(byId("data").textContent);
const count = data.ids.length;
const ARROWS = { higher: "↑", lower: "↓", descriptive: "–" };

function byId(id) {
  return document.getElementById(id);
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function labelOf(kind, story) {
  return data[kind].names[data[kind].of[story]] ?? "";
}

// A missing value is the number of its status, as a string.
function isThere(value) {
  return typeof value === "number";
}

function statusOf(value) {
  return data.statuses[Number(value)].replaceAll("_", " ");
}

function written(value) {
  return String(value).replace("-", "−");
}

function columnsShown() {
  const all = byId("all-aspects")?.checked;
  return data.columns.map((_, place) => place).filter((place) => all || data.columns[place].main);
}

// A spec may break where its parts end.
function spelled(scorer) {
  const made = element("span", "spec");
  for (const part of scorer.split(/(?<=[_(,:])/)) made.append(part, element("wbr"));
  return made;
}

function headOf(column) {
  const button = element("button", "sort");
  button.type = "button";
  button.append(spelled(column.scorer));
  if (column.aspect) button.append(element("span", "aspect", column.aspect));
  const arrow = element("span", "arrow", ARROWS[column.direction]);
  arrow.setAttribute("aria-hidden", "true");
  button.append(arrow);
  return button;
}

// Missing values come last, whichever the order.
function compared(one, other, descending) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  const less = typeof one === "string" ? one.localeCompare(other) < 0 : one < other;
  return less === descending ? 1 : -1;
}

// Gives the order to sort by when a head is chosen: the better end first, then the other.
function turned(head) {
  const now = head.getAttribute("aria-sort");
  if (!now) return head.dataset.first ?? "ascending";
  return now === "ascending" ? "descending" : "ascending";
}

function markSorted(head, order) {
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
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

// A table that goes on beyond its edge fades out there.
function markMore() {
  for (const part of document.querySelectorAll(".scroll")) {
    const left = part.scrollWidth - part.clientWidth - part.scrollLeft;
    part.classList.toggle("more", left > 2);
  }
}

for (const part of document.querySelectorAll(".scroll")) {
  part.addEventListener("scroll", markMore, { passive: true });
}
window.addEventListener("resize", markMore);
new ResizeObserver(markMore).observe(document.body);
