// The explorer: stories as points by a metric and what people say; a point opens its story.

const SERIES = 8;
const MARGIN = { left: 48, right: 16, top: 26, bottom: 44 };
const explorers = [...document.querySelectorAll(".explorer")].map((root, place) => ({
  ...data.explorers[place], root, hidden: new Set(), jitter: true, order: [], at: null,
}));
let exploring = explorers[0];

// Colours come round before shapes do, so that no two of 32 systems are drawn alike.
function shapeOf(series, size) {
  const [s, t, low, tip] = [0.88, 1.1, 0.75, 1.25].map((part) => part * size);
  return [
    `M-${size} 0a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 -${2 * size} 0Z`,
    `M-${s} -${s}H${s}V${s}H-${s}Z`,
    `M0 -${t}L${t} ${low}H-${t}Z`,
    `M0 -${tip}L${t} 0L0 ${tip}L-${t} 0Z`,
  ][(series + Math.floor(series / SERIES)) % 4];
}

function labelled(text, control) {
  const label = element("label", "", `${text} `);
  label.append(control);
  return label;
}

function columnName(column) {
  const { scorer, aspect, direction } = data.columns[column];
  const arrow = direction === "descriptive" ? "" : ARROWS[direction];
  return [scorer, aspect, arrow].filter(Boolean).join(" ");
}

function optionOf(text, value, chosen) {
  const option = element("option", "", text);
  option.value = value;
  option.selected = value === chosen;
  return option;
}

function metricSelect(explorer) {
  const select = element("select", "metric");
  for (const [name, baseline] of [["Metrics", false], ["Baselines", true]]) {
    const group = element("optgroup");
    group.label = name;
    const places = columnsShown().filter((place) => data.columns[place].baseline === baseline);
    group.append(...places.map((place) => optionOf(columnName(place), place, explorer.column)));
    if (places.length) select.append(group);
  }
  select.addEventListener("change", () => redraw(explorer, { column: Number(select.value) }));
  return select;
}

function aspectSelect(explorer) {
  const select = element("select");
  const names = data.ratings.aspects.map((name) => name || "rating");
  select.append(...names.map((name, place) => optionOf(name, place, explorer.aspect)));
  select.addEventListener("change", () => redraw(explorer, { aspect: Number(select.value) }));
  return select;
}

function jitterSwitch(explorer) {
  const label = element("label", "switch");
  const box = element("input");
  box.type = "checkbox";
  box.checked = explorer.jitter;
  box.addEventListener("change", () => redraw(explorer, { jitter: box.checked }));
  label.append(box, "spread equal ratings");
  return label;
}

function chip(explorer, system) {
  const label = element("label");
  const box = element("input");
  box.type = "checkbox";
  box.checked = true;
  box.addEventListener("change", () => {
    if (box.checked) explorer.hidden.delete(system);
    else explorer.hidden.add(system);
    redraw(explorer, {});
  });
  const mark = drawn("svg", { width: 12, height: 12, viewBox: "-7 -7 14 14", "aria-hidden": true });
  mark.append(drawn("path", { d: shapeOf(system, 5.5), class: `s${system % SERIES}` }));
  label.append(box, mark, element("bdi", "", data.system.names[system]));
  label.addEventListener("pointerenter", () => raise(explorer, system));
  label.addEventListener("pointerleave", () => raise(explorer, null));
  return label;
}

// All systems, or none: a click on "all" shows what is hidden, or hides what is shown.
function allButton(explorer, chips) {
  const button = element("button", "", "all / none");
  button.type = "button";
  button.addEventListener("click", () => {
    const show = explorer.hidden.size > 0;
    explorer.hidden = new Set(show ? [] : data.system.names.keys());
    for (const box of chips.querySelectorAll("input")) box.checked = show;
    redraw(explorer, {});
  });
  return button;
}

function raise(explorer, system) {
  const cloud = explorer.root.querySelector(".cloud");
  cloud.classList.toggle("dimmed", system !== null);
  for (const link of cloud.querySelectorAll("a")) {
    link.classList.toggle("raised", data.system.of[link.dataset.story] === system);
  }
}

function build(explorer) {
  const form = element("form", "filters");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.append(labelled("Metric (across)", metricSelect(explorer)));
  form.append(labelled("People (up)", aspectSelect(explorer)), jitterSwitch(explorer));
  const chips = element("fieldset", "chips");
  chips.append(element("legend", "", "Systems"));
  chips.append(...data.system.names.map((_, system) => chip(explorer, system)));
  chips.append(allButton(explorer, chips));
  const cloud = drawn("svg", { class: "fig cloud", role: "group" });
  cloud.setAttribute("aria-label", "Stories as points; arrow keys walk, Enter opens");
  const count = element("p", "legend count");
  count.setAttribute("role", "status");
  explorer.root.replaceChildren(form, chips, element("dl", "coefficients"), cloud, count);
  cloud.addEventListener("keydown", (event) => walkPoints(explorer, event));
  cloud.addEventListener("click", () => { exploring = explorer; });
  let width = 0;
  new ResizeObserver(() => {
    if (explorer.root.clientWidth === width) return;
    width = explorer.root.clientWidth;
    redraw(explorer, {});
  }).observe(explorer.root);
}

function redraw(explorer, changes) {
  Object.assign(explorer, changes);
  exploring = explorer;
  drawCoefficients(explorer);
  drawPoints(explorer);
}

function drawCoefficients(explorer) {
  const given = explorer.coefficients[explorer.column][explorer.aspect];
  const pairs = (given ?? []).map((value, place) => {
    const pair = element("div");
    const words = value === null ? "undefined" : written(value.toFixed(3));
    pair.append(element("dt", "", explorer.names[place]), element("dd", "", words));
    return pair;
  });
  if (given) pairs.push(element("span", "legend", explorer.about));
  explorer.root.querySelector(".coefficients").replaceChildren(...pairs);
}
