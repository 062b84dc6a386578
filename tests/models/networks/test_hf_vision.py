"""Models of pictures that transformers reads, on tiny ones with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import (
    Detector,
    Embedder,
    ImageClassifier,
    ImageEncoder,
    JointEncoder,
    Picture,
)
from fabula.models import load_model, need
from fabula.models.huggingface import load
from fabula.models.networks.checkpoint import CheckpointError
from fakes.crafted_pictures import quarters
from fakes.drawings import draw_clock, draw_stop_sign, to_picture
from fakes.tiny_vision import save_clip, save_resnet, save_vit, save_yolos

SAVED = {
    "vit": save_vit,
    "vit without a head": lambda folder: save_vit(folder, "ViTModel"),
    "resnet": save_resnet,
    "clip": save_clip,
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: Any) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("vision")
    made = {name: save(root / name.replace(" ", "_")) for name, save in SAVED.items()}
    return made | {"yolos": save_yolos(root / "yolos")}


@pytest.fixture
def crops() -> list[Any]:
    return [
        draw_clock().pixels,
        draw_stop_sign().pixels[:50, :70],
        to_picture(quarters()).pixels[:1, :3],
        to_picture(quarters()).pixels[:3, :3],
    ]


@pytest.mark.parametrize("name", SAVED)
def test_a_crop_of_any_shape_has_a_vector_whatever_the_company(
    name: str, folders: dict[str, Path], crops: list[Any]
) -> None:
    model = need(load(str(folders[name])), ImageEncoder)
    found = model.encode(crops)
    assert found.shape == (4, model.width)
    assert np.isfinite(found).all()
    fresh: Any = load(str(folders[name]))
    np.testing.assert_allclose(fresh.encode(crops[::-1])[::-1], found, atol=1e-5)
    assert not np.allclose(found[0], found[1], atol=1e-3)
    assert model.encode([]).shape == (0, model.width)


def test_the_vector_of_a_classifier_is_its_first_token_and_of_a_whole_vit_its_pooler(
    folders: dict[str, Path], crops: list[Any]
) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    given = (
        torch.tensor(crops[0][:32, :32].astype(np.float32) / 255).permute(2, 0, 1)[None] - 0.5
    ) / 0.5
    with torch.inference_mode():
        whole = transformers.ViTModel.from_pretrained(folders["vit without a head"]).eval()
        pooled = whole(pixel_values=given).pooler_output.numpy()
        headed = transformers.ViTForImageClassification.from_pretrained(folders["vit"]).eval()
        first = headed.vit(pixel_values=given).last_hidden_state[:, 0].numpy()
        shares = headed(pixel_values=given).logits.softmax(-1).numpy()
    crop = crops[0][:32, :32]
    encoder: Any = load(str(folders["vit without a head"]))
    classifier: Any = load(str(folders["vit"]))
    np.testing.assert_allclose(encoder.encode([crop]), pooled, atol=1e-5)
    np.testing.assert_allclose(classifier.encode([crop]), first, atol=1e-5)
    np.testing.assert_allclose(classifier.classify([crop]), shares, atol=1e-5)
    # The same weights, asked for an encoder: the pooler they lack would be random.
    again: Any = load(str(folders["vit"]), task="images")
    np.testing.assert_allclose(again.encode([crop]), first, atol=1e-5)


def test_what_a_model_offers_goes_by_its_checkpoint(folders: dict[str, Path]) -> None:
    vit, clip, yolos = (load_model(str(folders[name])) for name in ("vit", "clip", "yolos"))
    assert need(vit, ImageClassifier).classes == ("cat", "N/A", "dog")
    assert need(clip, JointEncoder).width == 8
    assert need(yolos, Detector).labels == ("cat", "dog")
    with pytest.raises(SettingError, match=r"is no detector; .* encoder of pictures, classifier"):
        need(vit, Detector)
    with pytest.raises(SettingError, match=r"is no embedder; .* this one is: detector"):
        need(yolos, Embedder)


def test_words_and_pictures_of_clip_lie_in_one_space(
    folders: dict[str, Path], crops: list[Any]
) -> None:
    model = need(load(str(folders["clip"])), JointEncoder)
    texts = ["a cat", "an old sailor saw a light at sea", "the dog ran away " * 20, ""]
    found = model.encode_texts(texts)
    assert found.shape == (4, 8) == model.encode(crops).shape
    assert np.isfinite(found).all()
    alone = np.concatenate([model.encode_texts([text]) for text in texts])
    np.testing.assert_allclose(found, alone, atol=1e-5)


def test_regions_of_a_detector_are_best_first_within_the_picture_and_labelled(
    folders: dict[str, Path],
) -> None:
    model = need(load(str(folders["yolos"])), Detector)
    drawn = draw_clock()
    [found], [one] = model.detect([drawn]), model.detect([drawn], most=1)
    assert 1 <= len(found) <= 10
    assert one == found[:1]
    sure = [region.confidence for region in found]
    assert sure == sorted(sure, reverse=True)
    assert {region.label for region in found} <= {"cat", "dog"}
    for left, top, width, height in (region.box for region in found):
        assert 0 <= left <= left + width <= 400.001
        assert 0 <= top <= top + height <= 300.001
    large = Picture("large", 4000, 3000, "large", drawn.pixels)
    [larger] = load(str(folders["yolos"])).detect([large])  # type: ignore[union-attr]
    np.testing.assert_allclose(larger[0].box, np.array(found[0].box) * 10, rtol=1e-3, atol=1)


def test_windows_are_for_texts(folders: dict[str, Path]) -> None:
    with pytest.raises(SettingError, match="pictures are read in no windows"):
        load(str(folders["vit"]), window=32)


def test_signatures_tell_tasks_and_weights_apart(folders: dict[str, Path]) -> None:
    found = {load(str(folder)).signature for folder in folders.values()}
    found |= {load(str(folders["vit"]), task="images").signature}
    assert len(found) == 6


def test_a_checkpoint_that_does_not_say_how_it_reads_pictures_is_refused(tmp_path: Path) -> None:
    folder = save_vit(tmp_path / "vit")
    (folder / "preprocessor_config.json").unlink()
    model: Any = load(str(folder))
    with pytest.raises(CheckpointError, match=r"has no preprocessor_config\.json"):
        model.encode([draw_clock().pixels])
    (folder / "preprocessor_config.json").write_text("{cut")
    model = load(str(folder))
    with pytest.raises(CheckpointError, match=r"preprocessor_config\.json of vit cannot") as caught:
        model.encode([draw_clock().pixels])
    assert "\n" not in str(caught.value)


def test_a_detector_s_head_is_not_made_of_a_classifier(folders: dict[str, Path]) -> None:
    model: Any = load(str(folders["vit"]), task="detector")
    with pytest.raises(CheckpointError):
        model.detect([draw_clock()])


def test_code_of_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    folder = save_vit(tmp_path / "vit")
    file = folder / "preprocessor_config.json"
    settings = json.loads(file.read_text())
    settings["auto_map"] = {"AutoImageProcessor": "evil.Processor"}
    settings["image_processor_type"] = "Processor"
    file.write_text(json.dumps(settings))
    (folder / "evil.py").write_text("raise SystemExit('run')")
    model: Any = load(str(folder))
    with pytest.raises(CheckpointError):
        model.encode([draw_clock().pixels])
