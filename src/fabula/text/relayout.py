"""The same words set otherwise: changes of a text that no score should mind, unless of layout."""

from __future__ import annotations

import random
import re
import textwrap

from fabula.text.places import draw_places, find_words, part_sentences, put_into

_BREAK = re.compile(r"[^\S\n]*(?:\r\n?|[\n\u2028\u2029])\s*")
_SENTENCES = 3  # of a paragraph
_COLUMNS = 72
_TITLES = ("The Letter", "A Long Way Home", "What the Rain Said", "Before Morning")
_NOTES = (
    "Edit: fixed a few typos. Thanks for reading!",
    "Thanks for reading! Any feedback is welcome.",
    "EDIT: Thank you all for the kind words, I might write a part 2 soon.",
)
_END_MARK = re.compile(r"(?<=\w)([.,!?;:]+)(?!\S)|(?<=\w)([.,!?;:]+)(?=[\"”’'])")
_CLITIC = re.compile(r"(?<=\w)(n['’]t|['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_OPENING = re.compile(r"(?<!\S)[\"“](?=\w)")
_CLOSING = re.compile(r"(?<=[\w.,!?])[\"”](?!\w)")


def flatten(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Take all line breaks out; there is no chance in it."""
    flat = _BREAK.sub(" ", text.strip())
    return _or_none(text.strip(), flat)


def break_paragraphs(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Begin an indented paragraph after every third sentence, and nowhere else."""
    sentences = [_BREAK.sub(" ", sentence) for sentence in part_sentences(text).sentences]
    if len(sentences) <= _SENTENCES:
        return None
    starts = range(0, len(sentences), _SENTENCES)
    parts = [" ".join(sentences[start : start + _SENTENCES]) for start in starts]
    return _or_none(text, "\n\n".join(f"    {part}" for part in parts))


def wrap(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Wrap lines at 72 characters, with a blank line between those that there were."""
    lines = [line for line in text.splitlines() if line.strip()]
    blocks = [textwrap.fill(line, _COLUMNS, break_long_words=False) for line in lines]
    is_wrapped = any("\n" in block for block in blocks)
    return _or_none(text, "\n\n".join(blocks)) if is_wrapped else None


def emphasise(text: str, *, share: float = 0.05, seed: int = 0) -> str | None:
    """Set a share of the words in Markdown's italics or bold, and a rule between paragraphs."""
    words = find_words(text)
    if len(words) < 2:
        return None
    rng = random.Random(seed)
    # A word within marks of its own is left alone: stars there would be its text.
    able = [at for at, span in enumerate(words) if _stands_free(text, *span)]
    changes = {}
    for place in draw_places(rng, able, share * len(words)) if able else []:
        start, end = words[place]
        mark = rng.choice(("*", "**", "_"))
        changes[start, end] = f"{mark}{text[start:end]}{mark}"
    return _or_none(text, put_into(text, changes).replace("\n\n", "\n\n***\n\n", 1))


def add_title(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Put a title above the text, as a heading or on a line of its own."""
    if len(find_words(text)) < 2:
        return None
    rng = random.Random(seed)
    return f"{rng.choice(('# ', ''))}{rng.choice(_TITLES)}\n\n{text.lstrip()}"


def add_note(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Put a note about the text below it, as people do who post it."""
    if len(find_words(text)) < 2:
        return None
    return f"{text.rstrip()}\n\n{random.Random(seed).choice(_NOTES)}"


def tokenise(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Write marks apart from words, as corpora that were cut into tokens have them."""
    apart = _CLITIC.sub(r" \1", _CLOSING.sub(" ''", _OPENING.sub("`` ", text)))
    return _or_none(text, _END_MARK.sub(lambda mark: f" {mark[0]}", apart))


def _stands_free(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return (not before or before.isspace()) and (not after or after.isspace())


def _or_none(text: str, changed: str) -> str | None:
    return None if changed == text else changed
