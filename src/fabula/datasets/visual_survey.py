"""A survey on stories of picture sequences: what raters agree to, and which story is the best."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.errors import InputError
from fabula.core.images import find_images
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.releases.reading import (
    Placed,
    find_file,
    gather_scores,
    gather_stories,
    get_field,
    get_text,
    read_rating,
    require_file,
)
from fabula.datasets.tables.rows import Row, read_rows
from fabula.datasets.tables.text_file import TextFile

CRITERIA = ("grounding", "coherence", "non_redundancy")
OVERALL = "overall"
VOTES = "votes"
_LOW, _HIGH = 1.0, 5.0
_SURVEY = ("survey.csv", "survey.jsonl", "survey.tsv")
_STORIES = ("stories.jsonl", "stories.csv", "stories.tsv")

CARD = DatasetCard(
    title="A survey on visual stories",
    about="For each of several systems' stories on a sequence of pictures a rater says, from 1 to "
    "5, how far they agree that it is grounded in the pictures, that its sentences flow as one "
    "narrative, and that nothing is repeated; then which story of the sequence is the best. That "
    "is RoViST's survey, and any of the same form is read: one's own, or one that others publish. "
    f"`{OVERALL}` is the sum of the three. The scorer `{VOTES}` is a story's share of the choices "
    "of its sequence; each choice is also a preference over every other story that the rater saw.",
    licence="that of the survey",
    citation="The form: Wang, Han and Poon (2022). RoViST: Learning robust metrics for visual "
    "storytelling. Findings of NAACL, 2691–2702.",
    source="your own survey",
    files={
        "survey.csv": "a row a rater and story: rater, sequence, system, grounding, coherence, "
        "non_redundancy (1 to 5, empty where not answered), best (1 for the story chosen); also "
        "survey.jsonl or survey.tsv",
        "stories.jsonl": "sequence, system, text, and where known references and images (lists; "
        "pictures by their paths from this folder); also stories.csv or stories.tsv. Without it "
        "stories have no text: agreement and votes can be studied, metrics cannot be run",
    },
    scales={**dict.fromkeys(CRITERIA, (_LOW, _HIGH)), OVERALL: (3 * _LOW, 3 * _HIGH)},
    quirks=(
        "RoViST's own ratings are not at hand, nor are the stories of two of its four systems "
        "(GLACNet, KG-Story): the figures of its Tables 1 and 2 cannot be computed again.",
        "`fabula study run studies/rovist.toml --path FOLDER` does the paper's analyses.",
        "Table 2 there is the item level: `fabula meta visual_survey -m votes --level item` "
        "correlates the criteria's means with the vote shares over the systems of each "
        "sequence and averages over the sequences. A sequence in which all shares are equal has "
        "no ranks and is left out.",
        "A rater who chose no story of a sequence counts for its ratings and not for its votes; "
        "to choose two is refused.",
    ),
)
_KEYS = ("rater", "sequence", "system")
_YES, _NO = ("1", "true", "yes", "x"), ("", "0", "false", "no")


def load(path: Path | None = None) -> Dataset:
    """Load a folder with a survey and its stories, or the file of a survey alone."""
    file = _choose_survey(path)
    ratings: list[Placed[Score]] = []
    shown: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for where, row in read_rows(file):
        rater, sequence, system = (_get_name(row, name, where) for name in _KEYS)
        answers = shown[rater, sequence]
        if system in answers:
            problem = f"{rater!r} answers twice on {system!r} of sequence {sequence!r}"
            raise InputError(f"{where}: {problem}", "keep one of the two rows")
        answers[system] = _is_best(row, where)
        if answers[system] and sum(answers.values()) > 1:
            problem = f"{rater!r} chooses two best stories of sequence {sequence!r}"
            raise InputError(f"{where}: {problem}", "keep one choice")
        ratings += _read_ratings(row, f"{sequence}/{system}", rater, where)
    stories = _read_stories(path, {(q, s): None for (_, q), seen in shown.items() for s in seen})
    votes = ScoreTable(stories, _share_votes(shown))
    return Dataset(
        "visual_survey",
        CARD,
        stories,
        gather_scores(stories, ratings),
        votes,
        {VOTES: ScorerCard("label", "higher")} if len(votes) else {},
        tuple(_list_preferences(shown)),
    )


# Who saw which stories of a sequence, and whether each was the best: by rater and sequence.
Shown = Mapping[tuple[str, str], Mapping[str, bool]]


def _choose_survey(path: Path | None) -> TextFile:
    if path is not None and path.is_file():
        return TextFile(path, path.name)
    return require_file(path, *_SURVEY)


def _get_name(row: Row, name: str, where: str) -> str:
    """Give a field that names something: text or a number, not empty."""
    value = get_field(row, name, where)
    text = "" if isinstance(value, (list, dict, bool)) else str(value).strip()
    if not text:
        raise InputError(f"{where}: field {name!r} names nothing", f"write a {name}")
    return text


def _is_best(row: Row, where: str) -> bool:
    value = row.get("best")
    word = "" if value is None else str(value).strip().lower()
    if word not in _YES + _NO:
        raise InputError(f"{where}: best is {value!r}", "write 1 for the story chosen, else 0")
    return word in _YES


def _read_ratings(row: Row, story: str, rater: str, where: str) -> Iterator[Placed[Score]]:
    """Read the agreements that were given; their sum where all three were."""
    values = []
    for criterion in CRITERIA:
        if row.get(criterion) not in (None, ""):
            values.append(read_rating(row[criterion], where, CARD.scales[criterion]))
            yield where, Score(story, f"human:{rater}", criterion, values[-1])
    if len(values) == len(CRITERIA):
        yield where, Score(story, f"human:{rater}", OVERALL, sum(values))


def _read_stories(path: Path | None, surveyed: dict[tuple[str, str], None]) -> tuple[Story, ...]:
    """Read the stories of the survey, in its order; those nobody was asked about are left out."""
    folder = path.parent if path is not None and path.is_file() else path
    file = find_file(folder, *_STORIES)
    if file is None:
        return tuple(Story(f"{q}/{s}", "", system=s, item=q) for q, s in surveyed)
    told: list[Placed[Story]] = []
    for where, row in read_rows(file):
        sequence, system = (_get_name(row, name, where) for name in _KEYS[1:])
        references, images = (_get_several(row, name, where) for name in ("references", "images"))
        told.append((where, Story(
            f"{sequence}/{system}", get_text(row, "text", where), references=references,
            images=find_images(images, file.path.parent), system=system, item=sequence,
        )))  # fmt: skip
    stories = {(story.item, story.system): story for story in gather_stories(told)}
    if lacking := [key for key in surveyed if key not in stories]:
        sequence, system = lacking[0]
        problem = f"no story of {system!r} on sequence {sequence!r}, which the survey asks about"
        raise InputError(f"{file.label}: {problem}", "add its row")
    return tuple(stories[key] for key in surveyed)


def _get_several(row: Row, name: str, where: str) -> tuple[str, ...]:
    """Give a field that may hold a list of texts, or one text."""
    value: Any = row.get(name)
    if value in (None, ""):
        return ()
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: field {name!r} is no list of texts", 'write ["…", …]')
    return tuple(texts)


def _share_votes(shown: Shown) -> Iterator[Score]:
    """Give each story its share of the choices among the stories of its sequence."""
    votes: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    for (_, sequence), seen in shown.items():
        if any(seen.values()):
            asked.update((sequence, system) for system in seen)
            votes.update((sequence, system) for system, best in seen.items() if best)
    for (sequence, system), number in asked.items():
        share = votes[sequence, system] / number
        yield Score(f"{sequence}/{system}", VOTES, "", share)


def _list_preferences(shown: Shown) -> Iterator[Preference]:
    for (rater, sequence), seen in shown.items():
        for best in (system for system, chosen in seen.items() if chosen):
            for other in seen:
                if other != best:
                    yield Preference(f"{sequence}/{best}", f"{sequence}/{other}", rater)
