"""Every part makes a section, or leaves itself out where the data lack what it needs."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.core.dataset import Dataset
from fabula.meta.study import Study
from fabula.reports.parts import find_part, known_parts
from fabula.reports.study_blocks import Section
from fakes.word_stories import ALL_PARTS, OF_RUN_METRICS, tales, view_of

ASKED = {"example": {"item": "i0", "systems": ["a", "b"], "metrics": ["good"]}}
# By what is missing: the data, how to view them, and the parts that are then left out.
LACKING: dict[str, tuple[Dataset, dict[str, Any], set[str]]] = {
    "nothing": (tales(), {"options": ASKED}, {"comparison"}),
    "nothing asked of the example": (tales(), {}, {"comparison", "example"}),
    "an example of this item": (tales(), {"options": {"example": {"item": "x"}}},
                                {"comparison", "example"}),
    "several systems": (
        tales((8, 1)),
        {},
        {"comparison", "example", "systems", "violins", "ranking", "labels", "significance",
         "strongest", "top_k", "means"},
    ),
    "a third system": (tales((8, 2)), {"options": ASKED},
                       {"comparison", "labels", "significance", "top_k"}),
    "a fourth system": (tales((8, 3)), {"options": ASKED}, {"comparison", "significance", "top_k"}),
    "a fifth system": (tales((8, 4)), {"options": ASKED}, {"comparison", "top_k"}),
    "a second aspect": (tales(aspects=("",)), {"options": ASKED}, {"comparison", "criteria"}),
    "texts": (tales(texts=False), {"options": ASKED}, {"comparison"}),
    "a second rater": (tales(raters=1), {"options": ASKED}, {"comparison", "raters"}),
    "metrics proper": (
        tales(),
        {"options": ASKED, "study": Study(scorers=("family:baseline",), resamples=20)},
        {"comparison", "ranking", "strongest", "labels", "significance", "means"},
    ),
    "coefficients of correlation": (
        tales(),
        {"options": ASKED, "study": Study(coefficients=("pairwise",), resamples=20)},
        {"comparison", "standing", "correlations", "criteria", "between_metrics", "strongest",
         "by_aspect"},
    ),
    "cards": (tales(cards={}), {"options": ASKED, "baselines": False}, {"comparison", "classes"}),
    "a third metric": (
        tales(),
        {"options": ASKED, "study": Study(scorers=("good", "noise"), resamples=20)},
        {"comparison", "between_metrics"},
    ),
    "a second metric": (
        tales(),
        {"options": ASKED, "study": Study(scorers=("good",), resamples=20)},
        {"comparison", "between_metrics", "significance"},
    ),
    "levels of systems": (
        tales(),
        {"options": ASKED, "study": Study(levels=("pooled",), resamples=20)},
        {"comparison", "ranking", "strongest"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("missing", LACKING)
def test_a_part_without_what_it_needs_leaves_itself_out(missing: str) -> None:
    dataset, how, left_out = LACKING[missing]
    view = view_of(dataset, **how)
    made = {name: find_part(name)(view) for name in ALL_PARTS}
    assert {name for name, section in made.items() if section is None} == left_out | {
        *OF_RUN_METRICS
    }
    sections = [section for section in made.values() if section]
    assert all(isinstance(one, Section) and one.title and one.blocks for one in sections)
    assert len({one.id for one in sections}) == len(sections)


def test_every_part_is_tried_here() -> None:
    assert sorted(ALL_PARTS) == sorted(known_parts())
