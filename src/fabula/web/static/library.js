// A game that is brought along: the file goes to the studio as it is, so that nothing of it is
// changed on the way. Packed where the browser can, for games are long.

import { call, spellProblem } from "./api.js";

const form = document.querySelector("form[data-import]");
const alert = form.querySelector("[role=alert]");
const status = form.querySelector("[role=status]");

function findProblem(file, text) {
  const largest = Number(form.dataset.largest);
  if (file.size > largest) {
    const size = (file.size / 2 ** 20).toFixed(1);
    return `${file.name} has ${size} MB: ${Math.floor(largest / 2 ** 20)} MB are the most`;
  }
  try {
    JSON.parse(text);
  } catch (error) {
    return `${file.name} is not JSON (${error.message}): export the game again`;
  }
  return "";
}

async function pack(file) {
  if (typeof CompressionStream === "undefined") return [file, {}];
  const packed = file.stream().pipeThrough(new CompressionStream("gzip"));
  return [await new Response(packed).blob(), { "Content-Encoding": "gzip" }];
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [file] = form.elements.file.files;
  const button = form.querySelector("button.first");
  alert.textContent = "";
  status.textContent = "Reading the file …";
  button.disabled = true;
  try {
    const problem = findProblem(file, await file.text());
    if (problem) throw new Error(problem);
    status.textContent = "Importing …";
    const [body, headers] = await pack(file);
    const { id } = await call("POST", "games/import", body, { headers });
    location.assign(`/games/${id}`);
  } catch (problem) {
    alert.textContent = spellProblem(problem);
    status.textContent = "";
  } finally {
    button.disabled = false;
  }
});
