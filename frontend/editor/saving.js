// Saving: what is unsent goes to the studio soon, one request at a time; a lost answer is asked for
// again with the same key. What the studio cannot take now waits in the browser's store.

import { Problem, newKey } from "../../src/fabula/web/static/api.js";
import { spellEdit } from "./log.js";

// From the first unsaved keystroke to the request, so that it is answered within two seconds.
export const WAIT_MS = 1200;
// What was typed is in the browser's store after this time.
const KEEP_MS = 200;
// How often it is looked whether somebody has signed in again, in another tab.
const LOOK_MS = 3000;
const RETRIES_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];
// A request that is not answered by then is taken for lost.
const ANSWER_MS = 15_000;
// A browser lets requests outlive their page only up to 64 KiB.
const MOST_OUTLIVING = 20_000;

export class Saver {
  #timer = null;
  #keepTimer = null;
  #running = null;
  #tries = 0;

  // `ask(method, path, body, options)` talks to the studio. `saved(draft)` hears what it answers,
  // `stale()` brings the unsent edits to a draft that went on elsewhere, `refused(problem)` writes
  // them in another way; both say whether to go on.
  constructor({ draft, log, store, ask, clock, saved, stale, refused, changed, signIn }) {
    Object.assign(this, { log, store, ask, clock, saved, stale, refused, changed, signIn });
    this.path = `drafts/${draft.id}`;
    this.version = draft.version;
    this.sending = null;
    // The key of the next saving is in the browser's store before it is used: a page that is left
    // may have sent its last words without having been able to write that down.
    this.nextKey = newKey();
    this.problem = null; // Why nothing is sent.
    this.state = { kind: "saved", at: draft.saved_at, message: "" };
  }

  get unsent() {
    return [...(this.sending?.edits ?? []), ...this.log.edits];
  }

  get hasUnsent() {
    return this.sending !== null || this.log.edits.length > 0;
  }

  show(kind, message = "", at = this.state.at) {
    this.state = { kind, at, message };
    this.changed(this.state);
  }

  // There is something new to save.
  note() {
    this.#keepSoon();
    if (this.problem) return;
    if (this.state.kind === "saved") this.show("unsaved");
    if (!this.#running && this.#timer === null) this.#saveIn(WAIT_MS);
  }

  #saveIn(wait_ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save().catch(() => {}), wait_ms);
  }

  #keepSoon() {
    this.#keepTimer ??= setTimeout(() => this.keep(), KEEP_MS);
  }

  // Puts what is unsent into the browser's store, or takes it out where there is nothing.
  async keep() {
    clearTimeout(this.#keepTimer);
    this.#keepTimer = null;
    if (this.isReader) return;
    try {
      if (!this.hasUnsent) await this.store.remove();
      else {
        const { sending, version, nextKey } = this;
        const { edits } = this.log;
        await this.store.write({ base_version: version, sending, edits, key: nextKey });
      }
    } catch (error) {
      // The disk may be full: the studio has it soon all the same.
      console.info("the browser does not keep what is unsent", error.message);
    }
  }

  // The page is left: what is unsent goes to the browser's store and, if it can, to the studio.
  leave() {
    if (this.#running || this.problem || !this.hasUnsent) void this.keep();
    else this.save({ leaving: true }).catch(() => {});
  }

  // Saves what there is; a page that is left does not wait for its store.
  save({ leaving = false } = {}) {
    this.#running ??= this.#save(leaving).finally(() => (this.#running = null))
      .then(() => this.#saveRest());
    return this.#running;
  }

  // What was written while the last saving came to its end waits for a saving of its own.
  #saveRest() {
    if (this.log.edits.length && this.#timer === null && !this.problem) this.#saveIn(WAIT_MS);
  }

  // Goes on until all is sent that was there, or throws what is in the way.
  async #save(leaving) {
    clearTimeout(this.#timer);
    this.#timer = null;
    while (this.hasUnsent) {
      if (this.problem) throw this.problem;
      if (!this.sending) {
        this.sending = { key: this.nextKey, base_version: this.version, edits: this.log.take() };
        this.nextKey = newKey();
      }
      if (this.state.kind !== "offline") this.show("saving");
      const kept = this.keep();
      if (!leaving) await kept;
      try {
        this.#take(await this.#send());
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        if (!(await this.#mend(problem))) throw problem;
        continue;
      }
      return this.keep();
    }
    // What was unsent may turn out to be there already.
    if (["offline", "saving", "conflict"].includes(this.state.kind)) {
      this.show("saved");
      await this.keep();
    }
  }

  #send() {
    const { key, base_version, edits } = this.sending;
    const size = edits.reduce((sum, edit) => sum + edit.inserted.length, 200 * edits.length);
    const body = { key, base_version, edits: edits.map(spellEdit) };
    const signal = AbortSignal.timeout(ANSWER_MS);
    return this.ask("POST", `${this.path}/save`, body, { keepalive: size < MOST_OUTLIVING, signal });
  }

  #take(draft) {
    this.version = draft.version;
    this.sending = null;
    this.#tries = 0;
    this.saved(draft);
    this.show(this.log.edits.length ? "unsaved" : "saved", "", draft.saved_at);
  }

  // What went wrong: true where it may be tried again at once.
  async #mend(problem) {
    const { status } = problem;
    if (status === 409) return this.#meet();
    if ([400, 413, 422].includes(status)) {
      if (await this.refused(problem)) return true;
      this.show("unsaved", problem.sentence);
      return false;
    }
    if (status === 401 || status === 403) return this.#waitForPerson(problem);
    if (status === 404) return this.halt("closed", "the draft is not there any more", problem);
    this.show("offline", status ? problem.sentence : "");
    this.#saveIn(RETRIES_MS[Math.min(this.#tries++, RETRIES_MS.length - 1)]);
    return false;
  }

  // To see what went on elsewhere the studio has to be asked, too.
  async #meet() {
    try {
      return await this.stale();
    } catch (problem) {
      if (!(problem instanceof Problem) || problem.status === 409) throw problem;
      return this.#mend(problem);
    }
  }

  // Stops sending, for good or until `resume`.
  halt(kind, message, problem = new Problem(409, { message })) {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.problem = problem;
    this.show(kind, message);
    return false;
  }

  resume() {
    this.problem = null;
    this.#tries = 0;
    this.show(this.hasUnsent ? "unsaved" : "saved");
    if (this.hasUnsent) this.#saveIn(0);
  }

  // The session has ended, or another has begun, with a CSRF word of its own.
  async #waitForPerson(problem) {
    const found = await this.signIn();
    if (found === "again" || (found === "same" && problem.status === 401)) return true;
    if (found === "same") return this.halt("closed", problem.sentence, problem);
    this.halt("signed-out", found === "other" ? "somebody else is signed in" : "", problem);
    this.#timer = setTimeout(() => this.#lookForPerson(problem), LOOK_MS);
    return false;
  }

  async #lookForPerson(problem) {
    if (await this.#waitForPerson(problem)) this.resume();
  }

  // The browser is online again, or the page is looked at again: no use in waiting longer.
  hurry() {
    if (this.state.kind !== "offline") return;
    this.#tries = 0;
    this.#saveIn(0);
  }

  // Gives the version that has everything, or throws why there is none.
  async flush() {
    if (this.isReader) throw this.problem;
    while (this.hasUnsent) await this.save();
    return this.version;
  }

  stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#keepTimer);
  }
}

// Finds out who is signed in now: "again" where it is the person whose draft this is, in another
// session, "same" in the one that was, "other" for somebody else, "none" for nobody.
export async function findPerson(ask, personId) {
  let me;
  try {
    me = await ask("GET", "me");
  } catch (problem) {
    if (problem instanceof Problem) return "none";
    throw problem;
  }
  if (me.person.id !== personId) return "other";
  const word = document.querySelector('meta[name="csrf"]');
  if (word.content === me.csrf) return "same";
  word.content = me.csrf ?? "";
  return "again";
}
