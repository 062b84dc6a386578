// A draft that went on elsewhere: what an earlier page did not send, what another device saved, and
// what gave way to it.

import { Problem } from "../../src/fabula/web/static/api.js";
import { applyEdits, spellEdit } from "./log.js";
import { dropSaved, mergeBoth, rebaseEdits, revertEdits } from "./merge.js";
import { Notices, chooseText, spellTime } from "./notices.js";
import { compareTexts } from "./steps.js";
import { findStore } from "./store.js";

const MOST_ROWS = 500;

// What the browser's store still holds of a draft: `base` is the draft that the edits follow, which
// may be an older version; `sending` is a saving that may have arrived.
export async function recallUnsent({ draft, store, ask }) {
  const record = await store.read();
  if (!record) return { base: draft, sending: null, edits: [] };
  let { base_version, sending, edits } = record;
  let base = draft;
  // It may have been sent when the page was left, by the key that was ready for it.
  if (!sending) [sending, edits] = [{ key: record.key, base_version, edits }, []];
  const path = `drafts/${draft.id}`;
  if (base_version !== draft.version && sending) {
    // The studio knows a saving by its key, whatever came after.
    const { key, edits: sent } = sending;
    const body = { key, base_version: sending.base_version, edits: sent.map(spellEdit) };
    try {
      base = await ask("POST", `${path}/save`, body);
      base_version = base.version;
    } catch (problem) {
      if (!(problem instanceof Problem) || ![404, 409, 422].includes(problem.status)) throw problem;
      edits = [...sent, ...edits];
    }
    sending = null;
  }
  if (!sending && !edits.length) {
    // The page may have been made before what was sent as the last one was left.
    return { base: base.version > draft.version ? base : draft, sending, edits };
  }
  if (base_version !== base.version) base = await ask("GET", `${path}/versions/${base_version}`);
  return { base, sending, edits };
}

// "3 changes from 14:02": how many, and when the first was made.
export function describeUnsent(edits) {
  const count = edits.length === 1 ? "1 change" : `${edits.length} changes`;
  return `${count} from ${spellTime(edits[0].made_at)}`;
}

// The draft as the studio has it, and what was done to it since a version.
async function readTheirs(path, version, ask) {
  for (;;) {
    const draft = await ask("GET", path);
    const rows = [];
    let total = Infinity;
    while (rows.length < total) {
      const page = await ask("GET",
        `${path}/log?after=${version}&offset=${rows.length}&limit=${MOST_ROWS}`);
      total = page.total;
      rows.push(...page.items);
      if (!page.items.length) break;
    }
    // It may go on while it is read.
    if (!rows.length || rows.at(-1).version <= draft.version) return { draft, rows };
  }
}

// Brings the unsent edits to a draft that went on; true where saving may go on.
export async function meetOthers(desk) {
  const { saver, ask } = desk;
  const { draft, rows } = await readTheirs(saver.path, saver.version, ask);
  if (draft.state !== "open") {
    await keepLost(desk, desk.text(), `Not saved before the draft was ${draft.state}`);
    await saver.store.remove();
    return saver.halt("closed", `the draft is ${draft.state}`);
  }
  await desk.whenCalm();
  const unsent = dropSaved(saver.unsent, rows);
  if (!bringTogether(desk, draft, unsent)) desk.changeTo(draft, await choose(desk, draft, unsent));
  return true;
}

// Takes in what others did, and lets ours follow it; false where both changed the same place.
function bringTogether(desk, draft, { mine, theirs }) {
  const rebased = rebaseEdits(mine, theirs);
  if (!rebased) return false;
  desk.takeIn(rebased.incoming);
  if (applyEdits(draft.text, rebased.edits) === desk.text()) desk.settle(draft, rebased.edits);
  else desk.changeTo(draft, desk.text());
  return true;
}

// The studio has saved something else than the desk thinks: the page was left when more had been
// sent than the browser wrote down. That comes in, and what was written since follows it.
export function mendDifference(desk, draft) {
  const mine = desk.log.edits;
  const text = revertEdits(desk.text(), mine);
  if (text === draft.text) return;
  const { start, stop, removed, pieces } = compareTexts(text, draft.text);
  const theirs = [{ start, stop, removed, inserted: pieces[0].text }];
  if (!bringTogether(desk, draft, { mine, theirs })) desk.changeTo(draft, desk.text());
}

async function choose(desk, draft, { mine, theirs }) {
  const { saver } = desk;
  const own = desk.text();
  saver.halt("conflict", "the draft was changed elsewhere too");
  const choice = await chooseText(own, draft.text);
  saver.problem = null;
  if (choice === "both") return mergeBoth(revertEdits(own, mine), mine, theirs);
  if (choice === "mine") await keepLost(desk, draft.text, "Saved elsewhere, and replaced");
  else await keepLost(desk, own, "Written here, and replaced");
  return choice === "mine" ? own : draft.text;
}

// Keeps a text that gave way, until it is dismissed.
export async function keepLost(desk, text, why) {
  const { store } = desk.saver;
  const texts = [...(await store.readLost()), { text, why, at: desk.clock() }];
  await store.writeLost(texts);
  showLost(desk, texts);
}

export function showLost(desk, texts) {
  desk.notices.showLost(texts, (left) => desk.saver.store.writeLost(left));
}

// What the studio will not take as it is: the same as one change, by a person. True where that is
// something else than what was refused.
export function rewriteRefused(desk) {
  const { saver } = desk;
  const unsent = saver.unsent;
  if (unsent.length === 1 && unsent[0].isRewritten) return false;
  const text = desk.text();
  const { start, stop, removed, before, pieces } = compareTexts(revertEdits(text, unsent), text);
  const { made_at, touched_at } = unsent.at(-1);
  const edit = {
    start, stop, removed, before, made_at, touched_at, inserted: pieces[0].text,
    source: "person", suggestion_id: null, composition: null, isWhole: true, isRewritten: true,
  };
  saver.sending = null;
  desk.log.settle(desk.savedRuns, removed || edit.inserted ? [edit] : []);
  desk.markAll();
  return true;
}

// The text that a closed draft would have had: what the studio holds, with what it never got.
export async function keepUnsent(desk, { base, edits }) {
  if (edits.length) {
    await keepLost(desk, applyEdits(base.text, edits), `Not saved before the draft was ${desk.draft.state}`);
  }
  await desk.saver.store.remove();
}

// The same on a page where the draft is only read, for there is no desk.
export async function showLeftovers({ mount, draft, person, ask }) {
  const store = await findStore(person, draft.id);
  const page = { draft, clock: Date.now, notices: new Notices(mount), saver: { store } };
  showLost(page, await store.readLost());
  const { base, sending, edits } = await recallUnsent({ draft, store, ask });
  await keepUnsent(page, { base, edits: [...(sending?.edits ?? []), ...edits] });
}
