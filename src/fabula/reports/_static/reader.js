// One story: its text beside prompt and reference, with highlights, and all its scores.
// The page says which stories come next (neighbours) and where a reader returns to (returned).

const reader = { story: null, size: { shared: 2, repeated: 3 } };
const SIZES = { shared: [1, 2, 3, 4], repeated: [2, 3, 4, 5, 6, 8] };
const KEYS = {
  shared: "stronger: longer matches, up to four words",
  repeated: "stronger: repeated more often",
  blocks: "two tints tell neighbouring blocks apart",
};
const sortedValues = new Map();

// Halves of characters cannot stand in an address.
function addressed(id) {
  return encodeURIComponent(id.replace(/\p{Surrogate}/gu, "\ufffd"));
}

function hashOf(story) {
  return `#story=${addressed(data.ids[story])}`;
}

function storyOfHash() {
  const wanted = location.hash.match(/^#story=(.*)$/)?.[1];
  return wanted === undefined ? -1 : data.ids.findIndex((id) => addressed(id) === wanted);
}

function highlight() {
  return document.querySelector("input[name=highlight]:checked").value;
}

function openStory(story) {
  reader.story = story;
  const { prompt, references } = textsOf(story);
  byId("reader-title").replaceChildren(element("bdi", "", data.ids[story]));
  const facts = [labelOf("system", story), labelOf("item", story)].filter(Boolean);
  byId("reader-facts").replaceChildren(element("bdi", "", facts.join(" · ")));
  byId("reader-prompt").textContent = prompt;
  byId("reader-prompt").hidden = !prompt;
  byId("reader-absent").hidden = isShown(story);
  document.querySelector(".texts").hidden = !isShown(story);
  byId("reader-beside").hidden = !references.length;
  const beside = data.pictures?.[story];
  byId("reader-pictures").hidden = !beside;
  byId("reader-pictures").firstElementChild.href = `#${beside}`;
  fillReferences(references);
  drawPosition();
  offerHighlights();
  drawTexts();
  drawScores();
  byId("reader").dispatchEvent(new CustomEvent("story", { detail: story }));
  if (!byId("reader").open) byId("reader").showModal();
  byId("reader").scrollTop = 0;
}

function fillReferences(references) {
  const options = references.map((_, place) => {
    const option = element("option", "", `${place + 1} of ${references.length}`);
    option.value = place;
    return option;
  });
  byId("which").replaceChildren(...options);
  byId("which").hidden = references.length < 2;
}

function drawPosition() {
  const order = neighbours();
  const at = order.indexOf(reader.story);
  const total = order.length.toLocaleString("en");
  const place = (at + 1).toLocaleString("en");
  byId("position").textContent = at < 0 ? "not in the list" : `${place} of ${total}`;
  byId("previous").disabled = at <= 0;
  byId("next").disabled = at === order.length - 1 || !order.length;
}

function offerHighlights() {
  const { references, blocks } = textsOf(reader.story);
  const possible = { shared: references.length > 0, blocks: blocks !== null };
  for (const input of document.querySelectorAll("input[name=highlight]")) {
    input.disabled = possible[input.value] === false;
    input.parentElement.hidden = input.value === "blocks" && !possible.blocks;
    if (input.checked && input.disabled) {
      document.querySelector("input[name=highlight][value=repeated]").checked = true;
    }
  }
  document.querySelector("form.highlights").hidden = !isShown(reader.story);
  offerSizes();
}

function offerSizes() {
  const kind = highlight();
  const sizes = SIZES[kind] ?? [];
  const options = sizes.map((size) => {
    const option = element("option", "", kind === "shared" && size < 4 ? `${size} or more` : size);
    option.value = size;
    option.selected = size === reader.size[kind];
    return option;
  });
  byId("size").replaceChildren(...options);
  byId("size-label").hidden = !sizes.length;
  byId("key").textContent = KEYS[kind] ?? "";
}

function drawTexts() {
  const { text, references, blocks } = textsOf(reader.story);
  const which = Number(byId("which").value || 0);
  const reference = references[which] ?? "";
  const size = reader.size[highlight()];
  const spans = {
    none: () => [[], []],
    shared: () => [sharedSpans(text, reference, size), sharedSpans(reference, text, size)],
    repeated: () => [repeatedSpans(text, size), []],
    // Blocks are those of the first reference.
    blocks: () => [blockSpans(blocks, 0), which === 0 ? blockSpans(blocks, 1) : []],
  }[highlight()]();
  for (const id of ["reader-text", "reader-reference"]) byId(id).dataset.highlight = highlight();
  byId("reader-text").replaceChildren(marked(text, spans[0]));
  byId("reader-reference").replaceChildren(marked(reference, spans[1]));
}

function shareBelow(column, value) {
  if (!sortedValues.has(column)) {
    const there = data.values[column].filter(isThere);
    sortedValues.set(column, Float64Array.from(there).sort());
  }
  const values = sortedValues.get(column);
  const lower = values.findIndex((other) => other >= value);
  const higher = values.findLastIndex((other) => other <= value);
  const above = values.length - 1 - higher;
  return (data.columns[column].direction === "lower" ? above : lower) / Math.max(1, values.length);
}

function drawScores() {
  byId("reader-scores").replaceChildren(...columnsShown().map(scoreLine));
}

function scoreLine(column) {
  const facts = data.columns[column];
  const value = data.values[column][reader.story];
  const line = element("div", facts.baseline ? "baseline" : "");
  const name = element("dt");
  name.append(element("span", "metric", facts.title));
  name.title = `${facts.scorer} ${facts.aspect}`.trim();
  name.append(element("span", "arrow", ARROWS[facts.direction]));
  const said = element("dd", "", isThere(value) ? rounded(column, value) : statusOf(value));
  if (isThere(value)) said.append(standing(column, value));
  line.append(name, said);
  return line;
}

function standing(column, value) {
  const share = Math.round(100 * shareBelow(column, value));
  const bar = element("span", "bar");
  bar.style.setProperty("--share", `${share}%`);
  const kind = data.columns[column].direction === "descriptive" ? "higher" : "better";
  const words = `${kind} than ${share} % of ${data.sampled ? "the stories in this file" : "stories"}`;
  bar.title = words;
  bar.append(element("span", "unseen", words));
  return bar;
}

function step(by) {
  const order = neighbours();
  const at = order.indexOf(reader.story);
  const story = order[at < 0 ? 0 : at + by];
  if (story === undefined) return;
  history.replaceState(null, "", hashOf(story));
  openStory(story);
  byId("reader-title").focus();
}

function followHash() {
  const story = storyOfHash();
  if (story >= 0) openStory(story);
  else if (byId("reader").open) byId("reader").close();
}

function readKeys(event) {
  if (isTyping(event.target) && event.key.length > 1) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input[type=radio]") && event.key.startsWith("Arrow")) return;
  const by = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }[event.key];
  if (by) {
    event.preventDefault();
    step(by);
  }
}

byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("close").addEventListener("click", () => byId("reader").close());
byId("reader").addEventListener("close", () => returned(reader.story));
byId("reader").addEventListener("keydown", readKeys);
byId("which").addEventListener("change", drawTexts);
byId("size").addEventListener("change", () => {
  reader.size[highlight()] = Number(byId("size").value);
  drawTexts();
});
for (const input of document.querySelectorAll("input[name=highlight]")) {
  input.addEventListener("change", () => {
    offerSizes();
    drawTexts();
  });
}
document.querySelector("form.highlights").addEventListener("submit", (event) => {
  event.preventDefault();
});
window.addEventListener("hashchange", followHash);
followHash();
