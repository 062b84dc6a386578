"""Words of a story for metrics that count them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fabula.core.score import Missing, Status
from fabula.text.words import ascii_words, words

# HANNA was scored with spaCy 2, whose rules differ from today's in these words of its stories.
_SPACY_2 = {"May.": ("May.",)} | {
    word + mark + "re": (word, mark + "re") for word in ("that", "That") for mark in "'’"
}


# spaCy takes a run of brackets apart one by one, in time that grows with its square.
_LONGEST_RUN = 2_000


@lru_cache(maxsize=256)
def story_words(text: str, ascii_only: bool = False) -> list[str]:
    """Words of any script, or by the ASCII rule; a story with none has no value."""
    found = ascii_words(text) if ascii_only else words(text)
    if not found:
        raise Missing(Status.UNDEFINED, "there is no word in the story")
    return found


@lru_cache(maxsize=256)
def spacy_words(text: str) -> list[str]:
    """Tokens as HANNA's statistics count them: spaCy's rules, case kept, a newline at the end."""
    longest = max(map(len, text.split()), default=0)
    if longest > _LONGEST_RUN:
        note = f"{longest:,} characters without a blank are more than the limit of {_LONGEST_RUN:,}"
        raise Missing(Status.TOO_LONG, note)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [token.text for token in _tokenizer()(whole + "\n")]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        import spacy
    except ImportError:
        raise Missing(Status.MISSING_MODEL, "needs spaCy: pip install 'fabula[nlp]'") from None
    tokenizer = spacy.blank("en").tokenizer
    for word, parts in _SPACY_2.items():
        tokenizer.add_special_case(word, [{"ORTH": part} for part in parts])
    return tokenizer
