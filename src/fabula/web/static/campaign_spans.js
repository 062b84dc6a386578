// Passages of a story, marked with the pointer or sentence by sentence with the keyboard; each has
// a label, where there are any, and a reason. Places count characters as the studio does, and not as
// a browser, to which some are two.

const countPoints = (text) => [...text].length;
const shorten = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

class StoryText {
  constructor(element, text, sentences) {
    Object.assign(this, { element, text, marks: [], cursor: null });
    // Where each character begins, as a browser counts.
    this.offsets = [0];
    for (const character of text) this.offsets.push(this.offsets.at(-1) + character.length);
    this.sentences = sentences.map(([start, stop]) => this.fromPoints({ start, stop }));
  }

  // Where in the text, counted as a browser does, a place of the document is.
  locate(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(this.element);
    range.setEnd(node, offset);
    return range.toString().length;
  }

  get selection() {
    const selected = getSelection();
    if (!selected.rangeCount || selected.isCollapsed) return null;
    const range = selected.getRangeAt(0);
    if (!range.intersectsNode(this.element)) return null;
    // Three clicks on a last line select up to what comes after the story: only what is in it counts.
    const holds = (node) => this.element.contains(node);
    const start = holds(range.startContainer) ? this.locate(range.startContainer, range.startOffset) : 0;
    const stop = holds(range.endContainer)
      ? this.locate(range.endContainer, range.endOffset) : this.text.length;
    return this.trim(start, stop);
  }

  trim(start, stop) {
    const text = this.text.slice(start, stop);
    if (!text.trim()) return null;
    return {
      start: start + (text.length - text.trimStart().length),
      stop: stop - (text.length - text.trimEnd().length),
    };
  }

  toPoints({ start, stop }) {
    const before = countPoints(this.text.slice(0, start));
    return { start: before, stop: before + countPoints(this.text.slice(start, stop)) };
  }

  fromPoints({ start, stop }) {
    return { start: this.offsets[start], stop: this.offsets[stop] };
  }

  draw() {
    const ranges = [...this.marks, ...(this.cursor ? [{ ...this.cursor, isCursor: true }] : [])];
    const edges = new Set([0, this.text.length]);
    for (const { start, stop } of ranges) edges.add(start).add(stop);
    const places = [...edges].sort((one, other) => one - other);
    const pieces = places.slice(1).map((stop, at) => {
      const start = places[at];
      const over = ranges.filter((range) => range.start <= start && range.stop >= stop);
      const piece = this.text.slice(start, stop);
      if (!over.length) return piece;
      const mark = document.createElement("mark");
      mark.textContent = piece;
      mark.classList.toggle("cursor", over.some(({ isCursor }) => isCursor));
      mark.classList.toggle("marked", over.some(({ isCursor }) => !isCursor));
      const labels = over.map(({ label }) => label).filter(Boolean);
      if (labels.length) mark.title = labels.join(", ");
      return mark;
    });
    this.element.replaceChildren(...pieces);
  }
}

// The passages of one question about one story.
class SpanList {
  constructor(field, story, choices) {
    Object.assign(this, { field, story, choices, items: [] });
    this.place = field.root.querySelector(".spans");
  }

  get spans() {
    return this.items.map(({ start, stop, label, reason }) => ({ start, stop, label, reason }));
  }

  get isFull() {
    return this.field.most > 0 && this.items.length >= this.field.most;
  }

  get lack() {
    const unlabelled = this.choices.length && this.items.some(({ label }) => !label);
    if (unlabelled) return "Please say of every passage what it is.";
    const needsReason = this.field.root.dataset.reason !== undefined;
    return needsReason && this.items.some(({ reason }) => !reason.trim())
      ? "Please give a reason for every passage." : "";
  }

  set(spans) {
    this.items = spans.map((span) => ({ label: "", reason: "", ...span }));
    this.show();
  }

  add(range, label = "") {
    if (this.isFull) return this.field.say(`At most ${this.field.most} passages can be marked.`);
    const item = { ...this.story.toPoints(range), label, reason: "" };
    const isThere = this.items.some(({ start, stop }) => start === item.start && stop === item.stop);
    if (isThere) return this.field.say("This passage is marked already.");
    this.field.say("");
    this.items.push(item);
    this.items.sort((one, other) => one.start - other.start || one.stop - other.stop);
    this.show();
    this.change();
    const entry = this.place.children[this.items.indexOf(item)];
    const needsLabel = this.choices.length && !label;
    (needsLabel ? entry.querySelector("select") : entry.querySelector("textarea")).focus();
    return item;
  }

  change() {
    this.story.marks = this.owner.marksOf(this.story);
    this.story.draw();
    this.field.root.dispatchEvent(new Event("input", { bubbles: true }));
  }

  show() {
    this.place.replaceChildren(...this.items.map((item, at) => this.makeEntry(item, at)));
    this.field.root.querySelector(".none").hidden = this.items.length > 0;
  }

  makeEntry(item, at) {
    const entry = document.createElement("li");
    const range = this.story.fromPoints(item);
    const quote = document.createElement("q");
    const words = this.story.text.slice(range.start, range.stop);
    quote.textContent = shorten(words, 200);
    const remove = document.createElement("button");
    Object.assign(remove, { type: "button", className: "plain", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove passage ${at + 1}: ${shorten(words)}`);
    remove.addEventListener("click", () => {
      this.items.splice(this.items.indexOf(item), 1);
      this.show();
      this.change();
      this.field.root.querySelector("[data-sentences]").focus();
    });
    const parts = [quote, remove];
    if (this.choices.length) parts.push(this.makeLabels(item, at));
    const reason = document.createElement("textarea");
    Object.assign(reason, { rows: 2, value: item.reason, maxLength: 10000, placeholder: "Why?" });
    reason.setAttribute("aria-label", `Why, of passage ${at + 1}`);
    reason.addEventListener("input", () => (item.reason = reason.value));
    entry.append(...parts, reason);
    return entry;
  }

  makeLabels(item, at) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", `What passage ${at + 1} is`);
    select.append(new Option("What is it?", ""), ...this.choices.map((name) => new Option(name)));
    select.value = item.label;
    select.addEventListener("change", () => {
      item.label = select.value;
      this.change();
    });
    return select;
  }
}

export class SpanDesk {
  constructor(fields, data, { canMark }) {
    this.lists = [];
    this.stories = new Map();
    this.bar = document.getElementById("marking");
    for (const field of fields.filter(({ kind }) => kind === "spans")) {
      const story = this.findStory(field.story, data);
      const list = new SpanList(field, story, data.choices[field.name] ?? []);
      list.owner = this;
      field.list = list;
      this.lists.push(list);
      field.root.querySelector("[data-sentences]").addEventListener("click", () => this.walk(list));
    }
    if (this.lists.length && canMark) this.listen();
  }

  findStory(id, { texts, sentences }) {
    if (!this.stories.has(id)) {
      const element = document.querySelector(`[data-text="${id}"]`);
      this.stories.set(id, new StoryText(element, texts[id], sentences[id]));
    }
    return this.stories.get(id);
  }

  marksOf(story) {
    return this.lists.filter((list) => list.story === story)
      .flatMap(({ items }) => items.map((item) => ({ ...item, ...story.fromPoints(item) })));
  }

  draw() {
    for (const story of this.stories.values()) {
      story.marks = this.marksOf(story);
      story.draw();
    }
  }

  listen() {
    document.addEventListener("selectionchange", () => {
      const story = [...this.stories.values()].find(({ selection }) => selection);
      if (story) this.offer(story, story.selection);
      else if (!this.walking && !this.bar.contains(document.activeElement)) this.bar.hidden = true;
    });
    // A press on the bar must not take the selection away.
    this.bar.addEventListener("pointerdown", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => this.walking && this.step(event));
  }

  offer(story, range) {
    const lists = this.lists.filter((list) => list.story === story);
    const buttons = lists.flatMap((list) => (list.choices.length ? list.choices : [""]).map((label) => {
      const button = document.createElement("button");
      const title = lists.length > 1 ? `${list.field.root.querySelector("legend").textContent.trim()}: ` : "";
      Object.assign(button, { type: "button", textContent: title + (label || "Mark it") });
      button.addEventListener("click", () => this.mark(list, range, label));
      return button;
    }));
    const words = document.createElement("span");
    words.textContent = `“${shorten(story.text.slice(range.start, range.stop), 40)}”`;
    this.bar.replaceChildren(words, ...buttons);
    this.bar.hidden = false;
  }

  mark(list, range, label) {
    this.leave();
    getSelection().removeAllRanges();
    this.bar.hidden = true;
    list.add(range, label);
  }

  // Sentence by sentence: arrows go on, with Shift they take more in, Enter marks.
  walk(list) {
    const at = list.items.length
      ? list.story.sentences.findIndex(({ start }) => start >= list.story.fromPoints(list.items.at(-1)).stop)
      : 0;
    this.walking = { list, from: Math.max(0, at), to: Math.max(0, at) };
    document.getElementById("texts").focus({ preventScroll: true });
    this.showCursor();
  }

  get hasSpans() {
    return this.lists.length > 0;
  }

  showCursor() {
    const { list, from, to } = this.walking;
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const { sentences } = list.story;
    list.story.cursor = { start: sentences[first].start, stop: sentences[last].stop };
    list.story.draw();
    list.story.element.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
    const { cursor, text } = list.story;
    const words = document.createElement("span");
    words.setAttribute("role", "status");
    words.textContent = `“${shorten(text.slice(cursor.start, cursor.stop), 80)}”`;
    const keys = document.createElement("span");
    keys.textContent = "↑ ↓ another sentence · Shift ↓ more · Enter mark · Esc leave";
    this.bar.replaceChildren(words, keys);
    this.bar.hidden = false;
  }

  leave() {
    if (!this.walking) return;
    this.walking.list.story.cursor = null;
    this.walking.list.story.draw();
    this.bar.hidden = true;
    this.walking = null;
  }

  step(event) {
    const { list, to } = this.walking;
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const last = list.story.sentences.length - 1;
    if (step) {
      this.walking.to = Math.max(0, Math.min(last, to + step));
      if (!event.shiftKey) this.walking.from = this.walking.to;
      this.showCursor();
    } else if (event.key === "Enter") this.mark(list, list.story.cursor, "");
    else if (event.key === "Escape" || event.key === "Tab") {
      this.leave();
      list.field.root.querySelector("[data-sentences]").focus();
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}
