// Runs before anything is shown: a form that is sent before forms.js is there waits for it, instead
// of being sent by the browser, which would put its fields into the address.
document.addEventListener("submit", (event) => {
  const { dataset } = document.documentElement;
  if (!event.target.dataset.api || dataset.forms === "ready") return;
  event.preventDefault();
  event.target.dataset.waiting = "";
}, true);
