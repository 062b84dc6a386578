"""Tags that releases put into texts, turned into plain text."""

from __future__ import annotations

import re

_NEWLINE = re.compile(r"[ \t]*<(?:\\?newline|br ?/?)>[ \t]*")
_PROMPT = re.compile(r"^\s*\[ ?WP ?\]:?\s*")
_SENTENCE_END = re.compile(r"\s*</s>\s*")


def plain_text(text: str) -> str:
    r"""Turn `<newline>`, `<\newline>` and `<br>` into line ends; blanks at the ends go."""
    return _NEWLINE.sub("\n", text).strip()


def plain_prompt(prompt: str) -> str:
    """Drop the tag `[WP]` from the head of a prompt; other tags say something and stay."""
    return plain_text(_PROMPT.sub("", prompt))


def plain_sentences(text: str) -> str:
    """Drop the tag `</s>` behind every sentence."""
    return _SENTENCE_END.sub(" ", text).strip()
