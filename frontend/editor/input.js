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

// Looks at what a transaction brought, and at the characters beside it; node by node, for halves
// that belong to different authors are two halves.
function leavesUnclean({ doc, mapping }) {
  let isUnclean = false;
  mapping.maps.forEach((map, at) => map.forEach((_from, _to, start, end) => {
    const rest = mapping.slice(at + 1);
    const from = Math.max(0, rest.map(start, -1) - 1);
    const to = Math.min(doc.content.size, rest.map(end, 1) + 1);
    doc.nodesBetween(from, to, (node, pos) => {
      if (node.isText) isUnclean ||= !isClean(cutWhole(node.text, from - pos, to - pos));
    });
  }));
  return isUnclean;
}

// A part of a text, a little longer where it would cut a character in two.
function cutWhole(text, from, to) {
  if (/[\udc00-\udfff]/.test(text.charAt(from))) from -= 1;
  if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to += 1;
  return text.slice(Math.max(0, from), Math.max(0, to));
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
    // Whatever way a character came that cannot be kept, or was cut in two, it goes again.
    appendTransaction(transactions, _, state) {
      if (!transactions.some((one) => leavesUnclean(one))) return null;
      const mended = state.tr;
      state.doc.descendants((node, pos) => {
        if (!node.isText || isClean(node.text)) return;
        const text = cleanText(node.text).replaceAll("\n", " ");
        const from = mended.mapping.map(pos);
        if (text) mended.replaceWith(from, from + node.nodeSize, node.type.schema.text(text, node.marks));
        else mended.delete(from, from + node.nodeSize);
      });
      return mended.docChanged ? mended : null;
    },
  });
}
