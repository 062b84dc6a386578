"""What others read out of the box: a study file, HANNA's annotation file, and what was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from fabula.core.story import count_text
from fabula.datasets.hanna import CRITERIA, SCALE
from fabula.datasets.tables.row_files import Kind
from fabula.studio.campaigns.answer_rules import CHARACTER
from fabula.studio.campaigns.opinions import (
    list_counted,
    list_rated_aspects,
    list_stories,
    make_ratings,
)
from fabula.studio.campaigns.work import Work

HANNA_ROW: dict[str, Kind] = {
    "Story ID": "integer",
    "Prompt": "text",
    "Human": "text",
    "Story": "text",
    "Model": "text",
    **{name.capitalize(): "integer" for name in CRITERIA.values()},
    "Worker ID": "text",
    "Assignment ID": "text",
    "Work time in seconds": "integer",
    "Name": "text",
}
# Metrics of a study file, by what they read; none needs anything that is not installed.
_METRICS = {
    "": ("distinct", "repetition", "rovist_nr"),
    "prompt": ("novelty", "coverage"),
    "reference": ("bleu", "rouge(n=1).recall", "rouge(n=2).f", "chrf"),
}
_MORE = """\
# More of them, which want weights or a package (fabula metrics list; fabula models list):
# meteor = "meteor"
# bertscore = "bertscore.recall"
# storyer = "storyer"
# coherence = "coherence"
# perplexity = "perplexity"
"""


def write_study(work: Work) -> str:
    """Write the study that holds metrics against the raters of a campaign."""
    raters = len({one.rater for one in work.accepted})
    stories = list_stories(work)
    told = f"{count_text(len(stories), 'story', 'stories')}, {count_text(raters, 'rater')}"
    lines = [
        "# Metrics against the people of this campaign: fabula study run study.toml",
        f"title = {_quote(work.definition.title)}",
        f"about = [{_quote(f'The campaign {work.name}: {told}.')}]",
        'dataset = "."',
        'report = "report"',
        "",
        "[study]",
        f"aspects = [{', '.join(map(_quote, _list_given(work)))}]",
        "",
        "[metrics]",
        *(f"{_quote(spec)} = {_quote(spec)}" for spec in _list_metrics(work)),
    ]
    return "\n".join(lines) + f"\n{_MORE}"


def _list_given(work: Work) -> list[str]:
    """Aspects that somebody has rated."""
    rated = {score.aspect for score in make_ratings(work)}
    return [aspect for aspect in list_rated_aspects(work) if aspect in rated]


def _list_metrics(work: Work) -> list[str]:
    stories = list_stories(work)
    there = {
        "": True,
        "prompt": all(story.prompt for story in stories),
        "reference": all(story.nonblank_references for story in stories),
    }
    return [spec for reads, specs in _METRICS.items() if there[reads] for spec in specs]


def _quote(text: str) -> str:
    """Write a string of TOML: JSON's, but for a character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def describe_campaign(work: Work, counts: Mapping[str, int]) -> dict[str, Any]:
    """Say what was asked, of whom and how much came of it, in plain values."""
    return {
        "name": work.name,
        "state": work.state,
        "digest": work.digest,
        "definition": asdict(work.definition),
        "raters": len(work.raters),
        "submitted": len(work.submitted),
        "accepted": len(work.accepted),
        "rejected": sum(one.is_rejected for one in work.submitted),
        "scorers": sorted({score.scorer for score in work.scores}),
        "rows": dict(counts),
    }


def asks_hannas_criteria(work: Work) -> bool:
    """Whether single stories are rated on HANNA's six criteria, from 1 to 5."""
    asked = {
        question.name
        for question in work.definition.questions
        if question.kind == "scale"
        and (float(question.low), float(question.high)) == SCALE
        and question.required
    }
    return work.definition.unit == "story" and asked >= {*CRITERIA.values()}


def list_annotations(work: Work) -> Iterator[dict[str, Any]]:
    """Give accepted work as rows of HANNA's annotation file.

    Stories are numbered by name where all names are numbers, as HANNA's are, else in their order.
    The work time is the gap between submits.
    """
    names = [story.id for story in list_stories(work)]
    are_numbers = all(name.isdecimal() for name in names)
    numbers = {name: int(name) if are_numbers else place for place, name in enumerate(names)}
    for one in list_counted(work):
        [place] = one.shown
        story = work.stories[place].story
        ratings = {
            name.capitalize(): one.answer(work.definition.question(name), place)
            for name in CRITERIA.values()
        }
        named = one.answers.get(CHARACTER)
        yield ratings | {
            "Story ID": numbers[story.id],
            "Prompt": story.prompt or "",
            "Human": story.references[0] if story.references else "",
            "Story": story.text,
            "Model": story.system or "",
            "Worker ID": work.raters[one.rater].name,
            "Assignment ID": one.id,
            "Work time in seconds": round(work.gaps_s[one.id]),
            "Name": named.get(place, "") if isinstance(named, Mapping) else named or "",
        }
