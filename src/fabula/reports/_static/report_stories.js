// The list of stories: search, filters, order, pages.

const PER_PAGE = 20;
const MOST_SUGGESTED = 500;
const list = { order: [], page: 0, column: null, ascending: true };

function isFound(story, words) {
  const labels = [data.ids[story], labelOf("system", story), labelOf("item", story)];
  if (labels.some((label) => label.toLowerCase().includes(words))) return true;
  const { text, prompt } = textsOf(story);
  return text.toLowerCase().includes(words) || prompt.toLowerCase().includes(words);
}

function isWanted(story, wanted) {
  return (
    (!wanted.system || labelOf("system", story) === wanted.system) &&
    (!wanted.item || labelOf("item", story).toLowerCase().includes(wanted.item)) &&
    (!wanted.withText || isShown(story)) &&
    (!wanted.words || isFound(story, wanted.words))
  );
}

function keyOf(story, column) {
  if (column === "story") return data.ids[story];
  if (column === "system" || column === "item") return labelOf(column, story);
  const value = data.values[column][story];
  return isThere(value) ? value : null;
}

function arrange() {
  const wanted = {
    words: byId("search").value.trim().toLowerCase(),
    system: byId("system").value,
    item: byId("item").value.trim().toLowerCase(),
    withText: byId("with-text").checked,
  };
  list.order = data.ids.map((_, story) => story).filter((story) => isWanted(story, wanted));
  if (list.column === null) {
    list.order.sort((one, other) => isShown(other) - isShown(one) || one - other);
  } else {
    const key = new Map(list.order.map((story) => [story, keyOf(story, list.column)]));
    list.order.sort(
      (one, other) => compared(key.get(one), key.get(other), !list.ascending) || one - other,
    );
  }
  list.page = 0;
  drawStories();
}

function drawHead() {
  const row = element("tr");
  const columns = ["story", "system", "item", ...columnsShown()];
  for (const column of columns) row.append(headCell(column));
  document.querySelector("table.stories thead").replaceChildren(row);
}

function headCell(column) {
  const facts = data.columns[column];
  const head = element("th", facts ? "num" : column === "story" ? "system" : "");
  head.scope = "col";
  head.dataset.first = facts && facts.direction !== "lower" ? "descending" : "ascending";
  if (facts?.baseline && !data.columns[column - 1]?.baseline) head.classList.add("edge");
  const button = facts ? headOf(facts) : element("button", "sort", column);
  button.type = "button";
  button.addEventListener("click", () => sortStories(column, turned(head)));
  head.append(button);
  if (list.column === column) {
    head.setAttribute("aria-sort", list.ascending ? "ascending" : "descending");
  }
  return head;
}

function sortStories(column, order) {
  list.column = column;
  list.ascending = order === "ascending";
  arrange();
  // The head was drawn anew: the focus goes to the same column's.
  const place = ["story", "system", "item", ...columnsShown()].indexOf(column);
  document.querySelectorAll("table.stories thead button")[place].focus();
}

function drawStories() {
  drawHead();
  const start = list.page * PER_PAGE;
  const rows = list.order.slice(start, start + PER_PAGE).map(storyRow);
  document.querySelector("table.stories tbody").replaceChildren(...rows);
  const end = Math.min(start + PER_PAGE, list.order.length);
  const total = list.order.length.toLocaleString("en");
  byId("count").textContent = list.order.length
    ? `${(start + 1).toLocaleString("en")}–${end.toLocaleString("en")} of ${total} ${list.order.length === 1 ? "story" : "stories"}`
    : "No story is like that.";
  byId("earlier").disabled = start === 0;
  byId("later").disabled = end >= list.order.length;
}

function storyRow(story) {
  const row = element("tr");
  const head = element("th", "system");
  head.scope = "row";
  head.append(storyLink(story));
  head.append(isShown(story) ? preview(story) : element("span", "quiet", "scores only"));
  row.append(head, labelCell("system", story), labelCell("item", story));
  for (const column of columnsShown()) row.append(scoreCell(column, story));
  return row;
}

// The beginning of a story; how much of it is seen is up to the style.
function preview(story) {
  const words = element("span", "preview", textsOf(story).text.slice(0, 240).trim());
  words.dir = "auto";
  return words;
}

function storyLink(story) {
  const link = element("a", "story-link");
  link.append(element("bdi", "", data.ids[story]));
  link.href = hashOf(story);
  return link;
}

function labelCell(kind, story) {
  const cell = element("td");
  cell.append(element("bdi", "", labelOf(kind, story) || "–"));
  return cell;
}

function scoreCell(column, story) {
  const value = data.values[column][story];
  const cell = element("td", "num", isThere(value) ? rounded(column, value) : "–");
  cell.title = isThere(value) ? written(value) : statusOf(value);
  const facts = data.columns[column];
  if (facts.baseline && !data.columns[column - 1]?.baseline) cell.classList.add("edge");
  return cell;
}

function turnPage(by) {
  list.page += by;
  drawStories();
  document.querySelector("a.story-link")?.focus();
}

// j and k walk down and up the links of the list.
function walk(event) {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || byId("reader").open || isTyping(event.target)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...document.querySelectorAll("a.story-link")];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

function fillFilters() {
  for (const name of data.system.names) {
    const option = element("option", "", name);
    option.value = name;
    byId("system").append(option);
  }
  for (const name of data.item.names.slice(0, MOST_SUGGESTED)) {
    const option = element("option");
    option.value = name;
    byId("items").append(option);
  }
}

function neighbours() {
  return list.order;
}

// The page goes to where the reader was in the list, or to where a link has led.
function returned(story) {
  const beside = data.pictures?.[story];
  if (beside && location.hash === `#${beside}`) {
    byId(beside).scrollIntoView();
    return;
  }
  if (storyOfHash() >= 0) history.replaceState(null, "", "#stories");
  const at = list.order.indexOf(story);
  if (at < 0) return;
  list.page = Math.floor(at / PER_PAGE);
  drawStories();
  document.querySelectorAll("a.story-link")[at % PER_PAGE]?.focus();
}

fillFilters();
for (const id of ["search", "system", "item", "with-text"]) {
  byId(id).addEventListener("input", arrange);
}
document.querySelector("form.filters").addEventListener("submit", (event) => {
  event.preventDefault();
});
byId("earlier").addEventListener("click", () => turnPage(-1));
byId("later").addEventListener("click", () => turnPage(1));
document.addEventListener("keydown", walk);
arrange();
