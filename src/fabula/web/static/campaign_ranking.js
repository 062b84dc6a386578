// A ranking: stories in a list, best first, moved by buttons, by digits, by the arrows of the
// keyboard, or dragged. As long as nobody has moved one, or said to keep the order, it is no answer.

export function makeRanking(root) {
  const list = root.querySelector(".ranking");
  const told = root.querySelector("[data-told]");
  const first = [...list.children].map(({ dataset }) => dataset.id);
  let isRanked = false;

  const read = () => [...list.children].map(({ dataset }) => dataset.id);
  const nameOf = (item) => item.querySelector(".name").textContent;

  function show() {
    const items = [...list.children];
    for (const [at, item] of items.entries()) {
      item.querySelector('[data-move="-1"]').disabled = at === 0;
      item.querySelector('[data-move="1"]').disabled = at === items.length - 1;
    }
    root.querySelector("[data-ranked]").textContent = isRanked ? "Ranked." : "Not ranked yet.";
    root.querySelector("[data-keep]").hidden = isRanked;
  }

  function settle() {
    isRanked = true;
    show();
    root.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function move(item, to) {
    const others = [...list.children].filter((each) => each !== item);
    const at = Math.max(0, Math.min(others.length, to));
    list.insertBefore(item, others[at] ?? null);
    told.textContent = `${nameOf(item)} is number ${at + 1} of ${list.children.length}.`;
    settle();
  }

  // A button that ends at the edge cannot keep the focus: its neighbour takes it.
  function refocus(item, step) {
    const button = item.querySelector(`[data-move="${step}"]`);
    (button.disabled ? item.querySelector(`[data-move="${-step}"]`) : button).focus();
  }

  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (!button) return;
    const item = button.closest("li");
    move(item, [...list.children].indexOf(item) + Number(button.dataset.move));
    refocus(item, Number(button.dataset.move));
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const item = event.target.closest("li");
    if (!step || !item) return;
    event.preventDefault();
    move(item, [...list.children].indexOf(item) + step);
    refocus(item, step);
  });
  root.querySelector("[data-keep]").addEventListener("click", settle);
  letDrag(list, settle);
  show();

  return {
    get order() {
      return isRanked ? read() : undefined;
    },
    set order(ids) {
      const isWhole = ids?.length === first.length && first.every((id) => ids.includes(id));
      for (const id of isWhole ? ids : first) list.append(list.querySelector(`[data-id="${id}"]`));
      isRanked = isWhole;
      show();
    },
    // Puts the story that has the focus in its place; the first one where none has.
    place(digit) {
      const item = document.activeElement?.closest?.(".ranking > li") ?? list.children[0];
      if (!list.contains(item) || digit < 1 || digit > list.children.length) return false;
      move(item, digit - 1);
      refocus(item, -1);
      return true;
    },
  };
}

// By pointer events, which fingers have as well.
function letDrag(list, settle) {
  let held = null;
  list.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button") || event.button) return;
    held = event.target.closest("li");
    if (!held || held.closest("fieldset").disabled) return void (held = null);
    list.setPointerCapture(event.pointerId);
    held.classList.add("held");
    event.preventDefault();
  });
  list.addEventListener("pointermove", (event) => {
    if (!held) return;
    const isNext = (item) => {
      const { top, height } = item.getBoundingClientRect();
      return event.clientY < top + height / 2;
    };
    const others = [...list.children].filter((each) => each !== held);
    const next = others.find(isNext) ?? null;
    if (held.nextElementSibling !== next) list.insertBefore(held, next);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    list.addEventListener(end, () => {
      if (!held) return;
      held.classList.remove("held");
      held = null;
      settle();
    });
  }
}
