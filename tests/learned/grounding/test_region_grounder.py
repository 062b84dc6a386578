from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.model import Picture, Region
from fabula.learned.grounding.region_grounder import NO_BOX, Parts, RegionGrounder


def paint(name: str = "a.png", *, value: int = 0, digest: str = "") -> Picture:
    return Picture(name, 40, 20, digest or f"{name}{value}", np.full((20, 40, 3), value, np.uint8))


@dataclass
class Finder:
    """Finds the boxes that it was told."""

    boxes: list[Region]
    labels: tuple[str, ...] = ()
    signature: str = "finder"

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        return [self.boxes[:most] for _ in pictures]


@dataclass
class Brightness:
    """A region is as like every noun as it is bright; it knows no noun with a z."""

    signature: str = "brightness"
    crops: int = 0
    named: list[str] = field(default_factory=list)

    def view(self, crops: Sequence[Any], regions: Sequence[Region]) -> Any:
        self.crops += len(crops)
        return np.array([[crop.mean() / 255] for crop in crops])

    def name(self, nouns: Sequence[str]) -> Any:
        self.named += nouns
        return np.array([[np.nan if "z" in noun else 1.0] for noun in nouns])

    def match(self, views: Any, names: Any) -> Any:
        return views @ names.T

    def note(self, whole: Any) -> str:
        return "dark" if whole.mean() == 7 else ""


def make(*boxes: tuple[float, float, float, float], most: int = 10):
    matcher = Brightness()
    regions = [Region(box, "thing", 0.5) for box in boxes]
    return RegionGrounder(lambda: Parts(Finder(regions), matcher), most), matcher


def test_the_whole_picture_comes_after_the_boxes():
    grounder, _ = make((0, 0, 10, 10))
    [sight] = grounder.look([paint()], ["dog"])
    assert [region.box for region in sight.regions] == [(0, 0, 10, 10), (0, 0, 40, 20)]
    assert sight.notes == ()


def test_a_box_that_is_nearly_the_whole_picture_stands_for_it():
    grounder, _ = make((0, 0, 40, 19))
    [sight] = grounder.look([paint()], ["dog"])
    assert [region.label for region in sight.regions] == ["thing"]


def test_a_picture_without_a_box_is_seen_whole_and_says_so():
    grounder, _ = make()
    [sight] = grounder.look([paint(value=51)], ["dog"])
    assert sight.notes == (NO_BOX,)
    assert sight.similarities == pytest.approx(np.array([[0.2]]))


def test_more_boxes_than_wanted_do_not_count():
    grounder, _ = make((0, 0, 10, 10), (20, 0, 10, 10), (0, 10, 10, 10), most=2)
    [sight] = grounder.look([paint()], [])
    assert len(sight.regions) == 3
    assert sight.similarities.shape == (3, 0)


def test_each_picture_and_each_noun_is_encoded_once():
    grounder, matcher = make((0, 0, 10, 10))
    pictures = [paint("a.png"), paint("b.png", value=255), paint("a.png")]
    first = grounder.look(pictures, ["dog", "cat", "dog"])
    again = grounder.look(pictures[::-1], ["cat", "hat"])
    assert matcher.crops == 4
    assert matcher.named == ["dog", "cat", "hat"]
    assert [sight.similarities.max() for sight in first] == [0.0, 1.0, 0.0]
    assert again[1].similarities.shape == (2, 2)


def test_a_noun_that_is_not_known_is_nan_and_named():
    grounder, _ = make()
    [sight] = grounder.look([paint(value=255)], ["dog", "zebra"])
    assert sight.similarities[0, 0] == 1.0
    assert np.isnan(sight.similarities[0, 1])
    assert sight.notes[-1] == "not known to the grounder: zebra"


def test_a_part_that_is_not_here_is_an_absence_and_not_a_value():
    def load() -> Parts:
        raise InputError("there are no weights", "run: fabula models pull weights")

    grounder = RegionGrounder(load)
    assert "fabula models pull weights" in grounder.absence
    assert grounder.signature == "missing"
    with pytest.raises(InputError, match="no weights"):
        grounder.look([paint()], ["dog"])


def test_a_setting_that_will_not_do_is_refused_at_once():
    def load() -> Parts:
        raise SettingError("no such model")

    with pytest.raises(SettingError):
        _ = RegionGrounder(load).absence


def test_the_signature_names_matcher_detector_and_boxes():
    assert make(most=3)[0].signature == "brightness;finder;regions=3"


def test_what_speaks_against_a_picture_is_noted_with_its_sight():
    grounder, _ = make((0, 0, 10, 10))
    dark, light = grounder.look([paint(value=7), paint(value=255)], ["dog"])
    assert dark.notes == ("dark",)
    assert light.notes == ()
