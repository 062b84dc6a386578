"""What a review tells an author of writers, by real weights, of a story and of spoiled copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.reports.review import render_review
from fabula.scoring.review import review_story
from fabula.text.perturb import PERTURBATIONS
from fakes.assets import need_asset

GOOD = Path(__file__).parents[2] / "examples" / "kinds" / "good.txt"


@pytest.mark.assets
def test_a_good_story_is_scored_by_writers_and_its_spoiled_copies_are_not() -> None:
    need_asset("minilm")
    text = GOOD.read_text(encoding="utf-8")
    *_, good = review_story(Story("good", text), comments=False)
    assert good.writers and good.writers.score > 6 and not good.writers.withheld
    for name in ("typos", "shuffle_words", "salad", "loop"):
        copy = PERTURBATIONS[name](text, seed=1)
        assert copy
        *_, found = review_story(Story(name, copy), comments=False)
        assert found.unlike or (found.writers and found.writers.withheld), name
        shown = render_review("text", found)
        assert "Writers would" not in shown and "would think more" not in shown, name
