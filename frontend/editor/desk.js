// The desk: a draft in ProseMirror. Everything around it goes through what `createDesk` gives.

import { closeHistory, history, isHistoryTransaction, redo, undo } from "prosemirror-history";
import { EditorState, TextSelection } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { call } from "../../src/fabula/web/static/api.js";
import { Fading, followRuns } from "./authors.js";
import { Ghost, ghostPlugin } from "./ghost.js";
import { keyPlugins, plainTextPlugin } from "./input.js";
import { Log } from "./log.js";
import { markEdit, readRuns, sameRuns } from "./marks.js";
import { mendDifference } from "./meeting.js";
import { Notices } from "./notices.js";
import { Presence } from "./presence.js";
import { compareTexts, readChanges, readPieces, spellRestored, spellTyped } from "./steps.js";
import {
  cleanText, countPoints, countWords, makeDoc, measureDoc, offsetAt, positionAt, readText, schema,
} from "./text.js";
import { replaceText, replayEdits } from "./undo.js";

// So far back one can go, and so far after a reload.
const UNDO_DEPTH = 500;
const PAST_EDITS = 200;
// What the studio takes.
const MOST_CHARACTERS = 100_000;

// `log` is the draft's past: { text, marks, edits }, the last edits and what they follow. `person`
// is who reads the page; `ask` talks to the studio.
export function createDesk(options) {
  return new Desk(options);
}

class Desk {
  #listeners = { change: new Set(), state: new Set() };
  #known = new Map(); // What suggestions wrote, as far as the desk has seen it.
  #fading = new Fading();
  #isUnmarked = false; // Marks wait for the end of a composition.
  #isEditable = true;
  #presence;

  constructor({
    mount, draft, log = null, label, clock = Date.now, person = draft.author_id, ask = call,
  }) {
    Object.assign(this, { draft, clock, person, ask });
    this.notices = new Notices(mount);
    this.log = new Log(readRuns(draft.marks));
    this.#presence = new Presence(this);
    this.view = new EditorView(mount, {
      state: this.#recall(draft, log),
      dispatchTransaction: (transaction) => this.#dispatch(transaction),
      editable: () => this.isEditable,
      markViews: this.#fading.markViews,
      attributes: () => ({
        role: "textbox",
        "aria-multiline": "true",
        "aria-label": label,
        "aria-readonly": String(!this.isEditable),
        spellcheck: "true",
        class: "desk-text",
      }),
      handleDOMEvents: {
        // The editor reads the last of a composition a moment later.
        compositionend: () => void setTimeout(() => this.#markComposed(), 60),
        blur: () => void this.saver.save().catch(() => {}),
      },
    });
    // Who looks at the page, by hand or in a test, finds the desk by its text.
    this.view.dom.desk = this;
    this.ghost = new Ghost(this.view);
    this.#fading.follow(this.log.runs);
    this.ready = this.#presence.begin();
  }

  // The draft in the editor, with its past to go back through.
  #recall(draft, past) {
    const plugins = [
      history({ depth: UNDO_DEPTH }), ...keyPlugins(), plainTextPlugin(), ghostPlugin(),
    ];
    const { runs } = this.log;
    const plain = EditorState.create({ doc: makeDoc(draft.text, runs), plugins });
    if (!past?.edits?.length) return plain;
    this.learn(past.edits);
    const pastRuns = readRuns(past.marks);
    const begun = EditorState.create({ doc: makeDoc(past.text, pastRuns), plugins });
    const { state } = replayEdits(begun, pastRuns, past.edits, PAST_EDITS);
    if (readText(state.doc) !== draft.text) return plain;
    const marking = followRuns(state, runs, 0, measureDoc(state.doc));
    return marking ? state.apply(marking) : state;
  }

  get saver() {
    return this.#presence.saver;
  }

  get isEditable() {
    return this.#isEditable && this.#presence.mayWrite;
  }

  // Everything that changes the text comes through here: it goes into the log, the marks follow,
  // and the page is drawn once.
  #dispatch(transaction) {
    let { state, transactions } = this.view.state.applyTransaction(transaction);
    const isOurs = !transaction.getMeta("foreign") && !transaction.getMeta("marks");
    if (transactions.some((one) => one.docChanged)) {
      if (isOurs && this.#isTooLong(state)) return;
      const span = isOurs ? this.#write(transaction, transactions) : null;
      const marking = span && this.#mark(state, span);
      if (marking) state = state.apply(marking);
      this.view.updateState(state);
      this.#fading.follow(this.log.runs);
      if (!transaction.getMeta("marks")) this.tell("change", this);
    } else this.view.updateState(state);
  }

  #isTooLong(state) {
    if (state.doc.content.size <= MOST_CHARACTERS || this.view.composing) return false;
    const length = measureDoc(state.doc);
    if (length <= Math.max(MOST_CHARACTERS, this.length())) return false;
    this.notices.say("length", "A draft has at most 100,000 characters: publish what there is, "
      + "and go on in another.");
    return true;
  }

  // Takes what transactions did into the log; gives the span of the text that it touched.
  #write(transaction, transactions) {
    const uiEvent = transaction.getMeta("uiEvent");
    const isRestored = isHistoryTransaction(transaction) || Boolean(transaction.getMeta("machine"))
      || uiEvent === "drop";
    const now = this.clock();
    let span = null;
    for (const change of readChanges(transactions)) {
      const edits = isRestored ? this.#spellRestored(change, this.log.runs) : spellTyped(change);
      for (const edit of edits) {
        this.log.add({
          ...this.#date(edit, now),
          composition: transaction.getMeta("composition") ?? null,
          isWhole: isRestored || uiEvent === "paste",
        });
        span = widen(span, edit);
      }
    }
    if (span) this.saver.note();
    return span;
  }

  #spellRestored(change, runs) {
    return spellRestored(change, runs, (id, text) =>
      (this.#known.get(id) ?? []).some((written) => written.includes(text)));
  }

  #date(edit, now = this.clock()) {
    return { ...edit, made_at: new Date(now).toISOString(), touched_at: now, composition: null };
  }

  #mark(state, span) {
    if (!this.view.composing) return followRuns(state, this.log.runs, span.start, span.stop);
    // To mark what is being composed would end the composition.
    this.#isUnmarked = true;
    return null;
  }

  #markComposed() {
    if (this.#isUnmarked && !this.view.composing) this.markAll();
  }

  // Lets the document's marks say what the log says; undo and the cursor do not notice.
  markAll() {
    this.#isUnmarked = this.view.composing;
    if (this.#isUnmarked) return;
    const { state } = this.view;
    const marking = followRuns(state, this.log.runs, 0, measureDoc(state.doc));
    if (marking) this.view.dispatch(marking);
    else this.#fading.follow(this.log.runs);
  }

  // The studio has said who wrote the text it holds; what came after follows the same rules.
  reconcile(draft) {
    const before = this.log.runs;
    this.savedRuns = readRuns(draft.marks);
    this.log.settle(this.savedRuns);
    mendDifference(this, draft);
    if (!sameRuns(before, this.log.runs)) this.markAll();
  }

  // What suggestions wrote: only of that can the desk say that it is a machine's.
  learn(edits) {
    for (const { source, suggestion_id, inserted } of edits) {
      if (source !== "machine" || !inserted) continue;
      this.#known.set(suggestion_id, [...(this.#known.get(suggestion_id) ?? []), inserted]);
    }
  }

  // Resolves when no composition is going on: only then may others' text come in.
  async whenCalm() {
    while (this.view.composing) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  // Puts regions of others' text in, which is no edit of ours.
  takeIn(regions) {
    const coming = this.view.state.tr.setMeta("foreign", true).setMeta("addToHistory", false);
    for (const { from, to, inserted } of [...regions].reverse()) replaceText(coming, from, to, inserted);
    if (coming.docChanged) this.view.dispatch(coming);
  }

  // From now on `edits` follow this draft of the studio.
  settle(draft, edits) {
    this.saver.version = draft.version;
    this.saver.sending = null;
    this.savedRuns = readRuns(draft.marks);
    this.log.settle(this.savedRuns, edits);
    this.markAll();
  }

  // Shows the draft as the studio has it; nothing is unsent.
  follow(draft) {
    const { start, stop, pieces } = compareTexts(this.text(), draft.text);
    const [{ text }] = pieces;
    if (stop > start || text) this.takeIn([{ from: start, to: stop, inserted: text }]);
    this.settle(draft, []);
  }

  // Does edits again that follow the text, with a way back.
  redoUnsent(sending, edits) {
    const all = [...(sending?.edits ?? []), ...edits];
    this.learn(all);
    const { state } = replayEdits(this.view.state, this.log.runs, all);
    this.view.updateState(state);
    this.saver.sending = sending;
    this.log.settle((sending?.edits ?? []).reduce(markEdit, this.log.runs), edits);
    this.markAll();
    this.tell("change", this);
  }

  // Makes the text another one (it can be undone), as edits of ours to a draft of the studio.
  changeTo(draft, text) {
    const change = compareTexts(this.text(), text);
    if (change.removed || change.pieces[0].text) {
      const changing = closeHistory(this.view.state.tr).setMeta("foreign", true);
      this.view.dispatch(replaceText(changing, change.start, change.stop, change.pieces[0].text));
    }
    const made = compareTexts(draft.text, text);
    const { doc } = this.view.state;
    const end = made.start + countPoints(made.pieces[0].text);
    made.pieces = readPieces(doc, positionAt(doc, made.start), positionAt(doc, end));
    const edits = made.removed || end > made.start
      ? this.#spellRestored(made, readRuns(draft.marks)) : [];
    this.settle(draft, edits.map((edit) => ({ ...this.#date(edit), isWhole: true })));
  }

  tell(what, value) {
    for (const listener of this.#listeners[what]) listener(value);
  }

  // Whether one may write may have changed. Only then is the view told: it puts the cursor where
  // it knows it to be, and a key that has just moved it would be undone.
  refresh() {
    if (this.view && this.view.editable !== this.isEditable) this.view.setProps({});
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
    return this.saver.state;
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
    return this.selection().stop;
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
    if (!text || !this.isEditable) return;
    this.learn([{ source: "machine", suggestion_id: suggestionId, inserted: text }]);
    const mark = schema.marks.machine.create({ id: suggestionId });
    const inserting = replaceText(closeHistory(this.view.state.tr), offset, offset, text, mark);
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

  // Where the suggestion that is shown is by now; null where there is none.
  ghostOffset() {
    return this.ghost.offset;
  }

  // Gives the version at the studio that has all of the text, or throws a Problem.
  async flush() {
    await this.ready;
    return this.saver.flush();
  }

  undo() {
    return this.isEditable && undo(this.view.state, this.view.dispatch);
  }

  redo() {
    return this.isEditable && redo(this.view.state, this.view.dispatch);
  }

  setEditable(isEditable) {
    this.#isEditable = isEditable;
    this.refresh();
  }

  // Ends writing. `forget` takes what is unsent out of the browser: the draft was put away.
  async close({ forget = false } = {}) {
    await this.#presence.end(forget);
    this.notices.remove();
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
