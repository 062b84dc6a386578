"""UNION: ROC stories that seven people called reasonable or not, and what metrics said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.datasets.releases.reading import (
    Placed,
    find_file,
    gather_scores,
    gather_stories,
    read_cells,
    read_rating,
    read_slot_ratings,
    require_file,
)
from fabula.datasets.tables.text_file import TextFile

ERRORS = ("none", "repeated plot", "poor coherence", "conflicting logic", "chaotic scenes", "other")
METRICS = {
    "bleu": ("BLEU", ScorerCard("string", "higher", ("reference",))),
    "bleurt": ("BLEURT", ScorerCard("model", "higher", ("reference",))),
    "dis": ("DisScore", ScorerCard("model", "higher")),
    "moverscore": ("MoverScore", ScorerCard("embedding", "higher", ("reference",))),
    "ppl": ("PPL", ScorerCard("model", "lower")),
    "ruber_ref_score": ("RUBER-r", ScorerCard("embedding", "higher", ("reference",))),
    "ruber_unref_score": ("RUBER-u", ScorerCard("model", "higher", ("prompt",))),
    "ruber_score": ("RUBER", ScorerCard("model", "higher", ("prompt", "reference"))),
    "union": ("UNION", ScorerCard("model", "higher")),
    "union_recon": ("UNION-recon", ScorerCard("model", "higher")),
}

CARD = DatasetCard(
    title="UNION annotations (ROCStories)",
    about="400 machine stories, each called reasonable (1) or not (0) by seven people; the note of "
    "a rating is the kind of error its rater saw. With them come the published scores of ten "
    "metrics. The reference is the human story with the same opening, which is the prompt.",
    licence="none stated",
    citation="Guan and Huang (2020). UNION: An unreferenced metric for evaluating open-ended story "
    "generation. EMNLP, 9157–9166.",
    source="thu-coai/UNION",
    files={
        "ant_data/ant_data.txt": "id, story and seven ratings, parted by three bars",
        "ant_data/ant_data_all.txt": "the same with kinds of error, 0 to 5 (may be missing)",
        "ant_data/reference.txt": "human stories, a line each; an id is a line, from 0 "
        "(may be missing)",
        "ant_data/reference_ipt.txt": "their openings (may be missing)",
        **{
            f"metric_output/{name}.txt": f"{title}, a line a story (may be missing)"
            for name, (title, _) in METRICS.items()
        },
    },
    checksums={
        "ant_data/ant_data.txt": "cb586843d8ddde0f40081a3e1416787f181dc814e5167541fece94789d7151ac",
        "ant_data/ant_data_all.txt": (
            "62d4e2ccbfc2e6efe87ff3b926440c3d64f0eadbe45828614bf9a079c52cce9f"
        ),
        "ant_data/reference.txt": (
            "92a976854711f860199fa71d3a9ef42802adbdaca4730158e4b64a2bc598772e"
        ),
        "ant_data/reference_ipt.txt": (
            "33fbc4bb5b98491bc3e54ca9bb59ddc95f7adb4a5fb039802c9c74df07bb88fe"
        ),
        "metric_output/bleu.txt": (
            "5c655a43ba1c216a1955bd82fc9de4e81a203175791ebc52c6c6c3e5b44e016d"
        ),
        "metric_output/bleurt.txt": (
            "7ea31f9a586dbb1b75093710d147b0e0ae8606a176e6b8af15c4cec5214801ec"
        ),
        "metric_output/dis.txt": "9589fa056c7bfe40509e72b0129be0201611e8c0127272ae2a86f82b0fbd765c",
        "metric_output/moverscore.txt": (
            "1df2d628b42d4235620aba330f38b300e798db3e397a03af272a43f51bcb933a"
        ),
        "metric_output/ppl.txt": "4b130e48b459578b774a33d3cd54e196eeb63b3fbe307fc6097a6d3572844b94",
        "metric_output/ruber_ref_score.txt": (
            "c2889abc97ed90b382ad10af5c4f6f7c2f454af544307ec4d14086753c09e038"
        ),
        "metric_output/ruber_score.txt": (
            "2cfd03c95cd95f81302dc091f9743aeb12067e2153a04cb29663a733256390a7"
        ),
        "metric_output/ruber_unref_score.txt": (
            "1292ba3fc3750c02b42b329bd7d41c8b17474385b00486cef9428f5805c8a42f"
        ),
        "metric_output/union.txt": (
            "d6ef953b187bae6ddbfdce2f26b3d8e73daa829377d6317ea3e96b76388c71e6"
        ),
        "metric_output/union_recon.txt": (
            "ae543774d182408dac11a72b0666d061540fea39360442c1986bc8697cf5f8aa"
        ),
    },
    counts={"stories": 400, "items": 400, "ratings": 2_800, "scores": 4_000},
    scales={"reasonable": (0.0, 1.0)},
    quirks=(
        "Which of the systems wrote a story is not said.",
        "Names are masked, and texts are lower-cased and tokenised.",
        "The raters are places in a list; whether a place is one person is not known.",
        "PPL is as published, on the scale of its file; lower is better.",
    ),
    raters_known=False,
)
_RATERS = 7
_Rows = list[tuple[str, list[str]]]


def load(path: Path | None = None) -> Dataset:
    """Load the stories, their ratings and the published scores."""
    rows = list(read_cells(require_file(path, "ant_data/ant_data.txt"), "|||", 3))
    stories = gather_stories(_make_stories(rows, _read_references(path)))
    kinds = _read_kinds(find_file(path, "ant_data/ant_data_all.txt"), rows)
    ratings = (
        placed
        for (where, (name, _, cells)), words in zip(rows, kinds, strict=True)
        for placed in _read_ratings(name, cells.split(), words, where)
    )
    scores = gather_scores(stories, _read_scores(path, stories))
    cards = {title: card for title, card in METRICS.values() if title in scores.scorers}
    return Dataset("union", CARD, stories, gather_scores(stories, ratings), scores, cards)


def _read_references(path: Path | None) -> list[tuple[str, str]]:
    """Openings and whole human stories, a line each; none where the files are not there."""
    openings = find_file(path, "ant_data/reference_ipt.txt")
    whole = find_file(path, "ant_data/reference.txt")
    if not openings or not whole:
        return []
    lines = zip(openings.lines(), whole.lines(), strict=False)
    return [(opening.strip(), story.strip()) for (_, opening), (_, story) in lines]


def _make_stories(rows: _Rows, humans: list[tuple[str, str]]) -> Iterator[Placed[Story]]:
    for where, (name, text, _) in rows:
        if not humans:
            yield where, Story(name, text, item=name)
            continue
        known = name.isdecimal() and int(name) < len(humans)
        opening, human = humans[int(name)] if known else ("", "")
        if not known or not text.startswith(opening):
            raise InputError(
                f"{where}: the story does not begin like line {name} (from 0) of reference_ipt.txt",
                "fetch the files again, or remove the references",
            )
        yield where, Story(name, text, opening, (human,), item=name)


def _read_kinds(file: TextFile | None, rows: _Rows) -> list[list[str]]:
    """Kinds of error that the raters of each row saw, in words; "" where no file says."""
    if file is None:
        return [[""] * _RATERS for _ in rows]
    lines = list(read_cells(file, "|||", 3))
    _check_length(file, len(lines), len(rows))
    for (where, (name, _, _)), (_, (wanted, _, _)) in zip(lines, rows, strict=True):
        if name != wanted:
            raise InputError(f"{where}: story {name!r}, not {wanted!r}", "keep the same order")
    return [[_name_kind(cell, where) for cell in row[2].split()] for where, row in lines]


def _name_kind(cell: str, where: str) -> str:
    if not cell.isdecimal() or int(cell) >= len(ERRORS):
        raise InputError(
            f"{where}: kind of error {cell!r} is not 0 to {len(ERRORS) - 1}", "mend it"
        )
    return ERRORS[int(cell)]


def _read_ratings(
    name: str, cells: list[str], kinds: list[str], where: str
) -> Iterator[Placed[Score]]:
    for counted in (cells, kinds):
        if len(counted) != _RATERS:
            raise InputError(f"{where}: {len(counted)} ratings, not {_RATERS}", "mend the line")
    ratings = read_slot_ratings(
        name, cells, where, aspect="reasonable", scale=CARD.scales["reasonable"]
    )
    for (place, score), kind in zip(ratings, kinds, strict=True):
        if kind and (score.value == 1) != (kind == ERRORS[0]):
            raise InputError(
                f"{place}: {score.scorer} gives {score.value:g}, but the kind of error is {kind!r}",
                "take ant_data.txt and ant_data_all.txt from one release",
            )
        yield place, replace(score, note=kind)


def _read_scores(path: Path | None, stories: Sequence[Story]) -> Iterator[Placed[Score]]:
    for name, (title, _) in METRICS.items():
        file = find_file(path, f"metric_output/{name}.txt")
        if file is None:
            continue
        lines = list(read_cells(file, "\t", 1))
        _check_length(file, len(lines), len(stories))
        for story, (where, (cell,)) in zip(stories, lines, strict=True):
            yield where, Score(story.id, title, "", read_rating(cell, where))


def _check_length(file: TextFile, count: int, wanted: int) -> None:
    if count != wanted:
        raise InputError(
            f"{file.label}: {count} lines for {wanted} stories", "fetch it again: the order counts"
        )
