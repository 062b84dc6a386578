"""Words for metrics that count them: of a story, of its prompt, without stop words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabula.core.errors import PackageMissing, SettingError
from fabula.core.files import read_bounded
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.story import Story
from fabula.text.fragments import FragmentSource
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
    tokens = ascii_words(text) if ascii_only else words(text)
    if not tokens:
        raise Missing(Status.UNDEFINED, "there is no word in the story")
    return tokens


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
        raise Missing(Status.MISSING_MODEL, str(PackageMissing("spaCy", "nlp"))) from None
    tokenizer = spacy.blank("en").tokenizer
    for word, parts in _SPACY_2.items():
        tokenizer.add_special_case(word, [{"ORTH": part} for part in parts])
    return tokenizer


TOKENS = {False: "unicode", True: "spacy-en"}


def story_tokens(story: Story, compat: bool) -> list[str]:
    """Words of the story; under compat spaCy's tokens, in the case they are written in."""
    return spacy_words(story.text) if compat else story_words(story.text)


def prompt_tokens(story: Story, compat: bool) -> list[str]:
    """Words of the prompt, by the same rule."""
    prompt = story.prompt or ""
    tokens = spacy_words(prompt) if compat else words(prompt)
    if not tokens:
        raise Missing(Status.UNDEFINED, "there is no word in the prompt")
    return tokens


def fragments(story: Story, compat: bool) -> tuple[list[int], int]:
    """Lengths of the runs that the story takes from its prompt, and the story's length."""
    tokens = [token.lower() for token in story_tokens(story, compat)]
    source = _source(tuple(token.lower() for token in prompt_tokens(story, compat)))
    return source.fragments(tokens), len(tokens)


@lru_cache(maxsize=64)
def _source(tokens: tuple[str, ...]) -> FragmentSource:
    """Index of a prompt, kept because the stories of all systems share it."""
    return FragmentSource(tokens)


@dataclass(frozen=True)
class WordMetric(StoryMetric):
    """A metric of a story's words: of any script, under compat by the ASCII rule."""

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": "ascii" if self.compat else "unicode"}

    def words_of(self, story: Story) -> list[str]:
        """Words of a story; one with none has no value."""
        return story_words(story.text, self.compat)


_FOLDER = Path(__file__).parent / "_lexicons"
_OWN = ("english", "user")
# Of a list of stop words; all words of a language are fewer.
_MOST_BYTES = 10_000_000


def stop_words(name: str) -> frozenset[str]:
    """Give the words of a list: '' for none, 'english' for ours, else a file, one word a line."""
    if not name:
        return frozenset()
    if name in _OWN:
        return read_words(name)
    try:
        return _words_of(Path(name))
    except (OSError, ValueError) as error:
        raise SettingError(
            f"stop_words={name!r} cannot be read ({error})", "give 'english' or a text file"
        ) from None


@lru_cache(maxsize=8)
def read_words(name: str) -> frozenset[str]:
    """Give a list of words that ships with the metrics."""
    return _words_of(_FOLDER / f"{name}.txt")


def _words_of(path: Path) -> frozenset[str]:
    lines = read_bounded(path, _MOST_BYTES).decode("utf-8").lower().splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def stop_words_digest(words: frozenset[str]) -> str:
    """Short digest of a list's words, for signatures."""
    joined = "\n".join(sorted(words))
    return hashlib.sha256(joined.encode()).hexdigest()[:8]
