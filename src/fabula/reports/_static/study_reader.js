// The reader of a study: ratings by rater and aspect, and which stories are neighbours.

function columnsShown() {
  return data.columns.map((_, place) => place);
}

function ratingRow(name, values, decimals) {
  const row = element("tr");
  const head = element("th");
  head.scope = "row";
  head.append(element("bdi", "", name));
  const words = (value) => (value === null ? "–" : written(value.toFixed(decimals)));
  row.append(head, ...values.map((value) => element("td", "num", words(value))));
  return row;
}

function drawRatings(story) {
  const { aspects, of, gold } = data.ratings;
  const heads = element("tr");
  heads.append(...["rater", ...aspects].map((name, place) => {
    const head = element("th", place ? "num" : "", name || "rating");
    head.scope = "col";
    return head;
  }));
  const [top, body, foot] = ["thead", "tbody", "tfoot"].map((name) => element(name));
  top.append(heads);
  const whole = of[story].every(([, values]) => values.every(Number.isInteger));
  body.append(...of[story].map(([rater, values]) => ratingRow(rater, values, whole ? 0 : 2)));
  foot.append(ratingRow("mean", gold[story], 2));
  byId("reader-ratings").replaceChildren(top, body, foot);
  requestAnimationFrame(markMore);
}

function neighbours() {
  return exploring.order;
}

// The page goes back to the point that was opened, or to the last one read.
function returned(story) {
  const home = exploring.root.closest("section").id;
  if (storyOfHash() >= 0) history.replaceState(null, "", `#${home}`);
  exploring.root.querySelector(`a[data-story="${story}"]`)?.focus({ preventScroll: true });
}

byId("reader").addEventListener("story", (event) => drawRatings(event.detail));
