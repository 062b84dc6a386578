"""A reader on the real story encoder, its layers and heads drawn at random."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.score import Status
from fabula.learned.reader import inference
from fabula.learned.reader.config import Pin
from fabula.learned.reader.inference import load_reader
from fabula.learned.rovist_c import RovistC
from fabula.models import AssetError, get_asset, load_model
from fabula.models.networks.encoder import load_pooled_bert
from fakes.factories import make_story, usual_text

pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_reader import ABOUT, write_reader

pytestmark = pytest.mark.assets


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(inference, "_loaded", {})
    try:
        encoder = load_pooled_bert("story_encoder")
    except AssetError as error:
        pytest.skip(str(error))
    pin = Pin("story_encoder", get_asset("story_encoder").tree_sha256)
    write_reader(tmp_path, encoder, about=replace(ABOUT, encoder=pin, window=254))
    return tmp_path


def test_a_folder_is_loaded_by_its_path_and_shares_the_encoders_words(folder: Path) -> None:
    reader = load_reader(str(folder))
    encoder = load_model("embedded('story_encoder')")
    assert reader.source.encoder.bert.words is encoder.bert.words  # type: ignore[attr-defined]
    assert load_reader(str(folder)) is reader


def test_a_long_story_is_read_whole_and_in_any_company(folder: Path) -> None:
    texts = [usual_text(9000, seed=1), usual_text(300, seed=2), "今日は雨だ 😀 \ud83d"]
    reader = load_reader(str(folder))
    together = reader.outputs(texts)
    count = reader.source.lengths(texts[:1])[0]
    assert len(reader.window_outputs(texts)[0]["order"]) == -(-count // 254) > 5
    inference._loaded.clear()
    alone = [load_reader(str(folder)).outputs([text])[0] for text in texts[::-1]][::-1]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one["order"], other["order"], rtol=0, atol=1e-4)


def test_a_checkpoint_in_a_spec_scores_stories(folder: Path) -> None:
    metric = RovistC(weights=str(folder))
    [score] = metric.score([make_story("The rain fell. The river rose. Nobody came home.")])
    assert score.status is Status.OK
    assert 0 < score.value < 1
    assert "|reader:tiny@" in metric.signature()
