// Coming in and going: enters with the names that a crowd site has put into the address, agrees to
// what was read, and copies the completion code.

import { call, spellProblem } from "./api.js";

const form = document.getElementById("enter");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const alert = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  const consent = form.querySelector("#consent");
  alert.textContent = "";
  button.disabled = true;
  try {
    const parameters = Object.fromEntries(new URLSearchParams(location.search));
    const body = { parameters, consents: consent?.checked ?? false };
    await call("POST", `rating/enter/${form.dataset.code}`, body);
    location.assign(form.dataset.next);
  } catch (problem) {
    alert.textContent = spellProblem(problem);
    button.disabled = false;
  }
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const code = document.getElementById(button.dataset.copy);
    const told = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = told.textContent = "Copied";
    } catch {
      // Where a page may not copy, the code is selected for the keyboard.
      getSelection().selectAllChildren(code);
      told.textContent = "Selected: press Ctrl and C to copy";
    }
  });
}
