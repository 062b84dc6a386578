// Keeps the answers of a task: in the browser at once, in the studio within two seconds. What the
// studio does not take is kept here and sent later; what another tab has saved is never written over
// without asking.

import { call } from "./api.js";

const WAIT_MS = 700;
const LONGEST_WAIT_MS = 1800;
const LONGEST_RETRY_MS = 30_000;
const OFFLINE = "Offline: kept here, sent later";

// No answer, too many at once, or a studio that is being started again: later it may do.
const isPassing = ({ status }) => status === 0 || status === 429 || status >= 500;

// The same answers are the same words, whatever the order of their names, and although the studio
// keeps what was asked for beside an instructed answer.
function spell(value) {
  return JSON.stringify(value, (_, inner) => {
    if (!inner || typeof inner !== "object" || Array.isArray(inner)) return inner;
    if ("asked" in inner) return inner.given;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

// The browser's own store may be closed to us: then what is kept is only in the page.
function readKept(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function writeKept(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full, or forbidden.
  }
}

export class Keeper {
  // `read` gives the answers of the page, `show` says how it stands, `collide` asks which answers
  // are to be kept, `refuse` says what the studio refused.
  constructor(data, { read, show, collide, refuse }) {
    Object.assign(this, { data, read, show, collide, refuse, version: data.version });
    this.key = `fabula-campaign:${data.assignment}`;
    this.seen = { total: data.visible_s ?? 0, since: document.hidden ? null : performance.now() };
    this.saved = spell(read());
    // What went out and was not heard of again.
    this.sent = [];
    this.retry_ms = 1000;
    document.addEventListener("visibilitychange", () => this.look());
    addEventListener("pagehide", () => this.leave());
    addEventListener("online", () => this.isDirty && this.flush());
  }

  // What an earlier visit could not send, if nobody has saved anything else since.
  restore() {
    const kept = readKept(this.key);
    if (!kept || spell(kept.answers) === this.saved) return null;
    // What this browser sent itself, without hearing back, is nobody else's.
    this.sent = kept.sent ?? [];
    const isOwn = kept.version === this.version || this.sent.includes(this.saved);
    return { answers: kept.answers, isStale: !isOwn };
  }

  get isDirty() {
    return spell(this.read()) !== this.saved;
  }

  get visible_s() {
    const { total, since } = this.seen;
    return Math.round(10 * (total + (since === null ? 0 : (performance.now() - since) / 1000))) / 10;
  }

  look() {
    this.seen = { total: this.visible_s, since: document.hidden ? null : performance.now() };
    if (document.hidden && this.isDirty) this.flush();
  }

  keep() {
    writeKept(this.key, { answers: this.read(), version: this.version, sent: this.sent });
  }

  note() {
    this.keep();
    if (this.isStopped) return;
    this.isLate = true;
    this.show(this.isOffline ? OFFLINE : "Not saved yet");
    this.dirtySince ??= performance.now();
    const left = LONGEST_WAIT_MS - (performance.now() - this.dirtySince);
    this.wait(Math.max(0, Math.min(WAIT_MS, left)));
  }

  wait(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), ms);
  }

  get body() {
    return { answers: this.read(), version: this.version, visible_s: this.visible_s };
  }

  // One request at a time: what changes meanwhile is sent after it.
  async flush() {
    clearTimeout(this.timer);
    if (this.isStopped || this.sending) return this.sending;
    this.sending = this.send();
    await this.sending;
    this.sending = null;
    if (this.isLate && !this.isStopped && !this.isOffline) this.wait(0);
    return undefined;
  }

  async send() {
    const { body } = this;
    this.isLate = false;
    this.sent.push(spell(body.answers));
    this.keep();
    this.show(this.isOffline ? OFFLINE : "Saving …");
    try {
      const answer = await call("PUT", this.data.save, body);
      this.accept(answer.version, body.answers);
    } catch (problem) {
      this.fail(problem);
    }
  }

  accept(version, answers) {
    this.version = version;
    this.sent = [];
    this.saved = spell(answers);
    this.isOffline = false;
    this.retry_ms = 1000;
    this.dirtySince = undefined;
    if (this.isDirty) this.keep();
    else writeKept(this.key, null);
    this.show(this.isDirty ? "Not saved yet" : "Saved");
  }

  fail(problem) {
    if (isPassing(problem)) {
      this.isOffline = true;
      this.show(OFFLINE);
      const ms = Math.max(1000 * (problem.rest?.wait_s ?? 0), this.retry_ms);
      this.retry_ms = Math.min(LONGEST_RETRY_MS, 2 * this.retry_ms);
      this.wait(ms);
    } else if (problem.status === 409) this.meet(problem);
    else if (problem.status === 422) this.show(`Not saved yet: ${problem.message}`);
    else this.stop(problem);
  }

  stop(problem) {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.show("Not saved: kept in this browser");
    this.refuse(problem);
  }

  // Another tab, or another device, was quicker: what it saved is fetched, and the rater asked.
  async meet(problem) {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.show("Changed elsewhere: kept in this browser");
    try {
      const current = await call("GET", this.data.read);
      if (current.submitted_at) this.refuse(problem, current);
      else if ([...this.sent, spell(this.read())].includes(spell(current.answers))) {
        // Its answer to what was sent from here got lost: nobody else was at it.
        this.take(current.version, current.answers);
      } else this.collide(current);
    } catch (other) {
      this.refuse(isPassing(other) ? problem : other);
    }
  }

  // Goes on from a version of the studio's, with the answers that the page shows now.
  take(version, answers) {
    this.isStopped = false;
    this.accept(version, answers);
    if (this.isDirty) this.flush();
  }

  // Sends the answers for good; tries until the studio answers.
  async submit() {
    clearTimeout(this.timer);
    await this.sending;
    for (;;) {
      this.show("Submitting …");
      try {
        const answer = await call("POST", this.data.submit, this.body);
        writeKept(this.key, null);
        this.isStopped = true;
        this.show("Submitted");
        return answer;
      } catch (problem) {
        if (!isPassing(problem)) throw problem;
        this.isOffline = true;
        this.show("Offline: it is submitted as soon as the studio answers");
        await new Promise((resolve) => {
          setTimeout(resolve, this.retry_ms);
          addEventListener("online", resolve, { once: true });
        });
        this.retry_ms = Math.min(LONGEST_RETRY_MS, 2 * this.retry_ms);
      }
    }
  }

  // A page that goes away has no time to wait for an answer.
  leave() {
    if (this.isStopped || !this.isDirty) return;
    this.sent.push(spell(this.read()));
    this.keep();
    call("PUT", this.data.save, this.body, { keepalive: true }).catch(() => {});
  }
}
