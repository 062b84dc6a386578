from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets.narratives import load, mend_signs
from fakes.release_samples import SAMPLES, lines, put

NAME = "narratives.jsonl"


def row(**changes: Any) -> dict[str, Any]:
    """Make the second narrative of the sample again, with changes; None takes a field away."""
    values = json.loads(SAMPLES["narratives"][NAME].splitlines()[1]) | changes
    return {name: value for name, value in values.items() if value is not None}


def test_the_prompts_have_aspects_and_scales_of_their_own(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["narratives"]))
    assert [story.id for story in dataset.stories] == ["7:1", "7:2", "8:9"]
    first = [(s.aspect, s.value) for s in dataset.ratings if s.story == "7:1"][:5]
    assert first == [
        ("total_7", 7), ("ideas_7", 2), ("organization_7", 2), ("style_7", 2), ("conventions_7", 1),
    ]  # fmt: skip
    assert dataset.card.scale("ideas_7") == (0, 3) and dataset.card.scale("total_8") == (5, 30)
    assert {s.aspect for s in dataset.ratings if s.story == "8:9"} == {
        "total_8", "ideas_8", "organization_8", "voice_8", "words_8", "fluency_8", "conventions_8",
    }  # fmt: skip


def test_the_total_of_a_third_rater_is_halved(tmp_path: Path) -> None:
    ratings = load(put(tmp_path, SAMPLES["narratives"])).ratings
    totals = {s.scorer: s.value for s in ratings if s.aspect == "total_8"}
    assert totals == {"human:1": 15, "human:2": 20, "human:3": 20}


def test_signs_that_were_lost_are_put_back(tmp_path: Path) -> None:
    text = load(put(tmp_path, SAMPLES["narratives"])).stories[0].text
    assert text == 'I didn\'t open the tin. "@CAPS1 on," said @PERSON1.'


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("plain", "plain"),
        ("caf\xe9", "caf\xe9"),  # Latin-1 that is no UTF-8 was read rightly
        ("na\xc3\xafve", "na\xefve"),
        ("“we\ufffdre” \ufffd\ufffdso\ufffd", '“we\'re” "so"'),
    ],
)
def test_text_that_was_read_rightly_is_left_alone(text: str, mended: str) -> None:
    assert mend_signs(text) == mended


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompt_id": 3}, "prompt '3' is neither 7 nor 8"),
        ({"rater1_trait2": 4}, "rater1_trait2: rating 4 is outside the scale 0 to 3"),
        ({"rater2_domain1": None}, "field 'rater2_domain1' is missing"),
        ({"rater2_domain1": "many"}, "rater2_domain1: rating 'many' is no number"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"line 1.*{message}"):
        load(put(tmp_path, {NAME: lines(row(**changes))}))


def test_a_narrative_that_comes_again_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: story '7:2' was there before"):
        load(put(tmp_path, {NAME: lines(row(), row())}))


def test_totals_of_the_release_follow_from_the_traits(shared: Path) -> None:
    dataset = load(shared / "data" / "narratives")
    said = {(s.story, s.scorer, s.aspect): s.value for s in dataset.ratings}
    weights = {
        "7": {"ideas": 1, "organization": 1, "style": 1, "conventions": 1},
        "8": {"ideas": 1, "organization": 1, "fluency": 1, "conventions": 2},
    }
    totals = [key for key in said if key[2].startswith("total")]
    assert len(totals) == 2 * 2_292 + 128
    for story, rater, aspect in totals:
        prompt = aspect[-1]
        parts = weights[prompt].items()
        total = sum(weight * said[story, rater, f"{name}_{prompt}"] for name, weight in parts)
        assert said[story, rater, aspect] == total
