// Dialogues that a button opens (data-opens), and folds that stay as they were left: a page that
// has changed something is loaded again, and would close what one is working in.

const remembered = `folds:${location.pathname}`;

function readOpen() {
  try {
    return new Set(JSON.parse(sessionStorage.getItem(remembered) ?? "[]"));
  } catch {
    return new Set();
  }
}

function keepFolds() {
  const open = readOpen();
  for (const fold of document.querySelectorAll("details[id]")) {
    if (open.has(fold.id)) fold.open = true;
    fold.addEventListener("toggle", () => {
      const now = readOpen();
      if (fold.open) now.add(fold.id);
      else now.delete(fold.id);
      sessionStorage.setItem(remembered, JSON.stringify([...now]));
    });
  }
}

// Where one had scrolled to, once: the page comes back at the same place, not at its top.
function keepPlace() {
  const place = `place:${location.pathname}${location.search}`;
  const top = sessionStorage.getItem(place);
  if (top !== null && !location.hash) scrollTo(0, Number(top));
  sessionStorage.removeItem(place);
  document.addEventListener("sent", () => sessionStorage.setItem(place, String(scrollY)));
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens)?.showModal();
  if (event.target.closest?.("[data-closes]")) event.target.closest("dialog")?.close();
  // The dialogue itself is hit only beside its content: on what lies behind it.
  if (event.target.nodeName === "DIALOG" && isBeside(event)) event.target.close();
});

function isBeside({ clientX, clientY, target }) {
  const box = target.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}

keepFolds();
keepPlace();
