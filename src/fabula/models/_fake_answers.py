"""Answers for tests: what stands in the text, and not in the question, among its words."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.core.model import Answer, Span

NEAR = 3
LONGEST = 4


def answer_from(
    question: Sequence[str], text: str, *, tokens: Sequence[str], spans: Sequence[Span]
) -> Answer:
    """Answer with the words whose neighbours the question knows best, the first of several."""
    known = {token.lower() for token in question}
    shared = [token.lower() in known for token in tokens]
    best, found = 0.0, range(0)
    for run in _runs([token[0].isalnum() for token in tokens], shared):
        around = [
            *shared[max(run.start - NEAR, 0) : run.start],
            *shared[run.stop : run.stop + NEAR],
        ]
        if (sure := (1 + sum(around)) / (2 + 2 * NEAR)) > best:
            best, found = sure, run
    if not found:
        return Answer("", 0.0)
    return Answer(text[spans[found[0]][0] : spans[found[-1]][1]], best)


def _runs(words: Sequence[bool], shared: Sequence[bool]) -> list[range]:
    """Places of words next to each other that the question does not hold, a few at a time."""
    found: list[range] = []
    for place, (word, known) in enumerate(zip(words, shared, strict=True)):
        if not word or known:
            continue
        if found and found[-1].stop == place and len(found[-1]) < LONGEST:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found
