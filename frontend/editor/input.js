// What comes into the desk: keys, plain text by paste and drop, and only characters that the
// studio keeps.

import { baseKeymap, splitBlock } from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Plugin } from "prosemirror-state";
import { cleanText, isClean, makeSlice } from "./text.js";

export function keyPlugins() {
  return [
    keymap({
      "Mod-z": undo,
      "Mod-y": redo,
      "Shift-Mod-z": redo,
      // A text has no line ends but those of its paragraphs.
      "Shift-Enter": splitBlock,
    }),
    keymap(baseKeymap),
  ];
}

export function plainTextPlugin() {
  // Some keyboards send a character outside the first plane as two events, a half each.
  let half = "";
  return new Plugin({
    props: {
      handleTextInput(view, from, to, text) {
        const whole = half + text;
        half = /[\ud800-\udbff]$/.test(whole) ? whole.slice(-1) : "";
        const given = whole.slice(0, whole.length - half.length);
        if (given === text && isClean(text)) return false;
        if (given) view.dispatch(view.state.tr.insertText(cleanText(given), from, to).scrollIntoView());
        return true;
      },
      handlePaste(view, event) {
        const text = cleanText(event.clipboardData?.getData("text/plain") ?? "");
        if (!text) return true;
        const pasted = view.state.tr.replaceSelection(makeSlice(text));
        view.dispatch(pasted.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
        return true;
      },
      handleDrop(view, event, slice, moved) {
        // What is moved within the desk stays whose it was; from elsewhere only text comes in.
        if (moved) return false;
        const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
        const text = cleanText(event.dataTransfer?.getData("text/plain") ?? "");
        event.preventDefault();
        if (!text || !place) return true;
        const dropped = view.state.tr.replace(place.pos, place.pos, makeSlice(text));
        view.dispatch(dropped.scrollIntoView().setMeta("uiEvent", "drop"));
        return true;
      },
      clipboardTextSerializer: (slice) => {
        const lines = [];
        slice.content.forEach((node) => lines.push(node.textContent));
        return lines.join(slice.content.firstChild?.isText ? "" : "\n");
      },
    },
    // Whatever way a character came that cannot be kept, it goes again.
    appendTransaction(transactions, _, state) {
      let mended = null;
      for (const transaction of transactions) {
        for (const step of transaction.steps) {
          if (!step.slice?.size || isClean(step.slice.content.textBetween(0, step.slice.content.size))) continue;
          mended ??= state.tr;
        }
      }
      if (!mended) return null;
      state.doc.descendants((node, pos) => {
        if (!node.isText || isClean(node.text)) return;
        const text = cleanText(node.text).replaceAll("\n", " ");
        const from = mended.mapping.map(pos);
        if (text) mended.replaceWith(from, from + node.nodeSize, node.type.schema.text(text, node.marks));
        else mended.delete(from, from + node.nodeSize);
      });
      return mended;
    },
  });
}
