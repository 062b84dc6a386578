"""What `fabula review` says of twelve texts of our own, of many kinds: see docs/review.md.

    python benchmarks/review_kinds.py                  # with the usual weights
    python benchmarks/review_kinds.py --weights large  # or others
    python benchmarks/review_kinds.py FOLDER           # of other texts

The texts are in examples/kinds. Of each: where it stands with readers and with writers, how it
holds together, and in words what a writer would read.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from fabula import Story
from fabula.learned.writers import WriterOpinion
from fabula.reports.numbers import number_text
from fabula.reports.pages import markdown_table
from fabula.reports.review import repetition_words
from fabula.reports.tables import Table, TableColumn
from fabula.scoring.review import Review, review_story

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "kinds"
# What stories should be like comes first, then what is wrong with them, then what is none.
ORDER = (
    "good", "long", "flat", "boring", "shuffled", "loop", "ten_words", "poem", "german", "code",
    "advert", "chat_log",
)  # fmt: skip
MUCH_REPEATED = 0.1  # share of the text from which a repetition is named here


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--weights", default="reader")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.txt"), key=lambda file: (_place(file.stem), file.stem))
    rows, sayings = [], []
    for file in files:
        story = Story(file.stem, file.read_text(encoding="utf-8"))
        *_, review = review_story(story, weights=options.weights)
        rows.append(describe_numbers(review))
        sayings.append([_call(review), describe_words(review)])
    names = ("words", "readers", "writers", "engagement", "coherence", "sentence order")
    heads = ["text", *(TableColumn(name, align="right") for name in names)]
    print(markdown_table(Table(heads, rows)))
    print()
    print(markdown_table(Table(["text", "what the review says"], sayings)))


def describe_numbers(review: Review) -> list[str]:
    """Give the row of a text: what is not told is a dash."""
    writers = review.writers
    return [
        _call(review),
        f"{review.statistics['words']:,.0f}",
        _percentile(review.percentile, review.interval),
        _score_of(writers) if writers else "–",
        _number(review.criteria.get("engagement", math.nan), 1),
        _number(review.coherence, 2),
        _number(review.order, 2),
    ]


def _score_of(writers: WriterOpinion) -> str:
    """Give the score that writers would give, and where it stands if that is known."""
    if writers.withheld:
        return "withheld"
    place = _percentile(writers.percentile, writers.interval)
    score = f"{writers.score:.1f} of 10"
    return score if place == "–" else f"{score}, {place}"


def describe_words(review: Review) -> str:
    """Give in words what a review says beside its numbers."""
    if review.unlike:
        return f"No opinion: {review.unlike}."
    said = [warning.partition(": ")[2] for warning in review.warnings]
    if review.is_loose:
        said.append("its sentences hardly hold together")
    if review.parting:
        said.append(f"{review.parting} would think more of it")
    said += [
        f"“{' '.join(run.text.split()[:8])} …” {repetition_words(run)}"
        for run in review.repetition[:1]
        if run.share >= MUCH_REPEATED
    ]
    first, *others = review.observations or (None,)
    said += [f"{first.said} ({first.comparison})"] if first else []
    said += [f"also: {', '.join(note.name for note in others)}"] if others else []
    if review.weakest is not None:
        said.append(f"step {review.weakest + 1} of {len(review.transitions)} stands out")
    return "; ".join(said) or "Nothing that is measured here is rare in human stories."


def _call(review: Review) -> str:
    return review.story.id.replace("_", " ")


def _place(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _percentile(value: float, interval: tuple[float, float]) -> str:
    if not math.isfinite(value):
        return "–"
    low, high = interval
    return f"{value:.0f} [{low:.0f}, {high:.0f}]" if math.isfinite(low) else f"{value:.0f}"


def _number(value: float, decimals: int) -> str:
    return number_text(value, decimals) if math.isfinite(value) else "–"


if __name__ == "__main__":
    main()
