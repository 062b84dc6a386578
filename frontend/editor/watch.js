// Watches a suggestion being written: by server-sent events, and where these do not come through,
// by asking now and then. Lost connections are taken up again; the text is always the whole text.

import { API, call } from "../../src/fabula/web/static/api.js";

const ASK_EVERY_MS = 1000;
const ASK_AT_LEAST_EVERY_MS = 8000;
// A stream that says nothing for so long has been cut off without a word by something in between;
// the studio itself says every 15 s that it is still there, but scripts do not hear that.
const SILENT_MS = 20_000;

export const isFinished = (status) => status !== "pending" && status !== "executing";

// `onText(text)` gets all the text so far, `onEnd(suggestion)` the whole suggestion, once;
// `onTrouble(isLost)` says that nothing comes, and that it does again. Gives a way to stop.
export function watch(id, { onText, onEnd, onTrouble }) {
  let source = null;
  let timer = 0;
  let isOver = false;
  let pause = ASK_EVERY_MS;

  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
  };

  const read = async () => {
    try {
      const suggestion = await call("GET", `suggestions/${id}`);
      if (isOver) return true;
      onTrouble(false);
      onText(suggestion.generated);
      pause = ASK_EVERY_MS;
      if (!isFinished(suggestion.status)) return false;
      stop();
      onEnd(suggestion);
      return true;
    } catch (problem) {
      if (isOver) return true;
      // Gone, or not ours any more: nothing will come.
      if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) {
        stop();
        onEnd({ id, status: "failed", problem: problem.sentence, generated: "" });
        return true;
      }
      onTrouble(true);
      pause = Math.min(2 * pause, ASK_AT_LEAST_EVERY_MS);
      return false;
    }
  };

  const poll = async () => {
    clearTimeout(timer);
    if (!isOver && !(await read())) timer = setTimeout(poll, pause);
  };

  const listen = () => {
    let text = "";
    const heed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { source.close(); poll(); }, SILENT_MS);
    };
    source = new EventSource(`${API}/suggestions/${id}/stream`);
    // Taken up again, it tells everything from the beginning.
    source.onopen = () => { text = ""; heed(); onTrouble(false); };
    source.addEventListener("text", (event) => {
      text += JSON.parse(event.data).text;
      heed();
      onText(text);
    });
    source.addEventListener("replace", (event) => {
      text = JSON.parse(event.data).text;
      heed();
      onText(text);
    });
    source.addEventListener("status", () => { source.close(); poll(); });
    source.onerror = () => {
      if (isOver) return;
      onTrouble(true);
      // The browser tries again by itself, unless it was refused.
      if (source.readyState === EventSource.CLOSED) poll();
    };
    heed();
  };

  listen();
  return stop;
}
