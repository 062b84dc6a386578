from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.model import Region
from fabula.learned.grounding.opening import open_grounder
from fabula.learned.grounding.towers import (
    BACKGROUND,
    BACKGROUND_CLASSES,
    CLASS_VECTORS,
    FILE,
    WEIGHTS_FILE,
    GrounderConfig,
    TowerMatcher,
    embed,
    open_towers,
    write_config,
)
from fabula.models.word_vectors import VectorTable
from fakes.drawings import draw_clock

WORDS = VectorTable("words", {"dog": 0, "cat": 1}, np.eye(2))
REGION = Region((0.0, 0.0, 1.0, 1.0))


@dataclass
class Red:
    """Sees how red a crop is; the reddest are dogs."""

    signature: str = "red"
    width: int = 2
    classes: tuple[str, ...] = ("dog", "cat")

    def encode(self, crops):
        reds = np.array([crop[0, 0, 0] / 255 for crop in crops])
        return np.stack([reds, 1 - reds], axis=1)

    def classify(self, crops):
        return self.encode(crops)


def paint(red: int):
    return np.full((1, 1, 3), red, np.uint8)


def make(weight: float = 0.0, *, calibrated: bool = False) -> TowerMatcher:
    """Towers that leave both sides as they are, but for tanh."""
    weights = {}
    for side in ("image", "noun"):
        weights |= {f"{side}.mean": np.zeros(2), f"{side}.deviation": np.ones(2)}
        weights |= {f"{side}.weight": np.eye(2), f"{side}.bias": np.zeros(2)}
    weights |= {CLASS_VECTORS: np.eye(2), BACKGROUND: np.eye(2)}
    weights[BACKGROUND_CLASSES] = np.array([[0], [1]])
    config = GrounderConfig("red", "words", weight, classes=1, calibrated=calibrated)
    return TowerMatcher(config, weights, Red(), WORDS, "0")


def test_a_tower_standardises_and_goes_through_one_layer_and_tanh():
    weights = {
        "image.mean": np.array([1.0, 0.0]),
        "image.deviation": np.array([2.0, 1.0]),
        "image.weight": np.array([[1.0], [3.0]]),
        "image.bias": np.array([0.5]),
    }
    # (3 − 1) / 2 · 1 + 2 · 3 + .5 = 7.5
    assert embed(weights, "image", np.array([[3.0, 2.0]])) == pytest.approx(np.tanh(7.5))


def test_without_labels_a_similarity_is_the_cosine_of_both_towers():
    matcher = make()
    views = matcher.view([paint(255), paint(0)], [REGION] * 2)
    found = matcher.match(views, matcher.name(["dog", "cat", "xyzzy"]))
    assert found[:, :2] == pytest.approx(np.eye(2))
    assert np.isnan(found[:, 2]).all()


def test_labels_count_by_their_weight_and_the_detectors_is_one_of_them():
    matcher = make(0.25)
    # A red crop whose class is dog, and that the detector called a cat.
    views = matcher.view([paint(255)], [replace(REGION, label="cat")])
    assert matcher.match(views, matcher.name(["dog", "cat"]))[0] == pytest.approx([1.0, 0.25])


def test_a_calibrated_similarity_is_held_against_other_regions_and_other_nouns():
    matcher = make(0.5, calibrated=True)
    views = matcher.view([paint(255)], [REGION])
    # By itself 1 for a dog and 0 for a cat: .5 on average. Either noun has .5 and −.5 in the two
    # crops of the background, of which .48 lies 98 parts of a hundred up.
    found = matcher.match(views, matcher.name(["dog", "cat"]))
    assert found[0] == pytest.approx([0.5 - 0.48, -0.5 - 0.48])


def test_what_an_unknown_noun_is_stays_unknown_when_calibrated():
    matcher = make(0.5, calibrated=True)
    views = matcher.view([paint(255)], [REGION])
    assert np.isnan(matcher.match(views, matcher.name(["xyzzy"]))).all()


def test_labels_that_do_not_count_calibrate_nothing():
    with pytest.raises(SettingError, match="labels"):
        GrounderConfig("red", "words", 0.0, calibrated=True)


def save(folder, joint: int = 4, **changes):
    """Write a grounder on the fake model, with weights that tests may spoil."""
    from safetensors.numpy import save_file

    folder.mkdir()
    write_config(folder, GrounderConfig("fake()", "fake()"))
    rng = np.random.default_rng(0)
    weights = {}
    for side in ("image", "noun"):
        weights |= {f"{side}.mean": np.zeros(16), f"{side}.deviation": np.ones(16)}
        weights |= {f"{side}.weight": rng.normal(size=(16, joint)), f"{side}.bias": np.zeros(joint)}
    weights |= changes
    save_file(
        {name: value.astype(np.float16) for name, value in weights.items()}, folder / WEIGHTS_FILE
    )
    return folder


def test_a_folder_of_a_training_is_a_grounder(tmp_path):
    folder = save(tmp_path / "towers")
    grounder = open_grounder(str(folder), detector="fake()")
    assert grounder.signature.startswith("towers@")
    [sight] = grounder.look([draw_clock()], ["clock", "123"])
    assert np.isfinite(sight.similarities[:, 0]).all()
    assert np.isnan(sight.similarities[:, 1]).all()  # the fake knows no word without a letter
    assert sight.notes == ("not known to the grounder: 123",)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"image.weight": np.zeros((15, 4))}, "image.weight of 16 × 4"),
        ({"noun.bias": np.zeros(3)}, "noun.bias of 4"),
        ({"noun.deviation": np.zeros(16)}, "above 0"),
    ],
)
def test_weights_that_do_not_go_together_are_refused(tmp_path, changes, problem):
    with pytest.raises(InputError, match=problem):
        open_towers(save(tmp_path / "towers", **changes))


def test_a_damaged_folder_says_what_to_do(tmp_path):
    folder = save(tmp_path / "towers")
    (folder / FILE).write_text("{")
    assert "fabula train rovist_vg" in open_grounder(str(folder), detector="fake()").absence
    (folder / FILE).write_text('{"encoder": "fake()", "text": "fake()", "label_weight": 2}')
    with pytest.raises((InputError, SettingError), match="share"):
        open_towers(folder)


def test_a_background_of_classes_that_there_are_not_is_refused(tmp_path):
    background = {BACKGROUND: np.ones((2, 4)), CLASS_VECTORS: np.ones((7, 16))}
    background[BACKGROUND_CLASSES] = np.array([[1], [7]])
    folder = save(tmp_path / "towers", **background)
    write_config(folder, GrounderConfig("fake()", "fake()", 0.5, classes=1, calibrated=True))
    with pytest.raises(InputError, match="no numbers of classes"):
        open_towers(folder)
