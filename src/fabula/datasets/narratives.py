"""Narratives that pupils wrote at school, scored by two raters on traits of writing (ASAP)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    choose_file,
    fit_card,
    gather_scores,
    gather_stories,
    get_field,
    get_text,
    read_rating,
)
from fabula.datasets.tables.rows import Row, read_rows


@dataclass(frozen=True)
class _Task:
    """A prompt: its traits in the order of the release, and the scales of traits and total."""

    traits: tuple[str, ...]
    trait_scale: tuple[float, float]
    total_scale: tuple[float, float]


_TASKS = {
    "7": _Task(("ideas", "organization", "style", "conventions"), (0.0, 3.0), (0.0, 12.0)),
    "8": _Task(
        ("ideas", "organization", "voice", "words", "fluency", "conventions"),
        (1.0, 6.0),
        (5.0, 30.0),
    ),
}
TOTAL = "total"

CARD = DatasetCard(
    title="School narratives (ASAP 7 and 8)",
    about="Stories that American pupils wrote at school: about a time of patience (prompt 7: "
    "1,569 stories of 168 words) and about laughter (prompt 8: 723 stories of 605 words). Two "
    "raters scored traits and a total. The two prompts have scales of their own, so that their "
    "aspects have names of their own, and no figure mixes them: `total_7`, `ideas_7` …, "
    "`total_8`, `ideas_8` …. Identifiers begin with the prompt, `7:` or `8:`; every story is an "
    "item of its own.",
    licence="terms of the competition on Kaggle",
    citation="Hamner, Morgan, Vandev, Shermis and Vander Ark (2012). The Hewlett Foundation: "
    "Automated essay scoring. Kaggle.",
    source="ASAP (Automated Student Assessment Prize), prompts 7 and 8",
    files={
        "narratives.jsonl": "id, prompt_id (7 or 8), text, score (resolved), raterN_domain1 "
        "(total), raterN_traitM"
    },
    checksums={
        "narratives.jsonl": "e0a093f04d8f136ff6869ba265122cbfe154f86e8f71a586b80dd4022bb27b0c"
    },
    counts={"stories": 2_292, "ratings": 26_708},
    scales={
        f"{aspect}_{prompt}": scale
        for prompt, task in _TASKS.items()
        for aspect, scale in [
            (TOTAL, task.total_scale),
            *((trait, task.trait_scale) for trait in task.traits),
        ]
    },
    quirks=(
        "Longer stories have higher scores (ρ .68 and .43 with the total): hold length constant, "
        "`fabula meta narratives --control words`.",
        "A total is no opinion of its own. For prompt 7 it is the sum of the traits; for prompt 8 "
        "ideas + organization + fluency + 2 × conventions, and voice and words do not count.",
        "A third rater settled 128 stories of prompt 8, a choice and no sample. Their total is "
        "doubled in the release and halved here. The resolved score is theirs where there is one, "
        "else the sum of the two totals; it is not read.",
        "`human:1` is the first rater of a story, whoever that was.",
        "Names and much else are masked: @PERSON1, @CAPS1 (any word in capitals), @NUM1 ….",
        "UTF-8 read as Latin-1 is mended. In 1,016 texts quotation marks and apostrophes were lost "
        "altogether: a lost sign between two letters is read as an apostrophe, others as a "
        "quotation mark.",
        "No text has a line break.",
    ),
    raters_known=False,
)
_RATERS = (1, 2, 3)
_SURE_RATERS = 2
_LOST = "\N{REPLACEMENT CHARACTER}"
_LOST_APOSTROPHE = re.compile(rf"(?<=[^\W\d_]){_LOST}(?=[^\W\d_])")


def load(path: Path | None = None) -> Dataset:
    """Load the narratives, with the totals and traits of every rater."""
    file = choose_file(path, "narratives.jsonl")
    stories: list[Placed[Story]] = []
    ratings: list[Placed[Score]] = []
    for where, row in read_rows(file):
        prompt = str(get_field(row, "prompt_id", where))
        if prompt not in _TASKS:
            raise InputError(f"{where}: prompt {prompt!r} is neither 7 nor 8", "drop the row")
        text = mend_signs(get_text(row, "text", where)).strip()
        story = Story(get_text(row, "id", where), text)
        stories.append((where, story))
        ratings += _read_ratings(row, story.id, prompt, where)
    gathered = gather_stories(stories)
    return Dataset("narratives", fit_card(CARD, file), gathered, gather_scores(gathered, ratings))


def _read_ratings(row: Row, story: str, prompt: str, where: str) -> Iterator[Placed[Score]]:
    """Read what every rater said; the third may be missing, whole."""
    fields = {TOTAL: "domain1"}
    fields |= {trait: f"trait{at}" for at, trait in enumerate(_TASKS[prompt].traits, 1)}
    for rater in _RATERS:
        if rater > _SURE_RATERS and f"rater{rater}_domain1" not in row:
            continue
        for aspect, field in fields.items():
            place = f"{where}, rater{rater}_{field}"
            value = read_rating(get_field(row, f"rater{rater}_{field}", where), place)
            if aspect == TOTAL and rater > _SURE_RATERS:
                value /= 2
            name = f"{aspect}_{prompt}"
            checked = read_rating(value, place, CARD.scales[name])
            yield place, Score(story, f"human:{rater}", name, checked)


def mend_signs(text: str) -> str:
    """Undo UTF-8 that was read as Latin-1, and put plain signs for those that were lost."""
    with suppress(UnicodeError):  # it was read rightly
        text = text.encode("latin-1").decode("utf-8")
    return _LOST_APOSTROPHE.sub("'", text).replace(_LOST * 2, '"').replace(_LOST, '"')
