// The points of an explorer, their axes, and walking among them.

// Smallest step of 1, 2 or 5 times a power of ten that makes few enough ticks.
function ticksOf(low, high, most) {
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = [1, 2, 5, 10, 20].map((part) => part * power)
    .find((one) => (high - low) / one <= most);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) {
    ticks.push({ at: n * step, words: written((n * step + 0).toFixed(decimals)) });
  }
  return ticks;
}

function scaleOf(values, start, end) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) [low, high] = [0, 1];
  const room = high > low ? (high - low) * 0.04 : 0.5;
  [low, high] = [low - room, high + room];
  const place = (value) => start + ((value - low) / (high - low)) * (end - start);
  return { low, high, place };
}

// How far equal ratings are spread: less than the smallest step between means.
function jitterRoom(explorer) {
  if (!explorer.jitter) return 0;
  const known = new Set(data.ratings.gold.map((means) => means[explorer.aspect]));
  known.delete(null);
  const means = [...known].sort((one, other) => one - other);
  const steps = means.slice(1).map((mean, place) => mean - means[place]);
  return means.length > 60 || !steps.length ? 0 : 0.7 * Math.min(...steps);
}

// Deterministic, so that a point stays where it was.
function jitterOf(story) {
  return ((story * 2654435761) % 4294967296) / 4294967296 - 0.5;
}

function pointsOf(explorer) {
  const found = [];
  const room = jitterRoom(explorer);
  for (const story of data.ids.keys()) {
    const x = data.values[explorer.column][story];
    const y = data.ratings.gold[story][explorer.aspect];
    if (!isThere(x) || y === null) continue;
    found.push({ story, x, y: y + room * jitterOf(story), gold: y });
  }
  return found;
}

function wordsAt(text, x, y, kind, anchor) {
  const made = drawn("text", { x, y, class: kind, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

function axesOf(across, up, width, height, explorer) {
  const [bottom, right] = [height - MARGIN.bottom, width - MARGIN.right];
  const parts = [];
  for (const { at, words } of ticksOf(across.low, across.high, width < 500 ? 4 : 8)) {
    const x = across.place(at);
    parts.push(drawn("path", { d: `M${x} ${MARGIN.top}V${bottom}`, class: "grid" }));
    parts.push(wordsAt(words, x, bottom + 16, "tick", "middle"));
  }
  for (const { at, words } of ticksOf(up.low, up.high, 6)) {
    const y = up.place(at);
    parts.push(drawn("path", { d: `M${MARGIN.left} ${y}H${right}`, class: "grid" }));
    parts.push(wordsAt(words, MARGIN.left - 8, y + 4, "tick", "end"));
  }
  const aspect = data.ratings.aspects[explorer.aspect] || "rating";
  parts.push(wordsAt(`${aspect}, mean of raters`, 0, 12, "axis-name", "start"));
  const middle = (MARGIN.left + right) / 2;
  parts.push(wordsAt(columnName(explorer.column), middle, height - 8, "axis-name", "middle"));
  return parts;
}

function drawPoints(explorer) {
  const cloud = explorer.root.querySelector(".cloud");
  const width = Math.max(explorer.root.clientWidth, 300);
  const height = Math.round(Math.min(Math.max(width * 0.55, 340), 560));
  const all = pointsOf(explorer);
  const across = scaleOf(all.map((one) => one.x), MARGIN.left, width - MARGIN.right);
  const up = scaleOf(all.map((one) => one.y), height - MARGIN.bottom, MARGIN.top);
  const shown = all.filter((one) => !explorer.hidden.has(data.system.of[one.story]));
  shown.sort((one, other) => one.x - other.x || one.y - other.y || one.story - other.story);
  explorer.order = shown.map((one) => one.story);
  if (!explorer.order.includes(explorer.at)) explorer.at = explorer.order[0] ?? null;
  cloud.setAttribute("viewBox", `0 0 ${width} ${height}`);
  cloud.setAttribute("height", height);
  const size = width < 500 ? 3.5 : shown.length > 400 ? 4 : 5;
  const points = shown.map((one) => {
    const place = `translate(${across.place(one.x).toFixed(1)} ${up.place(one.y).toFixed(1)})`;
    return pointOf(explorer, one, place, size);
  });
  cloud.replaceChildren(...axesOf(across, up, width, height, explorer), ...points);
  sayCount(explorer, all.length);
}

function sayCount(explorer, there) {
  const [shown, total, missing] = [explorer.order.length, data.ids.length, data.ids.length - there]
    .map((number) => number.toLocaleString("en"));
  const told = [`${shown} of ${total} stories`];
  if (missing !== "0") told.push(`${missing} without a value or a rating`);
  told.push("a point opens its story");
  explorer.root.querySelector(".count").textContent = told.join("; ");
}

function pointOf(explorer, point, transform, size) {
  const system = data.system.of[point.story];
  const series = system < 0 ? SERIES - 1 : system;
  const link = drawn("a", { href: hashOf(point.story), "data-story": point.story });
  link.setAttribute("tabindex", point.story === explorer.at ? 0 : -1);
  const name = labelOf("system", point.story);
  const facts = `${written(point.x)}; ${written(Number(point.gold.toFixed(2)))}`;
  link.setAttribute("aria-label", `${data.ids[point.story]}, ${name}: ${facts}`);
  const kind = `point s${series % SERIES}`;
  link.append(drawn("path", { d: shapeOf(series, size), transform, class: kind }));
  const tell = () => hintOf(explorer, point, link);
  link.addEventListener("pointerenter", tell);
  link.addEventListener("focus", tell);
  link.addEventListener("pointerleave", hideHint);
  link.addEventListener("blur", hideHint);
  return link;
}

function hintOf(explorer, point, link) {
  const frame = link.getBoundingClientRect();
  const aspect = data.ratings.aspects[explorer.aspect] || "rating";
  const text = textsOf(point.story).text;
  showHint([
    data.ids[point.story],
    labelOf("system", point.story),
    `${columnName(explorer.column)} ${written(point.x)}`,
    `${aspect} ${written(Number(point.gold.toFixed(2)))}`,
    text.length > 110 ? `${text.slice(0, 110).trimEnd()}…` : text,
  ], frame.right, frame.bottom);
}

// Left and right go by the metric, up and down by what people say.
function walkPoints(explorer, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!step || explorer.at === null) return;
  event.preventDefault();
  const gold = (story) => data.ratings.gold[story][explorer.aspect];
  const upward = event.key === "ArrowUp" || event.key === "ArrowDown";
  const order = upward ? [...explorer.order].sort((a, b) => gold(a) - gold(b)) : explorer.order;
  const now = Number(event.target.closest("a")?.dataset.story ?? explorer.at);
  const to = order[order.indexOf(now) + step];
  if (to === undefined) return;
  const links = explorer.root.querySelector(".cloud");
  links.querySelector(`a[data-story="${explorer.at}"]`)?.setAttribute("tabindex", -1);
  explorer.at = to;
  const link = links.querySelector(`a[data-story="${to}"]`);
  link.setAttribute("tabindex", 0);
  link.focus({ preventScroll: true });
}

for (const explorer of explorers) build(explorer);
for (const explorer of explorers) redraw(explorer, {});
exploring = explorers[0];
