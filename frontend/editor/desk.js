// The desk: a draft in ProseMirror. Everything around it goes through what `createDesk` gives.

import { closeHistory, history, isHistoryTransaction, redo, undo } from "prosemirror-history";
import { EditorState, TextSelection } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
import { EditorView } from "prosemirror-view";
import { Problem, call } from "../../src/fabula/web/static/api.js";
import { Fading, followRuns } from "./authors.js";
import { Ghost, ghostPlugin } from "./ghost.js";
import { keyPlugins, plainTextPlugin } from "./input.js";
import { Log } from "./log.js";
import { readRuns, sameRuns } from "./marks.js";
import { Saver } from "./saving.js";
import { readChanges, spellRestored, spellTyped } from "./steps.js";
import { findStore } from "./store.js";
import {
  cleanText, countPoints, countWords, makeDoc, makeSlice, measureDoc, offsetAt, positionAt,
  readText, schema,
} from "./text.js";

// So far back one can go.
const UNDO_DEPTH = 500;

export function createDesk(options) {
  const desk = new Desk(options);
  desk.ready = desk.begin();
  return desk;
}

class Desk {
  #listeners = { change: new Set(), state: new Set() };
  #known = new Map(); // What suggestions wrote, as far as the desk has seen it.
  #fading = new Fading();
  #unmarked = null; // Where marks wait for the end of a composition.
  #isEditable = true;
  #isReady = false;

  constructor({ mount, draft, log = [], clock = Date.now, label, person = draft.author_id }) {
    this.draft = draft;
    this.clock = clock;
    this.person = person;
    this.log = new Log(readRuns(draft.marks));
    this.view = new EditorView(mount, {
      state: this.#makeState(draft.text, this.log.runs),
      dispatchTransaction: (transaction) => this.#dispatch(transaction),
      editable: () => this.#isEditable && this.#isReady,
      markViews: this.#fading.markViews,
      attributes: (state) => ({
        role: "textbox",
        "aria-multiline": "true",
        "aria-label": label,
        "aria-readonly": String(!(this.#isEditable && this.#isReady)),
        spellcheck: "true",
        class: "desk-text",
      }),
      handleDOMEvents: {
        compositionend: () => void setTimeout(() => this.#markComposed(), 60),
        blur: () => void this.saver?.save().catch(() => {}),
      },
    });
    this.ghost = new Ghost(this.view);
    this.#fading.follow(this.log.runs);
  }

  #makeState(text, runs) {
    const plugins = [
      history({ depth: UNDO_DEPTH }), ...keyPlugins(), plainTextPlugin(), ghostPlugin(),
    ];
    return EditorState.create({ doc: makeDoc(text, runs), plugins });
  }

  // Reads what the browser has kept, and lets one write.
  async begin() {
    const store = await findStore(this.person, this.draft.id);
    this.saver = new Saver({
      draft: this.draft,
      log: this.log,
      store,
      ask: call,
      clock: this.clock,
      saved: (draft) => this.#reconcile(draft),
      stale: async () => this.saver.halt("conflict", "the draft went on elsewhere"),
      refused: async () => false,
      changed: (state) => this.#tell("state", state),
      signIn: async () => "none",
    });
    this.#listenToPage();
    this.#isReady = true;
    this.view.setProps({});
    this.#tell("state", this.state);
  }

  #listenToPage() {
    const leave = () => void this.saver.save({ leaving: true }).catch(() => {});
    addEventListener("pagehide", leave);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") leave();
      else this.saver.hurry();
    });
    addEventListener("online", () => this.saver.hurry());
  }

  // Everything that changes the text comes through here: it goes into the log, the marks follow,
  // and the page is drawn once.
  #dispatch(transaction) {
    let { state, transactions } = this.view.state.applyTransaction(transaction);
    const changed = transactions.some((one) => one.docChanged);
    if (changed && !transaction.getMeta("foreign") && !transaction.getMeta("marks")) {
      const span = this.#write(transaction, transactions);
      const marking = span && this.#mark(state, span);
      if (marking) state = state.apply(marking);
    }
    this.view.updateState(state);
    if (!changed) return;
    this.#fading.follow(this.log.runs);
    if (transaction.getMeta("foreign") || !transaction.getMeta("marks")) this.#tell("change", this);
  }

  // Takes what transactions did into the log; gives the span of the text that it touched.
  #write(transaction, transactions) {
    const isRestored = isHistoryTransaction(transaction)
      || transaction.getMeta("machine") || transaction.getMeta("uiEvent") === "drop";
    const uiEvent = transaction.getMeta("uiEvent");
    const now = this.clock();
    let span = null;
    for (const change of readChanges(transactions)) {
      const edits = isRestored
        ? spellRestored(change, this.log.runs, (id, text) => this.#knows(id, text))
        : spellTyped(change);
      for (const edit of edits) {
        this.log.add({
          ...edit,
          made_at: new Date(now).toISOString(),
          touched_at: now,
          composition: transaction.getMeta("composition") ?? null,
          isWhole: Boolean(isRestored || uiEvent === "paste" || edit.source === "machine"),
        });
        span = widen(span, edit);
      }
    }
    if (span) this.saver.note();
    return span;
  }

  #mark(state, span) {
    if (this.view.composing) {
      // To mark what is being composed would end the composition.
      this.#unmarked = true;
      return null;
    }
    return followRuns(state, this.log.runs, span.start, span.stop);
  }

  #markComposed() {
    if (!this.#unmarked || this.view.composing) return;
    this.#unmarked = null;
    this.#markAll();
  }

  #markAll() {
    const { state } = this.view;
    const marking = followRuns(state, this.log.runs, 0, measureDoc(state.doc));
    if (marking) this.view.dispatch(marking);
    else this.#fading.follow(this.log.runs);
  }

  // The studio has said who wrote the text it holds; what came after follows the same rules.
  #reconcile(draft) {
    const before = this.log.runs;
    this.log.settle(readRuns(draft.marks));
    if (sameRuns(before, this.log.runs)) return;
    if (this.view.composing) this.#unmarked = true;
    else this.#markAll();
  }

  #knows(id, text) {
    return (this.#known.get(id) ?? []).some((written) => written.includes(text));
  }

  #learn(id, text) {
    this.#known.set(id, [...(this.#known.get(id) ?? []), text]);
  }

  #tell(what, value) {
    for (const listener of this.#listeners[what]) listener(value);
  }

  onChange(listener) {
    this.#listeners.change.add(listener);
    return () => this.#listeners.change.delete(listener);
  }

  onState(listener) {
    this.#listeners.state.add(listener);
    return () => this.#listeners.state.delete(listener);
  }

  get state() {
    return this.saver?.state ?? { kind: "saved", at: this.draft.saved_at, message: "" };
  }

  text() {
    return readText(this.view.state.doc);
  }

  length() {
    return measureDoc(this.view.state.doc);
  }

  words() {
    return countWords(this.view.state.doc);
  }

  cursor() {
    const { doc, selection } = this.view.state;
    return offsetAt(doc, selection.to);
  }

  selection() {
    const { doc, selection } = this.view.state;
    return { start: offsetAt(doc, selection.from), stop: offsetAt(doc, selection.to) };
  }

  focus() {
    this.view.focus();
  }

  // Puts a machine's text in at an offset, as one step that can be undone.
  insertMachine(offset, text, suggestionId) {
    text = cleanText(text);
    if (!text) return;
    this.#learn(suggestionId, text);
    const { state } = this.view;
    const pos = positionAt(state.doc, offset);
    const slice = makeSlice(text, schema.marks.machine.create({ id: suggestionId }));
    const inserting = closeHistory(state.tr).step(new ReplaceStep(pos, pos, slice));
    const end = positionAt(inserting.doc, offset + countPoints(text));
    inserting.setSelection(TextSelection.create(inserting.doc, end));
    this.view.dispatch(inserting.setMeta("machine", true).scrollIntoView());
    this.view.dispatch(closeHistory(this.view.state.tr));
  }

  showGhost(offset, text, options) {
    this.ghost.show(offset, text, options);
  }

  hideGhost() {
    this.ghost.hide();
  }

  ghostOffset() {
    return this.ghost.offset;
  }

  async flush() {
    await this.ready;
    return this.saver.flush();
  }

  undo() {
    return undo(this.view.state, this.view.dispatch);
  }

  redo() {
    return redo(this.view.state, this.view.dispatch);
  }

  setEditable(isEditable) {
    this.#isEditable = isEditable;
    this.view.setProps({});
  }

  close() {
    this.saver?.stop();
    this.view.destroy();
  }
}

// The span that edits have touched, in the text they lead to.
function widen(span, { start, stop, inserted }) {
  const length = countPoints(inserted);
  if (!span) return { start, stop: start + length };
  const moved = span.stop > start ? span.stop + length - (stop - start) : span.stop;
  return { start: Math.min(span.start, start), stop: Math.max(moved, start + length) };
}
