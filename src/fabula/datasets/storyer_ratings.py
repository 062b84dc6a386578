"""StoryER: stories whose aspects readers rated, with a comment on each rating."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.datasets.releases.pickles import is_pickle, read_pickled_rows
from fabula.datasets.releases.reading import (
    Placed,
    StoriesByPrompt,
    choose_files,
    clean_prompt,
    clean_text,
    fit_card,
    gather_scores,
    get_list,
    get_text,
    note_findings,
    read_rating,
)
from fabula.datasets.tables.rows import Row, read_rows

ASPECTS = (
    "opening", "middle", "ending", "character", "scene",
    "heartwarming", "sad", "horror", "funny", "novelty",
)  # fmt: skip
UPVOTES = "upvotes"

CARD = DatasetCard(
    title="StoryER ratings and comments",
    about="Stories that people wrote on prompts of r/WritingPrompts. A rater picks the three to "
    "five of ten aspects that they are most sure of, rates each from 1 to 5 and says why; the "
    "comment is the note of the rating. The scorer `upvotes` is the number of votes the story "
    "had. The counts are those of the small public part; other files of the same form are read "
    "as well, and not counted; of a folder, all whose names hold `rate` or `reason` together. A "
    "pickle of (story, mean rating) pairs, as the correlation sets of "
    "the paper are, is read with one rating a story: `human:mean`, from 0 to 1.",
    licence="none stated",
    citation="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
    "via ranking, rating and reasoning. EMNLP, 1739–1753.",
    source="sairin1202/StoryER",
    files={
        "train_rate_reason_small.json": "a list of submissions: story, score (upvotes), prompt, "
        "comments (five of [aspect, rating, comment]; unused ones are [-1, -1, NaN])",
        "*.pkl": "a pickled list of (story, mean rating)",
    },
    checksums={
        "train_rate_reason_small.json": (
            "363a5b90581b8cfdccbea1e0712e625403ea8e2ed70dbc6fb6a8fdbe430ac062"
        ),
    },
    counts={"stories": 100, "items": 100, "ratings": 303, "scores": 100},
    scales=dict.fromkeys(ASPECTS, (1.0, 5.0)),
    quirks=(
        "A submission is a rater: `human:2` is the second submission for a story, whoever sent it.",
        "A rating without an aspect (-1) is left out; the public part has two of them. One without "
        "a comment is kept.",
        "A submission that comes again is left out, and so are upvotes of a story that its "
        "submissions tell differently; `fabula data add` says how many. Upvotes need not be there.",
        "The tag `<br>` is read as a line end, and `[WP]` before a prompt is dropped.",
    ),
    raters_known=False,
)
_SLOTS = 5
_RATED = re.compile(r"(?<![a-z])(?:rat(?:e|es|ed|ing|ings)|reasons?)(?![a-z])")


def load(path: Path | None = None) -> Dataset:
    """Load rated and commented stories, of a folder all its parts; or a pickled correlation set.

    A submission that comes again is left out, and so are upvotes of a story that its submissions
    tell differently; the card of what is loaded counts them.
    """
    files = choose_files(path, is_part, "train_rate_reason_small.json")
    if is_pickle(files[0].path):
        return load_correlation(files[0].path)
    stories = StoriesByPrompt()
    submissions: Counter[str] = Counter()
    ratings: list[Placed[Score]] = []
    votes: dict[str, set[float]] = {}
    seen: set[str] = set()
    again = 0
    for file in files:
        for where, row in read_rows(file):
            prompt = clean_prompt(get_text(row, "prompt", where))
            story = stories.add(prompt, clean_text(get_text(row, "story", where)))
            if not _is_missing(row.get("score")):
                votes.setdefault(story.id, set()).add(read_rating(row["score"], where))
            key = f"{story.id} {row.get('comments')}"
            if key in seen:
                again += 1
                continue
            seen.add(key)
            submissions[story.id] += 1
            ratings += _read_ratings(row, story, f"human:{submissions[story.id]}", where)
    known = {id: found.pop() for id, found in votes.items() if len(found) == 1}
    findings = _list_findings(again, unlike=len(votes) - len(known))
    return Dataset(
        "storyer_ratings",
        note_findings(fit_card(CARD, *files), findings),
        stories.stories,
        gather_scores(stories.stories, ratings),
        ScoreTable(stories.stories, [Score(id, UPVOTES, "", value) for id, value in known.items()]),
        {UPVOTES: ScorerCard("label", "higher")},
    )


def _list_findings(again: int, *, unlike: int) -> Iterator[str]:
    """Say what is odd about the submissions of these files."""
    if again:
        yield f"Left out: {count_text(again, 'submission')} that came before."
    if unlike:
        of = count_text(unlike, "story", "stories")
        yield f"Left out: upvotes of {of} whose submissions tell them differently."


def is_part(name: str) -> bool:
    """Whether a file of a folder holds rated comments, by the names of the release."""
    return name.endswith((".json", ".jsonl")) and bool(_RATED.search(name))


def load_correlation(path: Path) -> Dataset:
    """Load a pickled list of (story, mean rating from 0 to 1); a row that comes again is left out.

    The card of what is loaded counts them.
    """
    stories: list[Story] = []
    scores: list[Score] = []
    places: dict[str, tuple[str, float]] = {}
    again = 0
    for number, (where, row) in enumerate(read_pickled_rows(path, ("story", "score")), 1):
        text = clean_text(get_text(row, "story", where))
        value = read_rating(row["score"], where, (0.0, 1.0))
        before, rated = places.setdefault(text, (where, value))
        if before != where and rated != value:
            problem = f"{where}: the story of {before}, rated {value:g} and not {rated:g}"
            raise InputError(problem, "keep one of the two")
        if before != where:
            again += 1
            continue
        stories.append(Story(str(number), text))
        scores.append(Score(str(number), "human:mean", "overall", value))
    card = replace(
        CARD,
        title=f"StoryER correlation set {path.name}",
        counts={},
        scales={"overall": (0.0, 1.0)},
    )
    findings = [f"Left out: {count_text(again, 'row')} that came before."] * bool(again)
    card = note_findings(card, findings)
    return Dataset("storyer_ratings", card, tuple(stories), ScoreTable(stories, scores))


def _read_ratings(row: Row, story: Story, scorer: str, where: str) -> Iterator[Placed[Score]]:
    for slot, triple in enumerate(get_list(row, "comments", where, _SLOTS), 1):
        place = f"{where}, comment {slot}"
        aspect, value, comment = _split_triple(triple, place)
        if aspect is not None:
            checked = read_rating(value, place, CARD.scale(aspect))
            yield place, Score(story.id, scorer, aspect, checked, note=comment)


def _split_triple(triple: Any, where: str) -> tuple[str | None, Any, str]:
    """Aspect, rating and comment; no aspect where the slot is unused or names none."""
    if not isinstance(triple, list) or len(triple) != 3:
        raise InputError(f"{where}: not [aspect, rating, comment]", "write [-1, -1, NaN] if unused")
    number, value, comment = triple
    if number == -1 or _is_missing(number):
        return None, value, ""
    # A column with empty cells has its whole numbers as 3.0.
    if not isinstance(number, int | float) or number not in range(1, len(ASPECTS) + 1):
        raise InputError(f"{where}: aspect {number!r} is not 1 to {len(ASPECTS)}", "mend it")
    if not isinstance(comment, str) and not _is_missing(comment):
        raise InputError(f"{where}: the comment is no text", 'write "" if there is none')
    return ASPECTS[int(number) - 1], value, comment if isinstance(comment, str) else ""


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
