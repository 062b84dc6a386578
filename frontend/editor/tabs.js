// One tab writes a draft; others of the same browser look on, and may ask to write themselves.

const YIELD_MS = 3000;

// `hears` has: write() — this tab may write from now on; lose() — another writes; saved(message) —
// what the writing tab has saved; yield() — save all, for another tab wants to write.
export class Tabs {
  #channel;
  #release = null;
  #waiting = null;
  #name;
  #hears;
  #id = Math.random().toString(36).slice(2);

  constructor(name, hears) {
    this.#name = name;
    this.#hears = hears;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
  }

  get isWriter() {
    return this.#release !== null;
  }

  // True where this tab may write; otherwise it waits until the other is closed.
  async begin() {
    // Locks are not there on plain http to another machine: then the studio alone keeps order.
    if (!navigator.locks) return (this.#release = () => {}) !== null;
    const has = await this.#request({ ifAvailable: true });
    if (!has) this.#wait();
    return has;
  }

  // Asks for the lock; resolves when it is there (or not to be had), and holds it from then on.
  #request(options) {
    return new Promise((resolve, reject) => {
      navigator.locks.request(this.#name, options, (lock) => {
        if (!lock) return resolve(false);
        return new Promise((release) => {
          this.#release = release;
          resolve(true);
        });
      }).catch((error) => {
        // Before it was there: no longer wanted. After: another tab has taken it.
        if (this.#release && !options.signal?.aborted) this.#lost();
        else reject(error);
      });
    });
  }

  async #wait() {
    const waiting = new AbortController();
    this.#waiting = waiting;
    try {
      await this.#request({ signal: waiting.signal });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return;
    }
    this.#waiting = null;
    this.#hears.write();
  }

  #lost() {
    this.#release = null;
    this.#hears.lose();
    this.#wait();
  }

  // This tab wants to write: the other saves what it has and lets go; one that does not answer is
  // not waited for, what it had not sent is in the browser's store.
  async claim() {
    const yielded = new Promise((resolve) => {
      this.#yielded = resolve;
      setTimeout(resolve, YIELD_MS);
    });
    this.#channel.postMessage({ type: "yield", from: this.#id });
    await yielded;
    this.#waiting?.abort();
    this.#waiting = null;
    await this.#request({ steal: true });
    this.#hears.write();
  }

  #yielded = null;

  async #hear(message) {
    if (message.type === "saved" && !this.isWriter) this.#hears.saved(message);
    else if (message.type === "yielded" && message.to === this.#id) this.#yielded?.();
    else if (message.type === "yield" && this.isWriter) {
      await this.#hears.yield();
      this.#channel.postMessage({ type: "yielded", to: message.from });
    }
  }

  tellSaved(draft) {
    const { version, text, marks, saved_at } = draft;
    this.#channel.postMessage({ type: "saved", version, text, marks, saved_at });
  }

  close() {
    this.#waiting?.abort();
    this.#channel.close();
    this.#release?.();
    this.#release = null;
  }
}
