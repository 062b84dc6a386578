"""The embedded detector and encoder of pictures, on pictures that the tests draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.model import Detector, ImageClassifier, ImageEncoder, JointEncoder, Picture
from fabula.models import crop, load_model, need
from fabula.models.embedded import load
from fabula.models.networks.vision import (
    LOGITS,
    SsdDetector,
    declare_output,
    digest_crop,
    free_sizes,
)
from fabula.models.reading.pictures import measure_overlap
from fakes.assets import need_asset
from fakes.crafted_pictures import quarters
from fakes.drawings import draw_clock, draw_stop_sign, to_picture

pytest.importorskip("cv2")
pytest.importorskip("onnxruntime")


def opened(name: str, **settings: Any) -> Any:
    need_asset(name)
    need_asset("imagenet_labels")
    return load(name, **settings)


@pytest.fixture(scope="module")
def detector() -> Any:
    return opened("ssd_mobilenet")


@pytest.fixture(scope="module")
def encoder() -> Any:
    return opened("mobilenet_v2")


@pytest.mark.assets
def test_the_detector_finds_what_was_drawn_and_where(detector: Any) -> None:
    stop, clock = need(detector, Detector).detect([draw_stop_sign(), draw_clock()])
    assert stop[0].label == "stop sign"
    assert stop[0].confidence > 0.8
    assert measure_overlap(stop[0].box, (120, 42, 155, 154)) > 0.85
    assert clock[0].label == "clock"
    assert clock[0].confidence > 0.7
    assert measure_overlap(clock[0].box, (110, 60, 180, 180)) > 0.85


@pytest.mark.assets
def test_regions_are_the_best_first_and_lie_within_the_picture(detector: Any) -> None:
    [found] = detector.detect([draw_stop_sign()], most=4)
    assert len(found) == 4
    sure = [region.confidence for region in found]
    assert sure == sorted(sure, reverse=True)
    for left, top, width, height in (region.box for region in found):
        assert left >= 0
        assert top >= 0
        assert left + width <= 400.001
        assert top + height <= 300.001


@pytest.mark.assets
def test_boxes_go_by_the_size_of_the_file_not_by_the_pixels_that_are_kept(detector: Any) -> None:
    drawn = draw_stop_sign()
    large = Picture("large", 4000, 3000, "other", drawn.pixels)
    [small_regions], [large_regions] = detector.detect([drawn]), detector.detect([large])
    np.testing.assert_allclose(
        np.array(large_regions[0].box), np.array(small_regions[0].box) * 10, rtol=1e-5
    )


@pytest.mark.assets
def test_the_detector_knows_the_80_classes_of_coco(detector: Any) -> None:
    assert len(detector.labels) == len(set(detector.labels)) == 80
    assert {"person", "dog", "toothbrush"} <= set(detector.labels)
    assert "hair brush" not in detector.labels


@pytest.mark.assets
def test_a_picture_is_looked_at_once(detector: Any) -> None:
    fresh = SsdDetector(detector.folder, detector.signature)
    seen: list[str] = []
    find = SsdDetector._find
    object.__setattr__(fresh, "_find", lambda one: seen.append(one.name) or find(fresh, one))
    fresh.detect([draw_clock(), draw_stop_sign(), draw_clock()])
    fresh.detect([draw_clock()], most=1)
    assert seen == ["clock.png", "stop.png"]


@pytest.mark.assets
def test_the_classifier_calls_a_clock_a_clock(encoder: Any) -> None:
    model = need(encoder, ImageClassifier)
    assert len(model.classes) == 1000
    assert model.classes[0] == "tench, Tinca tinca"
    [shares] = model.classify([draw_clock().pixels])
    assert model.classes[shares.argmax()] in ("analog clock", "wall clock")
    assert shares.sum() == pytest.approx(1)


@pytest.mark.assets
def test_a_vector_is_the_same_alone_and_among_others_and_crops_of_one_thing_are_alike(
    encoder: Any,
) -> None:
    model = need(encoder, ImageEncoder)
    clock, stop = draw_clock(), draw_stop_sign()
    crops = [
        crop(clock, (110, 60, 180, 180)),
        crop(clock, (90, 40, 220, 220)),
        crop(stop, (120, 42, 155, 154)),
        crop(stop, (0, 0, 1, 1)),
    ]
    together = model.encode(crops)
    assert together.shape == (4, model.width) == (4, 1280)
    other: Any = load("mobilenet_v2")
    alone = np.concatenate([other.encode([one]) for one in crops])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    unit = together / np.linalg.norm(together, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.2
    assert model.encode([]).shape == (0, 1280)
    assert encoder.classify([]).shape == (0, 1000)


@pytest.mark.assets
def test_the_file_as_it_stands_says_the_same_of_224_pixels(encoder: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = opened("mobilenet_v2", size=224)
    clock = draw_clock().pixels[:224, :224]
    session = runtime.InferenceSession(str(model.file), providers=["CPUExecutionProvider"])
    given = clock.astype(np.float32) / 255
    given = (given - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    [logits] = session.run([LOGITS], {"data": given.astype(np.float32).transpose(2, 0, 1)[None]})
    weights = np.exp(logits[0] - logits[0].max())
    np.testing.assert_allclose(model.classify([clock])[0], weights / weights.sum(), atol=1e-5)
    assert model.signature != encoder.signature


@pytest.mark.assets
def test_settings_of_texts_are_refused() -> None:
    opened("ssd_mobilenet")
    for name, settings in (("ssd_mobilenet", {"window": 64}), ("mobilenet_v2", {"layer": 1})):
        with pytest.raises(SettingError, match="reads no texts"):
            load(name, **settings)  # type: ignore[arg-type]


def test_a_size_is_for_pictures_alone() -> None:
    with pytest.raises(SettingError, match="ssd_mobilenet brings no crops to a size"):
        load("ssd_mobilenet", size=64)
    with pytest.raises(SettingError, match="size"):
        load("mobilenet_v2", size=3)


def test_an_output_is_declared_by_a_message_behind_the_file() -> None:
    assert declare_output("ab") == b"\x3a\x06\x62\x04\x0a\x02ab"


def test_a_graph_of_another_input_is_left_alone() -> None:
    with pytest.raises(ValueError, match="not one picture of 224"):
        free_sizes(b"\x0a\x02\x08\x01")


def test_a_crop_is_known_by_its_pixels_and_shape() -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    assert digest_crop(pixels) == digest_crop(pixels.copy())
    assert digest_crop(pixels) != digest_crop(pixels.reshape(6, 4, 3))


def test_broken_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.pb").write_bytes(b"no graph")
    (tmp_path / "model.pbtxt").write_text("nor this")
    (tmp_path / "labels.txt").write_text("person\n")
    with pytest.raises(InputError, match=r"model\.pb cannot be loaded") as caught:
        SsdDetector(tmp_path, "broken").detect([to_picture(quarters())])
    assert "\n" not in str(caught.value)


def test_without_opencv_one_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(PackageMissing, match="opencv-python-headless is not installed"):
        SsdDetector(tmp_path, "absent").detect([to_picture(quarters())])


def test_the_fake_sees_colours_and_names_them() -> None:
    model = load_model("fake(width=8)")
    picture = to_picture(quarters())
    [found] = need(model, Detector).detect([picture])
    assert {region.label for region in found[:4]} == {"apple", "tree", "sea", "snow"}
    best = {region.label: region.box for region in found[:4]}
    assert best["sea"] == (0, 10, 20, 10)
    crops = [crop(picture, region.box) for region in found]
    vectors = need(model, ImageEncoder).encode([*crops, crops[0][:1, :1]])
    assert vectors.shape == (len(crops) + 1, 8)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    np.testing.assert_allclose(vectors[-1], vectors[0])
    shares = need(model, ImageClassifier).classify(crops)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert model.signature != load_model("fake(width=8, seed=1)").signature


def test_the_fake_puts_words_for_colours_where_the_colours_are() -> None:
    model = need(load_model("fake(width=16)"), JointEncoder)
    picture = to_picture(quarters())
    sea, apple = crop(picture, (0, 10, 20, 10)), crop(picture, (0, 0, 20, 10))
    texts = model.encode_texts(["The sea was calm.", "an apple", "a word", "\ud800"])
    assert texts.shape == (4, 16)
    near = texts @ model.encode([sea, apple]).T
    np.testing.assert_allclose(near[[0, 1], [0, 1]], 1)
    assert near[0, 1] < 0.9
    assert near[2].max() < 0.9
