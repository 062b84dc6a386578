// The stories that a page carries: names, texts, scores.

const data = JSON.parse(byId("data").textContent);
const ARROWS = { higher: "↑", lower: "↓", descriptive: "–" };

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

function isShown(story) {
  return data.texts.shown[story] !== undefined;
}

function textsOf(story) {
  const shown = data.texts.shown[story];
  const text = (place) => (place === undefined ? "" : data.texts.all[place]);
  return {
    text: text(shown?.text),
    prompt: text(shown?.prompt),
    references: (shown?.references ?? []).map(text),
    blocks: shown?.blocks ?? null,
  };
}

// All numbers of a column have as many decimals.
function rounded(column, value) {
  return written(value.toFixed(data.columns[column].decimals).replace(/^-(?=0\.?0*$)/, ""));
}
