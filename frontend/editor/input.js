// What comes into the desk: keys, plain text by paste and drop, and only characters that the
// studio keeps.

import { baseKeymap, splitBlock } from "prosemirror-commands";
import { closeHistory, redo, undo } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { Plugin, TextSelection } from "prosemirror-state";
import { ReplaceStep } from "prosemirror-transform";
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

// Puts the plain text of a paste or drop in, as a step of its own.
function bringIn(view, data, { from, to }) {
  const text = cleanText(data?.getData("text/plain") ?? "");
  if (!text) return;
  const $from = view.state.doc.resolve(from);
  const coming = closeHistory(view.state.tr);
  // A whole document is selected from outside its paragraphs.
  if ($from.depth) coming.step(new ReplaceStep(from, to, makeSlice(text)));
  else coming.replace(from, to, makeSlice(text));
  const end = coming.mapping.map(to);
  coming.setSelection(TextSelection.near(coming.doc.resolve(end), -1));
  view.dispatch(coming.scrollIntoView().setMeta("uiEvent", "paste"));
  view.dispatch(closeHistory(view.state.tr));
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
      handleDOMEvents: {
        // Before anybody makes a document of what is in the clipboard: only its text comes in.
        paste(view, event) {
          event.preventDefault();
          if (view.editable) bringIn(view, event.clipboardData, view.state.selection);
          return true;
        },
        drop(view, event) {
          // What is moved within the desk stays whose it was.
          if (view.dragging) return false;
          event.preventDefault();
          const place = view.posAtCoords({ left: event.clientX, top: event.clientY });
          const at = place && { from: place.pos, to: place.pos };
          if (at && view.editable) bringIn(view, event.dataTransfer, at);
          return true;
        },
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
