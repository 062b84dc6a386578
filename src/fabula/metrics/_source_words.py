"""Words of a story and of its prompt, for metrics that ask what is taken from the prompt."""

from __future__ import annotations

from functools import lru_cache

from fabula.core.score import Missing, Status
from fabula.core.story import Story
from fabula.metrics._story_words import spacy_words, story_words
from fabula.text.fragments import FragmentSource
from fabula.text.words import words

TOKENS = {False: "unicode", True: "spacy-en"}


def story_tokens(story: Story, compat: bool) -> list[str]:
    """Words of the story; under compat spaCy's tokens, in the case they are written in."""
    return spacy_words(story.text) if compat else story_words(story.text)


def prompt_tokens(story: Story, compat: bool) -> list[str]:
    """Words of the prompt, by the same rule."""
    prompt = story.prompt or ""
    found = spacy_words(prompt) if compat else words(prompt)
    if not found:
        raise Missing(Status.UNDEFINED, "there is no word in the prompt")
    return found


def fragments(story: Story, compat: bool) -> tuple[list[int], int]:
    """Lengths of the runs that the story takes from its prompt, and the story's length."""
    found = [token.lower() for token in story_tokens(story, compat)]
    source = _source(tuple(token.lower() for token in prompt_tokens(story, compat)))
    return source.fragments(found), len(found)


@lru_cache(maxsize=64)
def _source(tokens: tuple[str, ...]) -> FragmentSource:
    """Index of a prompt, kept because the stories of all systems share it."""
    return FragmentSource(tokens)
