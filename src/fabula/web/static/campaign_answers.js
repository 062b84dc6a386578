// The questions of a task: reads what is answered on the page, fills in what was, and says what is
// missing. A field is a question, of one story or of all that are shown.

import { makeRanking } from "./campaign_ranking.js";

const checked = (root, name) => root.querySelector(`input[name="${name}"]:checked`);
const countWords = (text) => text.split(/\s+/u).filter(Boolean).length;
const spellCount = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function pickRadio(root, name, value) {
  for (const radio of root.querySelectorAll(`input[type=radio][name="${name}"]`)) {
    radio.checked = value !== undefined && value !== null && radio.value === String(value);
  }
}

// The n-th answer of a list of radios, by its digit; the one with that value, on a scale.
function pressDigit(root, digit, { byValue = false } = {}) {
  const radios = [...root.querySelectorAll("input[type=radio]")];
  const radio = byValue ? radios.find(({ value }) => value === String(digit)) : radios[digit - 1];
  if (!radio || radio.disabled) return false;
  radio.focus({ preventScroll: true });
  radio.click();
  return true;
}

class Field {
  constructor(root) {
    const { question, kind, story, required, least, most } = root.dataset;
    Object.assign(this, { root, name: question, kind, story, least: +least, most: +most });
    this.isRequired = required !== undefined;
    this.wrong = root.querySelector(".wrong");
  }

  // What is not answered yet, as a sentence; nothing where all is well.
  get lack() {
    return this.isRequired && this.value === undefined ? "Please answer this." : "";
  }

  press() {
    return false;
  }

  focus() {
    const control = this.root.querySelector("input:checked, :is(input, textarea, button):enabled");
    control?.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "center" });
  }

  say(words) {
    this.wrong.textContent = words;
    this.root.toggleAttribute("data-lacking", Boolean(words));
  }
}

class ScaleField extends Field {
  get input() {
    return this.root.querySelector("input[type=number]");
  }

  // A number that is none of those there are is no answer yet.
  get value() {
    if (this.input && !this.input.checkValidity()) return undefined;
    const given = this.input ? this.input.value : checked(this.root, this.root.id)?.value;
    return given === undefined || given === "" ? undefined : Number(given);
  }

  set value(value) {
    if (this.input) this.input.value = value ?? "";
    // Of an instructed answer it is kept what was asked for as well.
    else pickRadio(this.root, this.root.id, value?.given ?? value);
  }

  get lack() {
    if (this.input && !this.input.checkValidity()) {
      return `Please give a whole number from ${this.input.min} to ${this.input.max}.`;
    }
    return super.lack;
  }

  press(digit) {
    return !this.input && pressDigit(this.root, digit, { byValue: true });
  }
}

class ChoiceField extends Field {
  get value() {
    return checked(this.root, this.root.id)?.value;
  }

  set value(value) {
    pickRadio(this.root, this.root.id, value);
  }

  press(digit) {
    return pressDigit(this.root, digit);
  }
}

class TextField extends Field {
  constructor(root) {
    super(root);
    this.area = root.querySelector("textarea");
    this.area.addEventListener("input", () => this.count());
  }

  get value() {
    return this.area.value.trim() ? this.area.value : undefined;
  }

  set value(value) {
    this.area.value = value ?? "";
    this.count();
  }

  count() {
    const place = this.root.querySelector("[data-words]");
    if (place) place.textContent = String(countWords(this.area.value));
  }

  get lack() {
    const words = countWords(this.area.value);
    if ((this.isRequired || words) && words < this.least) {
      return `Please write at least ${spellCount(this.least, "word")}: there ${words === 1 ? "is" : "are"} ${words}.`;
    }
    return super.lack;
  }
}

class BestWorstField extends Field {
  ends = ["best", "worst"].map((end) => [end, `${this.root.id}-${end}`]);

  constructor(root) {
    super(root);
    // The best cannot be the worst as well: what was said last holds.
    root.addEventListener("change", ({ target }) => {
      const [, other] = this.ends.find(([, name]) => name !== target.name);
      if (checked(root, other)?.value === target.value) pickRadio(root, other, null);
    });
  }

  get value() {
    const given = this.ends.map(([end, name]) => [end, checked(this.root, name)?.value]);
    const answered = given.filter(([, value]) => value !== undefined);
    return answered.length ? Object.fromEntries(answered) : undefined;
  }

  set value(value) {
    for (const [end, name] of this.ends) pickRadio(this.root, name, value?.[end]);
  }

  get lack() {
    const { best, worst } = this.value ?? {};
    if (!best && !worst) return super.lack;
    return best && worst ? "" : `Please choose the ${best ? "worst" : "best"} as well.`;
  }

  // The first digit is the best, the second the worst, unless one of the two has the focus.
  press(digit) {
    const groups = [...this.root.querySelectorAll(".both")];
    const held = groups.find((group) => group.contains(document.activeElement));
    const free = groups.find((group) => !group.querySelector("input:checked"));
    const group = held && (held === free || !free) ? held : free ?? groups[0];
    return pressDigit(group, digit);
  }
}

class RankingField extends Field {
  constructor(root) {
    super(root);
    this.ranking = makeRanking(root);
  }

  get value() {
    return this.ranking.order;
  }

  set value(value) {
    this.ranking.order = value;
  }

  get lack() {
    return this.isRequired && !this.value ? "Please rank the stories, or keep this order." : "";
  }

  press(digit) {
    return this.ranking.place(digit);
  }
}

class AspectsField extends Field {
  constructor(root) {
    super(root);
    this.hasReasons = root.dataset.reason !== undefined;
    this.aspects = [...root.querySelectorAll(".facet")].map((place) => ({
      choice: place.dataset.choice,
      tick: place.querySelector("input[type=checkbox]"),
      told: place.querySelector(".told"),
      why: place.querySelector("textarea"),
    }));
    for (const { tick } of this.aspects) tick.addEventListener("change", () => this.show());
    this.show();
  }

  get chosen() {
    return this.aspects.filter(({ tick }) => tick.checked);
  }

  // Radios of an aspect are called as its tick is, without its end.
  rate({ tick, told }) {
    return checked(told, tick.name.replace(/-on$/, ""))?.value;
  }

  get value() {
    if (!this.chosen.length) return undefined;
    return Object.fromEntries(this.chosen.map((aspect) => {
      const [rating, reason] = [this.rate(aspect), aspect.why?.value ?? ""];
      return [aspect.choice, { rating: rating ? Number(rating) : null, reason }];
    }));
  }

  set value(value) {
    for (const { choice, tick, told, why } of this.aspects) {
      const given = value?.[choice];
      tick.checked = given !== undefined;
      pickRadio(told, tick.name.replace(/-on$/, ""), given?.rating);
      if (why) why.value = given?.reason ?? "";
    }
    this.show();
  }

  get bounds() {
    const least = this.least || 1;
    return { least, most: this.most || this.aspects.length };
  }

  show() {
    const { least, most } = this.bounds;
    const isFull = this.chosen.length >= most;
    for (const { tick, told } of this.aspects) {
      told.hidden = !tick.checked;
      tick.disabled = isFull && !tick.checked;
    }
    const wanted = least === most ? `Choose ${least}` : `Choose ${least} to ${most}`;
    const full = isFull && most < this.aspects.length ? " To choose another, take one back." : "";
    this.root.querySelector("[data-count]").textContent =
      `${wanted}: ${this.chosen.length} chosen.${full}`;
  }

  get lack() {
    const { least } = this.bounds;
    if (!this.chosen.length && !this.isRequired) return "";
    if (this.chosen.length < least) return `Please choose ${least} or more.`;
    const unrated = this.chosen.find((aspect) => !this.rate(aspect));
    if (unrated) return `Please rate “${unrated.choice}”.`;
    const untold = this.hasReasons && this.chosen.find(({ why }) => !why.value.trim());
    return untold ? `Please say why, for “${untold.choice}”.` : "";
  }

  // A digit rates the aspect that has the focus, or the first one that has no number yet.
  press(digit) {
    const held = this.chosen.find(({ told, tick }) =>
      told.contains(document.activeElement) || tick === document.activeElement);
    const aspect = held ?? this.chosen.find((each) => !this.rate(each));
    if (!aspect || !pressDigit(aspect.told, digit, { byValue: true })) return false;
    const unrated = this.chosen.find((each) => !this.rate(each));
    const untold = this.hasReasons && this.chosen.find(({ why }) => !why.value.trim());
    if (unrated) unrated.told.querySelector("input").focus();
    else if (untold) untold.why.focus();
    return true;
  }
}

class SpansField extends Field {
  // `campaign_spans.js` keeps the passages: it draws them into the story.
  list = null;

  get value() {
    return this.list?.spans.length ? this.list.spans : undefined;
  }

  set value(value) {
    this.list?.set(value ?? []);
  }

  get lack() {
    const spans = this.value ?? [];
    // Nothing to mark is an answer, unless so many are asked for.
    if (!spans.length && !(this.isRequired && this.least)) return "";
    if (spans.length < this.least) return `Please mark ${spellCount(this.least, "passage")} or more.`;
    return this.list.lack;
  }
}

const KINDS = {
  scale: ScaleField,
  choice: ChoiceField,
  text: TextField,
  best: ChoiceField,
  best_worst: BestWorstField,
  ranking: RankingField,
  aspects: AspectsField,
  spans: SpansField,
};

export function findFields(form) {
  const places = [...form.querySelectorAll("[data-question]")];
  return places.map((root) => new KINDS[root.dataset.kind](root));
}

// As the studio keeps them: by question, and by story where every story is asked about.
export function readAnswers(fields) {
  const answers = {};
  for (const { name, story, value } of fields) {
    if (value === undefined) continue;
    if (story === undefined) answers[name] = value;
    else (answers[name] ??= {})[story] = value;
  }
  return answers;
}

export function fillAnswers(fields, answers) {
  for (const field of fields) {
    const given = answers[field.name];
    field.value = field.story === undefined ? given : given?.[field.story];
  }
}
