// How it is seen who wrote what: the document's marks follow the log, and a suggestion's mark fades
// as its text is rewritten.

import { findStrengths } from "./marks.js";
import { markOf, measureNode, offsetAt, positionAt, countUnits } from "./text.js";

const STEPS = 5;

// Sets the document's marks from offset `start` to `stop` to what the runs say; null where they are.
export function followRuns(state, runs, start, stop) {
  const { doc } = state;
  const transaction = state.tr.setMeta("addToHistory", false).setMeta("marks", true);
  const [from, to] = [positionAt(doc, start), positionAt(doc, stop)];
  let place = 0;
  let end = runs[0]?.length ?? 0;
  doc.nodesBetween(from, to, (node, pos) => {
    if (!node.isText) return true;
    let at = offsetAt(doc, pos);
    const last = at + measureNode(node);
    let units = 0;
    while (at < last) {
      while (place < runs.length - 1 && end <= at) end += runs[++place].length;
      const next = Math.min(last, Math.max(end, at + 1));
      const taken = countUnits(node.text.slice(units), next - at);
      const wanted = runs[place] ? markOf(runs[place]) : [];
      const has = node.marks[0];
      if (wanted.length ? !has?.eq(wanted[0]) : has) {
        transaction.removeMark(pos + units, pos + units + taken);
        if (wanted.length) transaction.addMark(pos + units, pos + units + taken, wanted[0]);
      }
      units += taken;
      at = next;
    }
    return false;
  });
  return transaction.docChanged ? transaction : null;
}

// Elements of suggestions, whose class says how much of each still stands.
export class Fading {
  #elements = new Map();
  #strengths = new Map();

  get markViews() {
    return { machine: this.#makeView("by-machine"), edited: this.#makeView("by-edited") };
  }

  #makeView(name) {
    return (mark) => {
      const dom = document.createElement("span");
      const { id } = mark.attrs;
      dom.className = name;
      dom.dataset.suggestion = id;
      this.#paint(dom, this.#strengths.get(id) ?? STEPS);
      if (!this.#elements.has(id)) this.#elements.set(id, new Set());
      this.#elements.get(id).add(dom);
      return {
        dom,
        contentDOM: dom,
        ignoreMutation: (mutation) => mutation.type === "attributes",
        destroy: () => this.#elements.get(id)?.delete(dom),
      };
    };
  }

  #paint(dom, strength) {
    dom.dataset.stands = strength;
  }

  follow(runs) {
    const strengths = findStrengths(runs);
    for (const [id, strength] of strengths) {
      if (this.#strengths.get(id) === strength) continue;
      for (const dom of this.#elements.get(id) ?? []) this.#paint(dom, strength);
    }
    this.#strengths = strengths;
  }
}
