// Talks to the studio's API: JSON there and back, the session's CSRF word on all that changes.

export class Problem extends Error {
  constructor(status, { message, remedy = "", ...rest }) {
    super(message);
    Object.assign(this, { status, remedy, rest });
  }

  get sentence() {
    return this.remedy ? `${this.message}: ${this.remedy}` : this.message;
  }
}

// What went wrong, as a sentence for a page; the name of a file or a field stays as it is.
export function spellProblem(problem) {
  const words = problem.sentence ?? problem.message;
  const begun = words.replace(/^\p{Ll}(?=\p{L}*(?![\p{L}._\d]))/u, (first) => first.toUpperCase());
  return `${begun}${/[.!?]$/.test(words) ? "" : "."}`;
}

export const API = "/api/v1";

export function newKey() {
  return crypto.randomUUID().replaceAll("-", "");
}

function csrf() {
  return document.querySelector('meta[name="csrf"]')?.content ?? "";
}

// Status 0 is no answer at all: offline, or the studio is down.
export async function call(method, path, body, options = {}) {
  const { headers: given, ...rest } = options;
  const headers = { Accept: "application/json", ...given };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path.startsWith("/") ? path : `${API}/${path}`, {
      method,
      headers,
      // A file goes as it is.
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      credentials: "same-origin",
      ...rest,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { message: "the studio does not answer" });
  }
  if (answer.status === 204) return null;
  const text = await answer.text();
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = { message: `the studio answered ${answer.status}` };
  }
  if (!answer.ok) {
    // How long to wait before the next try, where the studio says so.
    const wait_s = Number(answer.headers.get("Retry-After")) || 0;
    throw new Problem(answer.status, { ...value, wait_s });
  }
  return value;
}
