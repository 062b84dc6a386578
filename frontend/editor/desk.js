// The desk: a draft in ProseMirror. Everything around it goes through what `createDesk` gives.

import { Schema } from "prosemirror-model";
import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { history } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { baseKeymap } from "prosemirror-commands";

export const schema = new Schema({
  nodes: {
    doc: { content: "paragraph+" },
    paragraph: { content: "text*", toDOM: () => ["p", 0], parseDOM: [{ tag: "p" }] },
    text: {},
  },
});

export function createDesk({ mount, draft }) {
  const lines = draft.text.split("\n");
  const doc = schema.node("doc", null, lines.map((line) =>
    schema.node("paragraph", null, line ? [schema.text(line)] : [])));
  const state = EditorState.create({ doc, plugins: [history(), keymap(baseKeymap)] });
  return { view: new EditorView(mount, { state }) };
}
