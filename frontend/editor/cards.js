// Cards on the table: a move plays cards out of its character's hand on one challenge of the scene;
// a narrator lays a place, challenges, and cards to be picked up.

import { call, newKey, spellProblem } from "../../src/fabula/web/static/api.js";
import { count, find, make } from "./dom.js";

const KINDS = {
  chartype: "Nature", goal: "Goal", person: "Character", place: "Place", thing: "Asset",
  strength: "Strength", weakness: "Weakness", obstacle: "Obstacle", subplot: "Subplot",
};
const OUTCOMES = { 1: "came out strong", 0: "came out uncertain", "-1": "came out weak" };
const MANY = 12;

export function createCards(data) {
  const panel = find("panel-cards");
  const alert = make("p", { role: "alert" });
  const laid = structuredClone(data.draft.cards);
  const cardOf = (id) => data.cards.find((card) => card.card_id === id);
  let challenges = [];
  let sending = Promise.resolve();

  // One after the other: what was chosen last is what stands.
  function send() {
    const cards = Object.fromEntries(Object.entries(laid).filter(([, ids]) => ids.length));
    alert.textContent = "";
    sending = sending.then(() => call("PATCH", `drafts/${data.draft.id}`, { cards })).catch((problem) => {
      alert.textContent = `The cards are not saved: ${spellProblem(problem)}`;
    });
    return sending;
  }

  const has = (use, id) => (laid[use] ?? []).includes(id);
  const amount = (id) => (laid.played ?? []).filter((each) => each === id).length;

  function lay(use, ids) {
    laid[use] = ids;
    // A target without cards, or cards without a target, cannot be played: the rest is told below.
    send();
    drawNote();
  }

  const describe = (card) => [
    card.description ? make("p", { class: "prose" }, card.description) : null,
    card.success_stakes ? make("p", { class: "legend" }, `If it goes well: ${card.success_stakes}`) : null,
    card.failure_stakes ? make("p", { class: "legend" }, `If it goes badly: ${card.failure_stakes}`) : null,
  ];

  function choice(card, { type, name, checked, disabled, onchange, extra }) {
    const input = make("input", { type, name, id: `${name}-${card.card_id}`, checked, disabled, onchange });
    return make("li", { class: disabled ? "play off" : "play" }, input,
      make("div", {},
        make("label", { for: input.id }, card.name, " ",
          make("span", { class: "quiet" }, [KINDS[card.namespace], extra].filter(Boolean).join(" · "))),
        describe(card)));
  }

  // ---- a move ----
  function drawChallenges() {
    if (!challenges.length) {
      return make("p", { class: "quiet" }, "The scene has no challenge: no cards can be played now.");
    }
    const none = { card_id: "", name: "No challenge", namespace: "" };
    return make("ul", { class: "plays" },
      choice(none, { type: "radio", name: "target", checked: !laid.target?.length,
        onchange: () => { lay("target", []); lay("played", []); draw(); } }),
      challenges.map((challenge) => {
        const card = cardOf(challenge.card_id) ?? { ...challenge, namespace: "obstacle" };
        const isOver = challenge.points_left === 0;
        const extra = isOver ? OUTCOMES[challenge.outcome] ?? "complete"
          : `${challenge.points_left} of ${count(challenge.points, "point")} left`;
        return choice(card, { type: "radio", name: "target", disabled: isOver, extra,
          checked: has("target", card.card_id),
          onchange: () => { lay("target", [card.card_id]); draw(); } });
      }));
  }

  function drawHand() {
    const hand = data.cards.filter((card) => card.character_id === data.draft.character_id
      && data.played_kinds.includes(card.namespace));
    if (!hand.length) return make("p", { class: "quiet" }, "The character has no cards in hand.");
    const target = challenges.find((each) => has("target", each.card_id));
    const room = target?.points_left ?? 0;
    return make("ul", { class: "plays" }, hand.map((card) => {
      if (card.is_wild) return drawWild(card);
      const most = Math.min(card.stack_size ?? room, room);
      const extra = card.stack_size === null ? "" : card.stack_size ? `${card.stack_size} left` : "used up";
      if (most > 1) return drawAmount(card, most, extra);
      return choice(card, { type: "checkbox", name: "played", extra, checked: has("played", card.card_id),
        disabled: !most && !has("played", card.card_id),
        onchange: (event) => play(card, event.target.checked ? 1 : 0) });
    }));
  }

  function drawAmount(card, most, extra) {
    const input = make("input", { type: "number", min: 0, max: most, id: `played-${card.card_id}`,
      value: amount(card.card_id),
      onchange: () => play(card, Math.max(0, Math.min(most, Math.round(Number(input.value)) || 0))) });
    return make("li", { class: "play" }, input, make("div", {},
      make("label", { for: input.id }, card.name, " ",
        make("span", { class: "quiet" }, [KINDS[card.namespace], extra, "how many"].filter(Boolean).join(" · "))),
      describe(card)));
  }

  // A wild card is first written as a card of one's own.
  function drawWild(card) {
    const name = make("input", { required: true, maxlength: 300, id: `wild-${card.card_id}` });
    const form = make("form", { class: "wild" },
      make("label", { for: name.id }, `Wild ${KINDS[card.namespace].toLowerCase()}: write it as`), name,
      make("button", {}, "Exchange"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      form.dataset.key ||= newKey();
      try {
        const made = await call("POST",
          `games/${data.game.id}/cards/${encodeURIComponent(card.card_id)}/exchange`,
          { key: form.dataset.key, name: name.value });
        if (card.stack_size !== null) card.stack_size -= 1;
        if (card.stack_size === 0) data.cards.splice(data.cards.indexOf(card), 1);
        data.cards.push(made);
        draw();
      } catch (problem) {
        alert.textContent = spellProblem(problem);
      }
    });
    return make("li", { class: "play" }, form);
  }

  function play(card, number) {
    const others = (laid.played ?? []).filter((id) => id !== card.card_id);
    lay("played", [...others, ...Array(number).fill(card.card_id)]);
  }

  // ---- a narrator ----
  function drawUse(use, title, cards, type = "checkbox") {
    if (!cards.length) return [];
    const list = make("ul", { class: "plays" }, cards.map((card) => choice(card, { type, name: use,
      checked: has(use, card.card_id),
      extra: use === "challenge" ? count(card.challenge_points, "point") : "",
      onchange: (event) => {
        const others = type === "radio" ? [] : (laid[use] ?? []).filter((id) => id !== card.card_id);
        lay(use, event.target.checked ? [...others, card.card_id] : others);
      } })));
    const none = type === "radio" ? make("button", { type: "button", class: "plain",
      onclick: () => { lay(use, []); draw(); } }, "None") : null;
    const filter = cards.length > MANY ? make("input", { type: "search", placeholder: "Find a card",
      "aria-label": `Find among: ${title}`,
      oninput: (event) => {
        const words = event.target.value.toLowerCase();
        for (const [number, item] of [...list.children].entries()) {
          item.hidden = !cards[number].name.toLowerCase().includes(words);
        }
      } }) : null;
    return [make("h3", {}, title, " ", none), filter, list].filter(Boolean);
  }

  const note = make("p", { class: "legend" });
  function drawNote() {
    const [played, target] = [laid.played?.length ?? 0, laid.target?.length ?? 0];
    note.textContent = data.narrated ? ""
      : played && !target ? "Choose the challenge that these cards are played on."
      : target && !played ? "Choose the cards to play, or no challenge."
      : played ? `${count(played, "card")} will be played when you publish.`
      : challenges.some((each) => each.points_left) ? "Choose a challenge, then cards to play on it." : "";
  }

  function draw() {
    const body = data.narrated ? [
      ...drawUse("challenge", "Challenges to set", data.cards.filter((card) =>
        ["obstacle", "person"].includes(card.namespace) && card.challenge_points)),
      ...drawUse("place", "Where it is", data.cards.filter((card) => card.namespace === "place"), "radio"),
      ...drawUse("pickup", "Cards to be picked up", data.cards.filter((card) =>
        data.played_kinds.includes(card.namespace) && !card.character_id)),
    ] : [make("h3", {}, "Challenge"), drawChallenges(), make("h3", {}, "In hand"), drawHand()];
    const focused = document.activeElement?.id;
    panel.replaceChildren(alert, note,
      ...(body.length ? body : [make("p", { class: "quiet" }, "The game has no cards to lay on the table.")]));
    if (focused && panel.querySelector(`#${CSS.escape(focused)}`)) find(focused).focus();
    drawNote();
  }

  async function open() {
    draw();
    if (data.narrated) return;
    try {
      const scene = data.scenes.at(-1).id;
      ({ items: challenges } = await call("GET", `games/${data.game.id}/scenes/${scene}/challenges?limit=500`));
      draw();
    } catch (problem) {
      alert.textContent = spellProblem(problem);
    }
  }

  const isPlayable = () => Boolean(laid.played?.length) === Boolean(laid.target?.length);

  // What publishing will do with cards, in a sentence.
  function tell() {
    const names = (use) => (laid[use] ?? []).map((id) => cardOf(id)?.name ?? id).join(", ");
    if (!isPlayable()) return laid.played?.length
      ? "Cards are chosen but no challenge: none will be played."
      : "A challenge is chosen but no cards: none will be played.";
    if (laid.played?.length) return `Plays ${names("played")} on ${names("target")}.`;
    const lying = ["challenge", "place", "pickup"].map(names).filter(Boolean);
    return lying.length ? `Lays on the table: ${lying.join(", ")}.` : "";
  }

  // What would be refused is taken off the table before publishing; `tell` has said so.
  async function settle() {
    if (!isPlayable()) {
      [laid.played, laid.target] = [[], []];
      send();
      draw();
    }
    await sending;
  }
  return { open, settle, tell };
}
