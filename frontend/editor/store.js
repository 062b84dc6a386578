// What is not yet at the studio, kept in this browser: it outlives a crash of the browser or of
// the studio. IndexedDB, not localStorage, which Chromium writes to disk only after seconds.

const NAME = "fabula-desk";

function request(work) {
  return new Promise((resolve, reject) => {
    work.onsuccess = () => resolve(work.result);
    work.onerror = () => reject(work.error);
  });
}

async function openDatabase() {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("unsent");
    opening.result.createObjectStore("lost");
  };
  const database = await request(opening);
  // Another tab that brings a later form of it must not wait for this one.
  database.onversionchange = () => database.close();
  return database;
}

// The records of one person's draft: nobody else who signs in here sees them.
export function openStore(personId, draftId) {
  const key = `${personId}/${draftId}`;
  let opened = null;
  const table = async (name, mode) => {
    opened ??= openDatabase();
    return (await opened).transaction(name, mode).objectStore(name);
  };
  return {
    // What is unsent: { base_version, sending, edits }.
    read: async () => (await request((await table("unsent", "readonly")).get(key))) ?? null,
    write: async (record) => {
      const unsent = await table("unsent", "readwrite");
      const written = request(unsent.put(record, key));
      // At once: a page that is left does not hear that it was written.
      unsent.transaction.commit?.();
      return written;
    },
    remove: async () => request((await table("unsent", "readwrite")).delete(key)),
    // Texts that gave way to others, until they are dismissed: [{ text, at, why }].
    readLost: async () => (await request((await table("lost", "readonly")).get(key))) ?? [],
    writeLost: async (texts) => {
      const lost = await table("lost", "readwrite");
      return request(texts.length ? lost.put(texts, key) : lost.delete(key));
    },
  };
}

// Where a browser keeps nothing (some do not in private windows) the desk works all the same.
export function makeForgetfulStore() {
  let [record, lost] = [null, []];
  return {
    read: async () => record,
    write: async (given) => void (record = structuredClone(given)),
    remove: async () => void (record = null),
    readLost: async () => lost,
    writeLost: async (given) => void (lost = given),
  };
}

// Opens the browser's store, or one that lasts as long as the page.
export async function findStore(personId, draftId) {
  const store = openStore(personId, draftId);
  try {
    await store.read();
    return store;
  } catch {
    return makeForgetfulStore();
  }
}
