// Who writes, and from where: the page's coming and going, other tabs, and the studio that may not
// answer. Holds the saver of a desk.

import { Problem } from "../../src/fabula/web/static/api.js";
import {
  describeUnsent, keepUnsent, meetOthers, recallUnsent, rewriteRefused, showLost,
} from "./meeting.js";
import { Saver, findPerson } from "./saving.js";
import { findStore, makeForgetfulStore } from "./store.js";
import { Tabs } from "./tabs.js";

const TRY_AGAIN_MS = 2000;
// A tab that is to let another write has this long to save.
const YIELD_MS = 2000;
const CLOSED = ["elsewhere", "closed"];

const pause = (wait_ms) => new Promise((resolve) => setTimeout(resolve, wait_ms));

export class Presence {
  #desk;
  #tabs = null;
  #isReady = false;
  #page = new AbortController();

  constructor(desk) {
    this.#desk = desk;
    this.saver = new Saver({
      draft: desk.draft,
      log: desk.log,
      store: makeForgetfulStore(),
      ask: desk.ask,
      clock: desk.clock,
      saved: (draft) => {
        desk.reconcile(draft);
        this.#tabs.tellSaved(draft);
      },
      stale: () => meetOthers(desk),
      refused: async () => rewriteRefused(desk),
      changed: (state) => this.#show(state),
      signIn: () => findPerson(desk.ask, desk.person),
    });
    desk.savedRuns = desk.log.runs;
  }

  get mayWrite() {
    return this.#isReady && !CLOSED.includes(this.saver.state.kind);
  }

  #show(state) {
    this.#desk.refresh();
    this.#desk.tell("state", state);
  }

  // Reads what the browser has kept, and lets one write, if no other tab does.
  async begin() {
    const desk = this.#desk;
    const { draft } = desk;
    // The view is made before anything is shown in it.
    await null;
    if (desk.person !== draft.author_id) return this.saver.halt("closed", "the draft is somebody else's");
    this.saver.store = await findStore(desk.person, draft.id);
    showLost(desk, await this.saver.store.readLost());
    this.#listen();
    this.#tabs = new Tabs(`fabula-desk/${desk.person}/${draft.id}`, {
      write: () => this.#takeOver(),
      lose: () => this.#look(),
      saved: (saved) => this.#follow(saved),
      yield: () => this.#yield(),
    });
    if (await this.#tabs.begin()) await this.#writeAgain();
    else this.#look();
    return undefined;
  }

  // The page may have been made before the one that was left had its last words saved, and then
  // the browser keeps nothing of them any more. What it does keep says what it follows.
  async #writeAgain() {
    if (await this.saver.store.read()) await this.#write(this.#desk.draft);
    else await this.#writeCurrent();
  }

  async #writeCurrent() {
    const { draft, ask } = this.#desk;
    const current = await this.#insist(() => ask("GET", `drafts/${draft.id}`));
    if (current) await this.#write(current);
    return current;
  }

  // Asks the studio until it answers.
  async #insist(work) {
    for (;;) {
      try {
        return await work();
      } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        const isGone = problem.status === 404;
        if (isGone) return this.saver.halt("closed", "the draft is not there any more", problem);
        if (problem.status === 401) this.saver.show("signed-out");
        else this.saver.show("offline", problem.status ? problem.sentence : "");
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  // This tab writes, from this draft of the studio and what was not sent to it.
  async #write(draft) {
    const { ask } = this.#desk;
    const { store } = this.saver;
    const unsent = await this.#insist(() => recallUnsent({ draft, store, ask }));
    if (!unsent) return;
    const { base, sending, edits } = unsent;
    const all = [...(sending?.edits ?? []), ...edits];
    if (draft.state !== "open") {
      await keepUnsent(this.#desk, { base, edits: all });
      this.saver.halt("closed", `the draft is ${draft.state}`);
      return;
    }
    if (base.version !== this.saver.version || base.text !== this.#desk.text()) {
      this.#desk.follow(base);
    }
    this.#isReady = true;
    if (all.length) {
      this.#desk.redoUnsent(sending, edits);
      const verb = all.length === 1 ? "is" : "are";
      this.#desk.notices.say("recovered",
        `${describeUnsent(all)} that had not been sent ${verb} in again.`);
    } else await store.remove();
    this.saver.resume();
    this.#learnSuggestions();
  }

  // Undo may bring back what suggestions wrote before the edits that the page came with.
  async #learnSuggestions() {
    const { ask, log, draft } = this.#desk;
    if (!log.runs.some((run) => run.origin === "machine")) return;
    try {
      const page = await ask("GET", `drafts/${draft.id}/suggestions?limit=500`);
      this.#desk.learn(page.items.map(({ id, generated }) =>
        ({ source: "machine", suggestion_id: id, inserted: generated })));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  // Another tab writes: this one shows what it saves.
  #look() {
    this.saver.isReader = true;
    this.saver.sending = null;
    this.#desk.log.settle(this.#desk.log.runs, []);
    this.saver.halt("elsewhere", "another tab is writing this draft");
    this.#desk.notices.say("elsewhere", "This draft is being written in another tab.", [
      { label: "Write here", act: () => this.#tabs.claim() },
    ]);
  }

  #follow({ version, text, marks, saved_at }) {
    this.#desk.follow({ version, text, marks });
    this.saver.show("elsewhere", this.saver.state.message, saved_at);
  }

  async #takeOver() {
    this.saver.isReader = false;
    this.saver.problem = null;
    this.#desk.notices.drop("elsewhere");
    if (await this.#writeCurrent()) this.#desk.focus();
  }

  // Another tab wants to write: what is here goes to the studio, or to the browser's store.
  async #yield() {
    this.#isReady = false;
    this.#desk.refresh();
    await this.saver.keep();
    const saved = this.saver.flush().catch(() => {});
    await Promise.race([saved, pause(YIELD_MS)]);
    // It may have been closed meanwhile: then this one goes on.
    setTimeout(() => {
      if (!this.#tabs.isWriter) return;
      this.#isReady = true;
      this.#desk.refresh();
    }, 2 * YIELD_MS);
  }

  #listen() {
    const { signal } = this.#page;
    const leave = () => this.saver.leave();
    addEventListener("pagehide", leave, { signal });
    // A page that comes back out of the browser's memory may have been overtaken.
    addEventListener("pageshow", ({ persisted }) => persisted && location.reload(), { signal });
    addEventListener("online", () => this.saver.hurry(), { signal });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") leave();
      else this.saver.hurry();
    }, { signal });
  }

  async end(forget) {
    this.#page.abort();
    this.#isReady = false;
    this.saver.stop();
    if (forget) {
      this.saver.halt("closed", "");
      await this.saver.store.remove();
    } else await this.saver.keep();
    this.saver.isReader = true;
    this.#tabs?.close();
  }
}
