"""reader.json: what is written is read again, what is wrong is named, scales by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.learned.reader.config import (
    Head,
    Pin,
    ReaderConfig,
    Scale,
    Surface,
    Term,
    describe_doubt,
    read_config,
    write_config,
)
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION

COUNT = len(FEATURE_NAMES)
SURFACE = Surface(FEATURES_VERSION, (1.0,) * COUNT, (2.0,) * COUNT, (0.5,) * COUNT)
POINTS = tuple(float(point) for point in range(101))
SCALE = Scale((Term("preference", 0, 0.5, 0.1, 2.0),), SURFACE, percentiles=POINTS, error=1.0)
ABOUT = ReaderConfig(
    "storyer",
    Pin("story_encoder", "ab" * 32),
    254,
    {"preference": Head(("preference",)), "order": Head(("order",), 384)},
    {"preference": SCALE, "order": Scale((Term("order"),), link="clipped")},
    {"words": [1, 2, 3], "latin": 0.9, "common": 0.2, "numbers": 0.1, "signs": 0.1},
    {"licence": "research use"},
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_config(tmp_path, ABOUT)
    assert read_config(tmp_path) == ABOUT
    assert [path.name for path in tmp_path.iterdir()] == ["reader.json"]


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """A description with one field changed."""

    def change(here: Any, rest: tuple[Any, ...]) -> Any:
        if not rest:
            return value
        if isinstance(here, list):
            return [change(one, rest[1:]) if at == rest[0] else one for at, one in enumerate(here)]
        return {**here, rest[0]: change(here.get(rest[0]), rest[1:])}

    return lambda plain: change(plain, path)


PREFERENCE = ("scales", "preference")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), 2, "format is 2, and this Fabula reads 1"),
        (("window",), "long", "window must be a whole number, not 'long'"),
        (("window",), 0, "window must be at least 1"),
        (("kind",), None, "kind must be a string"),
        (("colour",), 1, "colour is no field"),
        (("encoder",), {"name": "x"}, r"encoder\.tree_sha256 is missing"),
        (("heads",), [], "heads must be an object"),
        (("heads", "order", "hidden"), True, r"heads\.order\.hidden must be a whole number"),
        (("heads", "order", "outputs"), [], r"heads\.order\.outputs must not be empty"),
        ((*PREFERENCE, "terms", 0, "head"), "mood", r"terms\[0\]\.head is 'mood', which is no"),
        ((*PREFERENCE, "terms", 0, "output"), 1, r"terms\[0\]\.output must be from 0 to 0"),
        ((*PREFERENCE, "terms", 0, "deviation"), 0, r"terms\[0\]\.deviation must be above 0"),
        ((*PREFERENCE, "terms", 0, "mean"), math.nan, r"terms\[0\]\.mean must be a number"),
        ((*PREFERENCE, "link"), "probit", r"preference\.link must be one of 'identity'"),
        ((*PREFERENCE, "percentiles"), [1.0, 2.0], "percentiles must be 101 numbers"),
        ((*PREFERENCE, "percentiles"), list(POINTS[::-1]), "percentiles must ascend"),
        ((*PREFERENCE, "error"), -1, "error must be at least 0"),
        ((*PREFERENCE, "surface", "version"), 99, "version is 99, and this Fabula's features"),
        ((*PREFERENCE, "surface", "means"), [1.0], f"means must be {COUNT} numbers"),
        ((*PREFERENCE, "surface", "clip"), 0, "clip must be above 0"),
    ],
)
def test_a_field_that_will_not_do_is_named_with_its_file(
    tmp_path: Path, path: tuple[Any, ...], value: Any, message: str
) -> None:
    write_config(tmp_path, ABOUT)
    file = tmp_path / "reader.json"
    plain = changed(path, value)(json.loads(file.read_text(encoding="utf-8")))
    file.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_config(tmp_path)
    assert "reader.json: " in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [("{", "is no JSON"), ("[]", "must be an object")])
def test_what_is_no_description_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "reader.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_config(tmp_path)


def test_a_folder_without_a_description_holds_no_reader(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no reader: it has no reader\.json"):
        read_config(tmp_path)


@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ("words", [1, 2], "domain.words must be 3 numbers"),
        ("words", [1, "2", 3], r"domain.words\[1\] must be a number"),
        ("latin", None, "domain.latin must be a number"),
        ("surface", [], "domain.surface must be an object"),
        ("surface", {"share": 1, "distance": 1, "features_version": 1}, "low must be 15 numbers"),
    ],
)
def test_bounds_of_what_was_learned_from_that_are_none_are_refused(
    tmp_path: Path, part: str, value: object, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        write_config(tmp_path, replace(ABOUT, domain={**ABOUT.domain, part: value}))


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    for wrong in (replace(ABOUT, window=0), replace(ABOUT, domain={"words": math.inf})):
        with pytest.raises(InputError, match=r"reader\.json"):
            write_config(tmp_path, wrong)
    assert list(tmp_path.iterdir()) == []


def recorded(value: float, count: int, slope: float = 0.5) -> ReaderConfig:
    """A reader whose one scale is recorded to agree so well, on so many stories."""
    record = {"figure": "spearman", "value": value, "n": count}
    training = {"validation": {"scales": {"order": {"order": record}}}}
    scale = Scale((Term("order"),), link="clipped", slope=slope)
    return replace(ABOUT, scales={"order": scale}, training=training)


def test_a_scale_that_hardly_moves_tells_nothing() -> None:
    for slope in (0.0, 0.05, -0.05):
        told = describe_doubt(recorded(0.9, 1000, slope), "order")
        assert told == "it is the same for nearly every story"


def test_an_agreement_that_may_be_chance_tells_nothing() -> None:
    # By hand: atanh(.37) = .388; 1.96 / √35 = .331, and for ten scales 2.807 / √35 = .474.
    assert describe_doubt(recorded(0.37, 38), "order") == ""
    assert describe_doubt(recorded(0.37, 38), "order", among=10) == (
        "its agreement with readers may be chance (0.37 on 38 stories that it had not seen)"
    )
    assert describe_doubt(recorded(0.34, 1056), "order", among=6) == ""
    assert "(−0.21 on 100 stories" in describe_doubt(recorded(-0.21, 100), "order")
    assert describe_doubt(recorded(0.866, 3), "order")


@pytest.mark.parametrize("training", [{}, {"validation": 3}, {"validation": {"scales": []}}])
def test_where_nothing_is_recorded_nothing_speaks_against_a_scale(training: Any) -> None:
    assert describe_doubt(replace(recorded(0.0, 50), training=training), "order") == ""
