// A form with data-api ("POST games") is sent as JSON. Its fields are the body's; {names} in the
// address are those of fields, too. Then it goes to data-next, where {names} are the answer's, or
// the page is loaded again. What is empty is left out, or sent as "" (data-empty) or null
// (data-null). What is wrong is said in the form's [role=alert]; nothing is lost.

import { call, newKey, spellProblem } from "./api.js";

const fill = (text, values) =>
  text.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ""));

function readFields(form) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled || (field.type === "radio" && !field.checked)) continue;
    if (field.dataset.list !== undefined) {
      body[field.name] ??= [];
      if (field.checked) body[field.name].push(field.value);
    } else if (field.type === "checkbox") body[field.name] = field.checked;
    else if (field.type === "number") body[field.name] = field.value === "" ? null : +field.value;
    else if (field.value === "" && field.dataset.null !== undefined) body[field.name] = null;
    else if (field.value !== "" || field.dataset.empty !== undefined) body[field.name] = field.value;
  }
  return body;
}

export async function send(form) {
  const body = readFields(form);
  // The same key until it has been answered: sent twice is done once.
  if (form.dataset.keyed !== undefined) body.key = form.dataset.key ||= newKey();
  const [method, path] = form.dataset.api.split(" ");
  const names = new Set([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  const address = fill(path, body);
  for (const name of names) delete body[name];
  const answer = await call(method, address, method === "DELETE" && !Object.keys(body).length
    ? undefined : body);
  delete form.dataset.key;
  return answer;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.api) return;
  event.preventDefault();
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return;
  const alert = form.querySelector("[role=alert]");
  const buttons = form.querySelectorAll("button");
  if (alert) alert.textContent = "";
  for (const button of buttons) button.disabled = true;
  try {
    const answer = await send(form);
    const sent = new CustomEvent("sent", { bubbles: true, cancelable: true, detail: answer });
    if (!form.dispatchEvent(sent)) return;
    if (form.dataset.next !== undefined) location.assign(fill(form.dataset.next, answer ?? {}));
    else location.reload();
  } catch (problem) {
    if (!alert) throw problem;
    alert.textContent = spellProblem(problem);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
});

document.documentElement.dataset.forms = "ready";
for (const form of document.querySelectorAll("form[data-waiting]")) {
  delete form.dataset.waiting;
  form.requestSubmit();
}
