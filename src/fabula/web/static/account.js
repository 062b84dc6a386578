// Secrets that are shown once, with a way to copy them; moments in the reader's own time.

document.addEventListener("sent", (event) => {
  const { once, shows } = event.target.dataset;
  if (!once) return;
  // The page is not loaded again before the secret has been read.
  event.preventDefault();
  const box = document.getElementById(shows);
  box.querySelector("output").textContent = event.detail[once];
  box.hidden = false;
  event.target.reset();
  box.focus();
});

async function copy(button) {
  const output = button.parentElement.querySelector("output");
  try {
    await navigator.clipboard.writeText(output.textContent);
    button.textContent = "Copied";
  } catch {
    // Over plain http there is no clipboard: it is marked, to be copied by hand.
    getSelection().selectAllChildren(output);
    button.textContent = "Press Ctrl+C";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.copy !== undefined) copy(button);
  if (button?.dataset.reload !== undefined) location.reload();
});
