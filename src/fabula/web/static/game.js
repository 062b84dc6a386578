// A game's pages: who wrote what is shown on wish, and forms whose fields depend on each other.

const SHOWN = "fabula-show-marks";

function toggleMarks() {
  const toggle = document.getElementById("show-marks");
  if (!toggle) return;
  const show = () => document.body.classList.toggle("with-marks", toggle.checked);
  toggle.checked = localStorage.getItem(SHOWN) === "yes";
  show();
  toggle.addEventListener("change", () => {
    localStorage.setItem(SHOWN, toggle.checked ? "yes" : "no");
    show();
  });
}

// As whom one writes says what kind of entry it becomes.
function followTeller() {
  const form = document.querySelector("form[data-write]");
  if (!form) return;
  const teller = form.elements.character_id;
  const follow = () => {
    form.elements.format.value = teller.selectedOptions[0].dataset.format;
    // Another entry is another draft: its key is its own.
    delete form.dataset.key;
  };
  teller.addEventListener("change", follow);
  // A browser that comes back restores what was chosen, and not what followed from it.
  follow();
}

// Points and stakes are a challenge's: other kinds of card do not have them.
function followKind() {
  const form = document.querySelector("form[data-card]");
  const stakes = form?.querySelector("[data-stakes]");
  if (!stakes) return;
  const follow = () => {
    const isChallenge = "challenge" in form.elements.namespace.selectedOptions[0].dataset;
    stakes.hidden = stakes.disabled = !isChallenge;
    for (const field of stakes.querySelectorAll("[name]")) field.disabled = !isChallenge;
  };
  form.elements.namespace.addEventListener("change", follow);
  follow();
}

toggleMarks();
followTeller();
followKind();

// On a phone the story comes first: what stands beside it is folded there.
const contents = document.getElementById("contents");
if (contents && matchMedia("(max-width: 60rem)").matches) contents.open = false;
