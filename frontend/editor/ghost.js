// A suggestion that is being written, shown at its place: no part of the document or of the log.

import { Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { offsetAt, positionAt } from "./text.js";

const key = new PluginKey("ghost");

export function ghostPlugin() {
  return new Plugin({
    key,
    state: {
      init: () => DecorationSet.empty,
      apply(transaction, shown) {
        const place = transaction.getMeta(key);
        if (place === undefined) return shown.map(transaction.mapping, transaction.doc);
        if (place === null) return DecorationSet.empty;
        const widget = Decoration.widget(place.pos, place.element, {
          side: 1,
          key: "ghost",
          ignoreSelection: true,
        });
        return DecorationSet.create(transaction.doc, [widget]);
      },
    },
    props: { decorations: (state) => key.getState(state) },
  });
}

export class Ghost {
  #view;
  #element = null;

  constructor(view) {
    this.#view = view;
  }

  #find() {
    return key.getState(this.#view.state).find()[0] ?? null;
  }

  // Where it is now, in code points: it moves along with what is typed before it.
  get offset() {
    const found = this.#find();
    return found && offsetAt(this.#view.state.doc, found.from);
  }

  // What comes after `end` (UTF-16 units) is shown as what will not be taken.
  show(offset, text, { status = "executing", end = text.length } = {}) {
    if (!this.#find()) {
      this.#element = document.createElement("span");
      this.#element.className = "ghost";
      // It is told in other ways to who does not see it: inside a textbox it would be read as text.
      this.#element.setAttribute("aria-hidden", "true");
      this.#element.contentEditable = "false";
      const place = { pos: positionAt(this.#view.state.doc, offset), element: this.#element };
      this.#dispatch(place);
    }
    // Only its own element changes as it streams in: the editor has nothing to do.
    this.#element.textContent = text.slice(0, end);
    if (end < text.length) {
      const rest = document.createElement("span");
      rest.className = "rest";
      rest.textContent = text.slice(end);
      this.#element.append(rest);
    }
    this.#element.dataset.status = status;
  }

  hide() {
    if (this.#find()) this.#dispatch(null);
    this.#element = null;
  }

  #dispatch(place) {
    this.#view.dispatch(this.#view.state.tr.setMeta(key, place).setMeta("addToHistory", false));
  }
}
