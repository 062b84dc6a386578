"""RUBER on HANNA's machine stories: relevance, beside counting shared words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.learned.ruber_model.network import cosine, load_ruber
from fabula.meta.arrays import Values
from fabula.replication.checks._agreement import correlated
from fabula.replication.checks._finding import Finding, reported, unchecked
from fabula.replication.checks._learned import dataset, gold_of, items_of, scored, trivial
from fabula.replication.hanna.columns import by_machines
from fabula.text.words import words

_PART = "Relevance (ruber), HANNA's machine stories, Spearman over all stories"
_CLAIM = "ruber, the prompt and the story"


def findings(data: Path | None) -> Iterator[Finding]:
    """Correlate with the raters' relevance; HANNA is not learned from."""
    try:
        hanna = dataset("hanna", data)
        stories = list(by_machines(hanna))
        columns = {
            "ruber": scored(stories, "ruber"),
            "cosine": _cosines(stories),
            "overlap": np.array([_overlap(one) for one in stories]),
            **trivial(stories),
        }
    except UserError as error:
        yield unchecked(_PART, _CLAIM, str(error))
        return
    measured = correlated(columns, gold_of(hanna, stories, "relevance"), items_of(stories))
    rivals = [name for name in columns if name != "ruber"]
    found = f"{measured.words('ruber')}, {measured.n} stories; {measured.gain('ruber', rivals)}"
    yield reported(_PART, _CLAIM, found)
    claims = {
        "cosine": "cosine of the pooled vectors of prompt and story, no training",
        "overlap": "share of the prompt's words that the story holds",
    }
    for name, claim in claims.items():
        yield reported(_PART, claim, measured.words(name))


def _cosines(stories: Sequence[Story]) -> Values:
    model = load_ruber("ruber")
    texts, prompts = ([one.text for one in stories], [one.prompt or "" for one in stories])
    pooled = zip(model.pool(texts), model.pool(prompts), strict=True)
    return np.array([cosine(one.vector, other.vector) for one, other in pooled])


def _overlap(story: Story) -> float:
    asked = set(words(story.prompt or ""))
    return len(asked & set(words(story.text))) / len(asked) if asked else float("nan")
