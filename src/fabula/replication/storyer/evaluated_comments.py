"""Comments that weights write or compose, beside raters' own: perplexity and overlap."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import compose_comment
from fabula.learned.joint.config import FILE, comment_input
from fabula.replication.findings import StudyCell, StudyRow, StudyTable
from fabula.replication.storyer.comments import (
    OVERLAPS,
    RatedAspect,
    as_story,
    borrow_comments,
    estimate_overlaps,
    estimate_perplexity,
    explain_overlaps,
    list_cases,
)
from fabula.replication.storyer.material import Material

if TYPE_CHECKING:
    from fabula.replication.storyer.evaluated_weights import Weights
    from fabula.replication.storyer.evaluation import HowEvaluated

Array = np.ndarray[Any, np.dtype[Any]]
_NOTE = (
    "Perplexity of raters' comments per token, the decoder being told aspect and story; a reader "
    "that only composes has none. Overlaps with raters' comments on the same aspect of the story, "
    "by our metrics (ROUGE-L by its f). Composed comments rest on the reader's own rating. "
    "Intervals by drawing stories anew. Of the paper's figures none are at hand; its readers "
    "agreed with .494 of its comments."
)


def comment_tables(
    weights: Sequence[Weights], dataset: Dataset, material: Material, how: HowEvaluated
) -> list[StudyTable]:
    """Tables 6 and 7: how likely raters' comments are, and how near written ones come to them."""
    if not how.comments:
        return []
    cases = list_cases(dataset)
    if len(cases) > how.comments:
        places = sorted(random.Random(material.seed).sample(range(len(cases)), how.comments))
        cases = [cases[place] for place in places]
    rows: list[StudyRow] = []
    for one in weights:
        try:
            rows.append(_weigh(one, cases, material))
        except UserError as error:
            one.lack(error)
            rows.append([one.name, None, *(None for _ in OVERLAPS), 0])
    candidates = {
        "another story's comment on the aspect °": borrow_comments(material, cases),
        "another rater's on the same": _borrow_same(cases),
    }
    rows += [
        [name, None, *estimate_overlaps(material, stories), len(stories)]
        for name, stories in candidates.items()
        if stories
    ]
    note = f"{_NOTE}{explain_overlaps([as_story(cases[0], cases[0].comments[0])])}"
    columns = ("comments by", "perplexity", *OVERLAPS, "aspects of stories")
    title = "Comments beside raters' own (Tables 6 and 7)"
    return [StudyTable(f"comments_{dataset.name}", title, columns, rows, note)]


def _weigh(one: Weights, cases: Sequence[RatedAspect], material: Material) -> StudyRow:
    """Give the row of weights, which write comments or compose them."""
    folder = Path(one.spec).expanduser()
    perplexity: StudyCell = None
    if (folder / FILE).is_file():
        written, perplexity = _write(folder, cases, material)
    else:
        written = _compose(one, cases)
    return [one.name, perplexity, *estimate_overlaps(material, written), len(written)]


def _write(
    folder: Path, cases: Sequence[RatedAspect], material: Material
) -> tuple[list[Story], StudyCell]:
    """Let a joint training write, drawing as the paper does; and ask how likely raters' own are."""
    from fabula.learned.joint.network import open_writer

    writer = open_writer(folder)
    layout = writer.config.layout
    prompts = [comment_input(case.story.text, case.aspect, layout) for case in cases]
    written = []
    for number, (case, prompt) in enumerate(zip(cases, prompts, strict=True), 1):
        [text] = writer.generate([prompt], seed=material.seed)
        written.append(as_story(case, text))
        if number % 10 == 0:
            material.report(f"{number} of {len(cases)} comments written")
    asked = [(prompt, text) for case, prompt in zip(cases, prompts, strict=True)
             for text in case.comments]  # fmt: skip
    logs = list(writer.comment_logs(*zip(*asked, strict=True)))
    stories = [case.story.id for case in cases for _ in case.comments]
    return written, estimate_perplexity(material, logs, stories)


def _compose(one: Weights, cases: Sequence[RatedAspect]) -> list[Story]:
    """Compose comments by the ratings that a reader gives."""
    stories = list({case.story.id: case.story for case in cases}.values())
    rows = {story.id: row for story, row in zip(stories, one.ratings(stories), strict=True)}
    composed = []
    for case in cases:
        rating = float(rows[case.story.id][ASPECTS.index(case.aspect)])
        comment = compose_comment(case.story.text, case.evidence, rating)
        if comment is not None:
            composed.append(as_story(case, comment.text))
    if not composed:
        raise UserError(f"{one.name} composes no comment on these stories", "give others")
    return composed


def _borrow_same(cases: Sequence[RatedAspect]) -> list[Story]:
    """Put a rater's comment in the place of ours where another spoke of the same."""
    return [
        as_story(replace(case, comments=case.comments[1:]), case.comments[0])
        for case in cases
        if len(case.comments) > 1
    ]
