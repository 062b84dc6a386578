"""How a plain causal model is shown what it is to write from: the same in training and in use.

A model that only goes on with text has no roles and no turns: what it is told stands above the
story, and a line with a tag says where the story begins.

    Character: Mara, a smuggler who owes too much.

    Challenge: The bridge is watched.

    ***
    Mara waited for the lamps to go out …

Prompt and story are tokenised apart from one another, so that the first token of a story does not
depend on whether the story is known (training) or still to be written.
"""

from __future__ import annotations

from collections.abc import Sequence

TAG = "***"


def render_prompt(blocks: Sequence[tuple[str, str]], tag: str = TAG) -> str:
    """Give what stands before a story: titled blocks, a blank line after each, a line with the tag.

    A block is a title and a text; without a title (a lone prompt) the text stands alone, and a
    block without text is left out. Without a tag the story follows the last block's blank line.
    Without any block there is nothing before the story, and so no tag either.
    """
    paragraphs = [_render_block(title.strip(), text.strip()) for title, text in blocks]
    paragraphs = [paragraph for paragraph in paragraphs if paragraph]
    if not paragraphs:
        return ""
    end = f"{tag}\n" if tag else ""
    return "".join(f"{paragraph}\n\n" for paragraph in paragraphs) + end


def _render_block(title: str, text: str) -> str:
    """Put a title before a text; a text of several paragraphs begins on a line of its own."""
    if not text or not title:
        return text
    return f"{title}:\n{text}" if "\n" in text else f"{title}: {text}"
