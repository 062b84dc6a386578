// Publishing, and rating what was suggested, in one step. A rating that does not get through is
// kept in the browser and sent again.

import { call, newKey, spellProblem } from "../../src/fabula/web/static/api.js";
import { announce, count, countWords, make, openBox, store } from "./dom.js";

const MOST_COMMENT = 5000;
const keyOf = (person) => `fabula-ratings-${person.id}`;

// Ratings that were kept: { suggestion id: body }. Gives those that still could not be sent.
export async function sendKept(person) {
  const kept = store.read(keyOf(person), {});
  for (const [id, body] of Object.entries(kept)) {
    try {
      await call("PUT", `suggestions/${id}/ratings`, body);
      delete kept[id];
    } catch (problem) {
      // What will never be taken is not kept for ever.
      if ([403, 404, 409, 422].includes(problem.status)) delete kept[id];
    }
  }
  store.write(keyOf(person), Object.keys(kept).length ? kept : null);
  return kept;
}

function drawQuestion(question, id) {
  const name = `${question.aspect}-${id}`;
  const anchors = { 1: question.low, 5: question.high };
  return make("fieldset", { class: "question" },
    make("legend", {}, make("strong", {}, question.title), ` ${question.text}`),
    make("div", { class: "scale" },
      make("span", { class: "anchor", "aria-hidden": "true" }, question.low),
      [1, 2, 3, 4, 5].map((value) => make("label", {},
        make("input", { type: "radio", name, value: String(value), "data-id": id, "data-aspect": question.aspect }),
        make("span", {}, String(value)),
        anchors[value] ? make("span", { class: "unseen" }, ` ${anchors[value]}`) : null)),
      make("span", { class: "anchor", "aria-hidden": "true" }, question.high)));
}

export function createPublisher({ desk, data, suggester, cards, nameOf }) {
  let usedIds = new Set();

  function drawSuggestion(suggestion) {
    const comment = `comment-${suggestion.id}`;
    const text = suggestion.generated.trim();
    return make("section", { class: "rated" },
      make("h3", {}, nameOf(suggestion), " ",
        make("span", { class: "quiet" }, count(countWords(text), "word"))),
      make("details", {}, make("summary", {}, `“${text.slice(0, 90)}${text.length > 90 ? "…" : ""}”`),
        make("p", { class: "prose" }, text)),
      data.questions.map((question) => drawQuestion(question, suggestion.id)),
      make("label", { for: comment }, "Anything else? ", make("span", { class: "quiet" }, "if you like")),
      make("textarea", { id: comment, "data-comment": suggestion.id, maxlength: MOST_COMMENT, rows: 2 }));
  }

  function readRatings(form) {
    const bodies = {};
    const of = (id) => (bodies[id] ??= { ratings: {}, comment: "" });
    for (const input of form.querySelectorAll("input:checked")) {
      of(input.dataset.id).ratings[input.dataset.aspect] = Number(input.value);
    }
    for (const area of form.querySelectorAll("[data-comment]")) {
      if (area.value.trim()) of(area.dataset.comment).comment = area.value;
    }
    return bodies;
  }

  async function open() {
    let done = [];
    try {
      await desk.flush();
      const [draft, suggested] = await Promise.all([
        call("GET", `drafts/${data.draft.id}`), suggester.read(),
      ]);
      usedIds = new Set(draft.marks.map(([, , id]) => id).filter(Boolean));
      if (!draft.text.trim()) {
        return openBox("Nothing to publish yet", (close) => [
          make("p", {}, "The sheet is empty. Write something, or let a co-author suggest a beginning."),
          make("div", { class: "actions" }, make("button", { type: "button", "data-first": true, onclick: close }, "Back to writing")),
        ]);
      }
      done = suggested.filter((each) => each.status === "done" && each.generated.trim());
    } catch (problem) {
      return openBox("Not now", (close) => [
        make("p", { role: "alert" }, `Your text is kept here. ${spellProblem(problem)}`),
        make("div", { class: "actions" }, make("button", { type: "button", onclick: close }, "Back to writing")),
      ]);
    }
    openBox("Publish", (close) => drawForm(done, close), { wide: true });
  }

  function drawForm(done, close) {
    const used = done.filter((each) => usedIds.has(each.id));
    const unused = done.filter((each) => !usedIds.has(each.id));
    const alert = make("p", { role: "alert" });
    const publish = make("button", { class: "first" }, "Publish");
    const isWaiting = suggester.isWriting;
    const form = make("form", { class: "publish" },
      make("p", {}, `${count(desk.words(), "word")} go into the scene as they are now; a published entry is not changed any more.`,
        isWaiting ? " What is still being suggested is stopped." : ""),
      cards.tell() ? make("p", { class: "legend" }, cards.tell()) : null,
      used.length ? make("p", {}, "What do you think of what was suggested? Answer what you like; you may leave all of it out.") : null,
      used.map(drawSuggestion),
      unused.length ? make("details", { class: "fold" },
        make("summary", {}, `Rate ${count(unused.length, "suggestion")} you did not use`),
        unused.map(drawSuggestion)) : null,
      alert,
      make("div", { class: "actions sticky" }, publish,
        make("button", { type: "button", onclick: close }, "Not yet")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      publish.disabled = true;
      publish.textContent = "Publishing…";
      alert.textContent = "";
      try {
        await send(readRatings(form), done);
      } catch (problem) {
        alert.textContent = spellProblem(problem);
        publish.disabled = false;
        publish.textContent = "Publish";
        publish.focus();
      }
    });
    return form;
  }

  async function send(ratings, done) {
    suggester.dismiss();
    await cards.settle();
    const version = await desk.flush();
    const published = await call("POST", `drafts/${data.draft.id}/publish`, { version });
    desk.setEditable(false);
    // From here on it is published: ratings may fail, and are kept until they do not.
    if (Object.keys(ratings).length) {
      store.write(keyOf(data.person), { ...store.read(keyOf(data.person), {}), ...ratings });
    }
    const unsent = await sendKept(data.person);
    showResult(published, done, Object.keys(unsent).filter((id) => ratings[id]).length);
  }

  function drawKept(suggestion, scores) {
    const score = (scorer, aspect) =>
      scores.find((each) => each.scorer === scorer && each.aspect === aspect)?.value ?? null;
    const user = score("user", "precision");
    // USER counts words of letters and digits, in lower case.
    const words = (suggestion.generated.match(/[A-Za-z0-9]+/g) ?? []).length;
    return make("li", {}, make("strong", {}, nameOf(suggestion)),
      user === null ? " no score" : ` USER ${Math.round(100 * user)} %: ${Math.round(user * words)} of `
        + `${count(words, "word")} kept`);
  }

  function showResult(published, done, unsent) {
    announce(`Published as entry ${published.seq_id}.`);
    const scored = done.filter((each) => published.scores.some((score) => score.suggestion_id === each.id));
    openBox(`Published as entry ${published.seq_id}`, () => {
      const late = make("p", { role: "alert" }, unsent
        ? `${count(unsent, "rating")} could not be sent; kept here, and sent when you open the editor again.` : "");
      const next = make("button", { type: "button", onclick: () => begin(late) }, "Write the next");
      return [
        scored.length ? make("ul", { class: "kept" }, scored.map((each) => drawKept(each,
          published.scores.filter((score) => score.suggestion_id === each.id)))) : null,
        late,
        make("div", { class: "actions" },
          make("a", { class: "button first", href: `/games/${data.game.id}`, "data-first": true }, "To the game"),
          make("a", { class: "button", href: `/drafts/${data.draft.id}/replay` }, "Replay"),
          next),
      ].filter(Boolean);
    }, { onclose: () => location.reload() });
  }

  async function begin(alert) {
    const { game_id, scene_id, character_id, format } = data.draft;
    try {
      const draft = await call("POST", "drafts", { key: newKey(), game_id, scene_id, format,
        ...(character_id ? { character_id } : {}) });
      location.assign(`/drafts/${draft.id}`);
    } catch (problem) {
      alert.textContent = spellProblem(problem);
    }
  }

  return { open };
}
