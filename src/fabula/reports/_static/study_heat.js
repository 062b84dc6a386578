// Heat maps: the cell under the pointer, or the one that arrow keys lead to, says its value.

const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The figure carries its labels and values; they are read when they are first asked for.
function heatOf(figure) {
  if (!figure.heat) {
    const stored = JSON.parse(figure.querySelector("metadata").textContent);
    stored.cells = stored.values.split(",");
    figure.heat = stored;
  }
  return figure.heat;
}

function valueWords(heat, row, column) {
  const whole = heat.cells[row * heat.columns.length + column];
  if (whole === "") return "undefined";
  const value = Number(whole) / 10 ** heat.decimals;
  if (heat.scale !== "p") return written(value.toFixed(heat.decimals));
  return value < 0.0001 ? "p < 0.0001" : `p = ${value.toFixed(heat.decimals)}`;
}

function boxOf(figure) {
  const { left, top, cellWidth, cellHeight } = figure.dataset;
  return { left: +left, top: +top, width: +cellWidth, height: +cellHeight };
}

function cellAt(figure, event) {
  const box = boxOf(figure);
  const frame = figure.getBoundingClientRect();
  const scale = figure.viewBox.baseVal.width / frame.width;
  const column = Math.floor(((event.clientX - frame.left) * scale - box.left) / box.width);
  const row = Math.floor(((event.clientY - frame.top) * scale - box.top) / box.height);
  const heat = heatOf(figure);
  const inside = row >= 0 && column >= 0 && row < heat.rows.length && column < heat.columns.length;
  return inside ? { row, column } : null;
}

function leaveCell(figure) {
  figure.querySelector(".cursor")?.remove();
  for (const label of figure.querySelectorAll(".lit")) label.classList.remove("lit");
  figure.cell = null;
  hideHint();
}

function showCell(figure, cell, x, y) {
  leaveCell(figure);
  if (!cell) return;
  const box = boxOf(figure);
  const heat = heatOf(figure);
  figure.cell = cell;
  const place = { x: box.left + cell.column * box.width, y: box.top + cell.row * box.height };
  const size = { width: box.width, height: box.height };
  figure.append(drawn("rect", { ...place, ...size, class: "cursor" }));
  figure.querySelector(".rows").children[cell.row].classList.add("lit");
  figure.querySelector(".columns").children[cell.column].classList.add("lit");
  const names = `${heat.rows[cell.row]} × ${heat.columns[cell.column]}`;
  showHint([valueWords(heat, cell.row, cell.column), names], x, y);
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function walkCells(event) {
  const figure = event.currentTarget;
  if (event.key === "Escape") leaveCell(figure);
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const heat = heatOf(figure);
  const at = figure.cell ?? { row: 0, column: -step[1] };
  const row = Math.min(Math.max(at.row + step[0], 0), heat.rows.length - 1);
  const column = Math.min(Math.max(at.column + step[1], 0), heat.columns.length - 1);
  const box = boxOf(figure);
  const frame = figure.getBoundingClientRect();
  const scale = frame.width / figure.viewBox.baseVal.width;
  const x = frame.left + scale * (box.left + (column + 1) * box.width);
  const y = frame.top + scale * (box.top + (row + 1) * box.height);
  showCell(figure, { row, column }, x, y);
}

// A map that is made smaller to be seen whole can be seen in its own size as well.
function addZoom(figure) {
  const part = figure.closest(".scroll");
  const room = document.querySelector("main").clientWidth;
  if (!part || figure.viewBox.baseVal.width < 1.4 * room) return;
  const button = element("button", "zoom", "Full size");
  button.type = "button";
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", part.classList.toggle("full"));
    markMore();
  });
  part.before(button);
}

for (const figure of document.querySelectorAll("svg.heatmap")) {
  addZoom(figure);
  figure.tabIndex = 0;
  figure.setAttribute("aria-roledescription", "heat map; arrow keys tell its cells");
  const follow = (event) => showCell(figure, cellAt(figure, event), event.clientX, event.clientY);
  figure.addEventListener("pointermove", follow);
  figure.addEventListener("pointerdown", follow);
  figure.addEventListener("pointerleave", () => leaveCell(figure));
  figure.addEventListener("keydown", walkCells);
  figure.addEventListener("blur", () => leaveCell(figure));
}
