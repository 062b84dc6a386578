// What every page needs: elements, orders of tables, edges that fade.

function byId(id) {
  return document.getElementById(id);
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function written(value) {
  return String(value).replace("-", "−");
}

// Missing values come last, whichever the order.
function compared(one, other, descending) {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  const less = typeof one === "string" ? one.localeCompare(other) < 0 : one < other;
  return less === descending ? 1 : -1;
}

// Gives the order to sort by when a head is chosen: the better end first, then the other.
function turned(head) {
  const now = head.getAttribute("aria-sort");
  if (!now) return head.dataset.first ?? "ascending";
  return now === "ascending" ? "descending" : "ascending";
}

function markSorted(head, order) {
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
}

function isTyping(target) {
  return target.matches("input:not([type=checkbox]), select, textarea");
}

// A table that goes on beyond its edge fades out there.
function markMore() {
  for (const part of document.querySelectorAll(".scroll")) {
    const left = part.scrollWidth - part.clientWidth - part.scrollLeft;
    part.classList.toggle("more", left > 2);
  }
}

// The contents stay in view: beside the page where it is wide, else folded above it.
const contents = document.querySelector(".contents");

function foldContents(wide) {
  contents.open = wide.matches;
}

function markPlace() {
  const passed = (link) => (byId(link.hash.slice(1))?.getBoundingClientRect().top ?? 1e6) < 140;
  const links = [...contents.querySelectorAll("a")];
  const current = links.findLast(passed) ?? links[0];
  for (const link of links) link.removeAttribute("aria-current");
  current.setAttribute("aria-current", "true");
}

if (contents) {
  const wide = window.matchMedia("(min-width: 70rem)");
  wide.addEventListener("change", foldContents);
  foldContents(wide);
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a")) foldContents(wide);
  });
  window.addEventListener("scroll", markPlace, { passive: true });
  markPlace();
}

for (const part of document.querySelectorAll(".scroll")) {
  part.addEventListener("scroll", markMore, { passive: true });
}
window.addEventListener("resize", markMore);
new ResizeObserver(markMore).observe(document.body);
