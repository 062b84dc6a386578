// What is sent, when, and what becomes of it when the studio does not answer, or not as hoped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/fabula/web/static/api.js";
import { Log, applyEdits } from "../editor/log.js";
import { recallUnsent } from "../editor/meeting.js";
import { Saver, WAIT_MS } from "../editor/saving.js";
import { makeForgetfulStore } from "../editor/store.js";

const AT = Date.parse("2026-01-05T14:02:00Z");

function makeEdit(start, inserted) {
  return {
    start, stop: start, inserted, removed: "", before: "", source: "person", suggestion_id: null,
    composition: null, isWhole: true, made_at: new Date(AT).toISOString(), touched_at: AT,
  };
}

// The studio's side of saving; `next` are problems to answer with first, `lose` answers get lost.
class FakeStudio {
  constructor(text = "") {
    Object.assign(this, { version: 0, texts: [text], keys: new Map(), next: [], lose: 0, asked: [] });
  }

  get draft() {
    return this.at(this.version);
  }

  at(version) {
    const text = this.texts[version];
    return { id: "d", version, text, marks: [[text.length, "person", null]], state: "open", saved_at: "t" };
  }

  ask = async (method, path, body) => {
    this.asked.push({ method, path, body });
    const problem = this.next.shift();
    if (problem) throw problem;
    const old = path.match(/versions\/(\d+)$/);
    if (old) return this.at(Number(old[1]));
    if (this.keys.has(body.key)) return this.at(this.keys.get(body.key));
    if (body.base_version !== this.version) throw new Problem(409, { message: "stale" });
    this.texts.push(applyEdits(this.draft.text, body.edits));
    this.version += 1;
    this.keys.set(body.key, this.version);
    if (this.lose-- > 0) throw new Problem(0, { message: "the studio does not answer" });
    return this.draft;
  };
}

function open(studio, more = {}) {
  const states = [];
  const log = new Log([]);
  const saver = new Saver({
    draft: studio.draft, log, store: makeForgetfulStore(), ask: studio.ask, clock: () => AT,
    saved: () => {}, stale: async () => false, refused: async () => false, signIn: async () => "none",
    changed: (state) => states.push(state.kind), ...more,
  });
  const write = (start, text) => {
    log.add(makeEdit(start, text));
    saver.note();
  };
  return { saver, log, states, write };
}

const GONE = new Problem(0, { message: "the studio does not answer" });

test("what is written is saved, and the browser's record goes", async () => {
  const studio = new FakeStudio();
  const { saver, states, write } = open(studio);
  write(0, "The ");
  write(4, "ford");
  await saver.keep();
  assert.equal((await saver.store.read()).edits.length, 2);
  assert.equal(await saver.flush(), 1);
  assert.equal(studio.draft.text, "The ford");
  assert.equal(await saver.store.read(), null);
  assert.deepEqual(states, ["unsaved", "saving", "saved"]);
});

test("one request at a time, and what comes meanwhile is in the next", async () => {
  const studio = new FakeStudio();
  const { saver, write } = open(studio);
  write(0, "a");
  const first = saver.save();
  write(1, "b");
  assert.equal(saver.save(), first);
  assert.equal(await saver.flush(), 2);
  assert.deepEqual(studio.asked.map(({ body }) => body.edits.map((edit) => edit.inserted)), [["a"], ["b"]]);
});

test("what comes while a saving tidies up is saved by itself, soon", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const studio = new FakeStudio();
  const store = makeForgetfulStore();
  const { saver, write } = open(studio, { store });
  // The record is taken out of the browser when all is sent: one goes on writing just then.
  const { remove } = store;
  store.remove = async () => {
    store.remove = remove;
    write(1, "b");
  };
  write(0, "a");
  await saver.save();
  assert.equal(studio.draft.text, "a");
  assert.equal(saver.state.kind, "unsaved");
  t.mock.timers.tick(WAIT_MS);
  assert.equal(saver.state.kind, "saving");
  await saver.save();
  assert.equal(studio.draft.text, "ab");
  saver.stop();
});

test("a lost answer is asked for with the same key, and nothing is there twice", async () => {
  const studio = new FakeStudio();
  studio.lose = 1;
  const { saver, states, write } = open(studio);
  write(0, "a");
  await assert.rejects(saver.flush(), { status: 0 });
  assert.equal(states.at(-1), "offline");
  write(1, "b");
  assert.equal(await saver.flush(), 2);
  assert.equal(studio.draft.text, "ab");
  const [lost, again] = studio.asked;
  assert.equal(lost.body.key, again.body.key);
  saver.stop();
});

test("while the studio is gone everything waits in the browser, with its time", async () => {
  const studio = new FakeStudio();
  studio.next = [GONE];
  const { saver, write } = open(studio);
  write(0, "a");
  await assert.rejects(saver.save());
  write(1, "b");
  await saver.keep();
  const record = await saver.store.read();
  assert.deepEqual([record.base_version, record.sending.edits.length, record.edits.length], [0, 1, 1]);
  assert.equal(record.edits[0].made_at, "2026-01-05T14:02:00.000Z");
  saver.stop();
});

test("who is signed out loses nothing, and goes on in the next session", async () => {
  const studio = new FakeStudio();
  let found = "none";
  const { saver, states, write } = open(studio, { signIn: async () => found });
  studio.next = [new Problem(401, { message: "nobody is signed in" })];
  write(0, "a");
  await assert.rejects(saver.save(), { status: 401 });
  assert.equal(states.at(-1), "signed-out");
  found = "again";
  saver.problem = null;
  studio.next = [new Problem(401, { message: "nobody is signed in" })];
  assert.equal(await saver.flush(), 1);
  saver.stop();
});

test("a refused saving is written in another way once, and then said", async () => {
  const studio = new FakeStudio();
  const refusal = new Problem(422, { message: "too long" });
  studio.next = [refusal, refusal];
  const answers = [true, false];
  const { saver, states, write } = open(studio, { refused: async () => answers.shift() });
  write(0, "a");
  await assert.rejects(saver.flush(), { status: 422 });
  assert.deepEqual([states.at(-1), saver.state.message], ["unsaved", "too long"]);
  saver.stop();
});

test("a studio that goes away while both are brought together is tried again", async () => {
  const studio = new FakeStudio();
  const answers = [async () => { throw GONE; }, async () => true];
  const { saver, states, write } = open(studio, { stale: () => answers.shift()() });
  studio.next = [new Problem(409, { message: "stale" })];
  write(0, "a");
  await assert.rejects(saver.save(), { status: 409 });
  assert.equal(states.at(-1), "offline");
  studio.next = [new Problem(409, { message: "stale" })];
  assert.equal(await saver.flush(), 1);
  saver.stop();
});

test("a draft that is gone is closed", async () => {
  const studio = new FakeStudio();
  studio.next = [new Problem(404, { message: "there is no draft" })];
  const { saver, states, write } = open(studio);
  write(0, "a");
  await assert.rejects(saver.flush(), { status: 404 });
  assert.equal(states.at(-1), "closed");
});

const recall = (studio, record) => {
  const store = makeForgetfulStore();
  store.write(record);
  return recallUnsent({ draft: studio.draft, store, ask: studio.ask });
};

test("after a crash what was not sent follows the draft, without asking the studio", async () => {
  const studio = new FakeStudio("x");
  const sending = { key: "k", base_version: 0, edits: [makeEdit(0, "a")] };
  const unsent = await recall(studio, { base_version: 0, sending, edits: [makeEdit(1, "b")] });
  assert.deepEqual([unsent.base.text, unsent.sending.key, unsent.edits.length], ["x", "k", 1]);
  assert.equal(studio.asked.length, 0);
});

test("what had arrived all the same is not done again", async () => {
  const studio = new FakeStudio();
  const sending = { key: "k", base_version: 0, edits: [makeEdit(0, "a")] };
  await studio.ask("POST", "drafts/d/save", sending);
  const unsent = await recall(studio, { base_version: 0, sending, edits: [makeEdit(1, "b")] });
  assert.deepEqual([unsent.base.version, unsent.base.text, unsent.sending], [1, "a", null]);
  assert.deepEqual(unsent.edits.map((edit) => edit.inserted), ["b"]);
});

test("where the draft went on elsewhere the edits follow the version they were made upon", async () => {
  const studio = new FakeStudio("x");
  await studio.ask("POST", "drafts/d/save", { key: "other", base_version: 0, edits: [makeEdit(1, "y")] });
  const sending = { key: "k", base_version: 0, edits: [makeEdit(0, "a")] };
  const unsent = await recall(studio, { base_version: 0, sending, edits: [makeEdit(1, "b")] });
  assert.deepEqual([unsent.base.version, unsent.base.text], [0, "x"]);
  assert.deepEqual(unsent.edits.map((edit) => edit.inserted), ["a", "b"]);
});

test("what a page sent as it was left is known by the key that was ready for it", async () => {
  const studio = new FakeStudio();
  const edits = [makeEdit(0, "a")];
  await studio.ask("POST", "drafts/d/save", { key: "ready", base_version: 0, edits });
  const unsent = await recall(studio, { base_version: 0, sending: null, edits, key: "ready" });
  assert.deepEqual([unsent.base.text, unsent.sending, unsent.edits], ["a", null, []]);
});

test("a page that is left sends at once, and writes down with which key", async () => {
  const studio = new FakeStudio();
  const { saver, write } = open(studio);
  write(0, "a");
  await saver.keep();
  const { key } = await saver.store.read();
  saver.leave();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(studio.asked[0].body.key, key);
  assert.equal(studio.draft.text, "a");
});
