"""Readers in 8 bits: near those in single precision, named apart, and refused where they cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula import Story, load_dataset
from fabula.core.errors import SettingError
from fabula.learned.criteria import Criteria
from fabula.learned.reader import inference, relation
from fabula.learned.reader.inference import load_reader, open_reader
from fabula.learned.storyer import Storyer
from fabula.models import load_model
from fabula.models._runtime import runs_precision
from fabula.models.networks.encoder import PooledBert
from fabula.scoring.catalogue import METRICS
from fakes.assets import need_asset
from fakes.factories import make_story

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_reader import write_encoder, write_reader  # noqa: E402

TEXTS = ["The cat sat, undoing a river.", "the old dog ran home and saw a cat . " * 9, "home"]
LEARNED = ("criteria", "storyer", "coherence", "union", "manplts")


@pytest.fixture(autouse=True)
def int8() -> None:
    if not runs_precision("int8"):
        pytest.skip("this processor or torch does not multiply in int8")


@pytest.fixture
def tiny(tmp_path: Path) -> tuple[PooledBert, Path]:
    _, encoder = write_encoder(tmp_path)
    write_reader(tmp_path / "reader", encoder)
    return encoder, tmp_path / "reader"


def test_a_reader_in_8_bits_is_near_and_says_so(tiny: tuple[PooledBert, Path]) -> None:
    encoder, folder = tiny
    exact, coarse = open_reader(folder, encoder), open_reader(folder, encoder, dtype="int8")
    assert coarse.signature == f"{exact.signature},int8"
    for one, other in zip(exact.outputs(TEXTS), coarse.outputs(TEXTS), strict=True):
        assert not np.array_equal(one["preference"], other["preference"])
        np.testing.assert_allclose(one["preference"], other["preference"], rtol=0, atol=0.1)
    # The encoder that others share is as it was.
    np.testing.assert_array_equal(
        open_reader(folder, encoder).outputs(TEXTS)[1]["order"], exact.outputs(TEXTS)[1]["order"]
    )


def test_the_setting_is_in_spec_and_identity() -> None:
    metric = METRICS.build("criteria(dtype='int8', weights='fake')")
    plain = METRICS.build("criteria(weights='fake')")
    assert metric.spec == "criteria(weights='fake', dtype='int8')"
    assert METRICS.build(metric.spec) == metric
    assert metric.identity != plain.identity
    assert METRICS.build("criteria(dtype='fp32', weights='fake')").identity == plain.identity


def test_another_precision_is_refused() -> None:
    with pytest.raises(SettingError, match="dtype"):
        METRICS.build("storyer(dtype='int4')")


def test_both_weights_are_not_read_in_8_bits() -> None:
    with pytest.raises(SettingError, match="weights='both' are not read in int8"):
        METRICS.build("storyer(weights='both', dtype='int8')")


def test_an_encoder_of_transformers_is_refused_and_not_missing(
    tiny: tuple[PooledBert, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other:
        """An encoder that is none of ours, with the weights of one that is."""

        def __init__(self, encoder: PooledBert) -> None:
            self.encoder = encoder

        def __getattr__(self, name: str) -> Any:
            return getattr(self.encoder, name)

        def with_layers(self, tensors: Any) -> Other:
            return Other(self.encoder.with_layers(tensors))

    encoder, folder = tiny
    opened: Any = Other(encoder)
    open_reader(folder, opened)
    with pytest.raises(SettingError, match="read by transformers, and not in int8"):
        open_reader(folder, opened, dtype="int8")


def test_on_a_gpu_the_run_ends_with_a_line_and_no_score_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str, *, dtype: str) -> None:
        raise SettingError(f"dtype={dtype!r} is for processors", "leave it out")

    monkeypatch.setattr("fabula.learned.reader.metric.load_reader", refuse)
    with pytest.raises(SettingError, match="is for processors"):
        Storyer(dtype="int8").score([make_story("Once.")])
    # Without the setting, what is amiss with weights of ours is said of every story.
    [score, _] = Storyer().score([make_story("Once.")])
    assert score.status == "missing_model"


@pytest.mark.assets
def test_what_stands_beside_a_reader_is_read_in_8_bits_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _need_weights()
    monkeypatch.setattr(inference, "_loaded", {})
    monkeypatch.setattr(relation, "_opened", {})
    Criteria(dtype="int8").score([Story("a", "She opened the door.", prompt="A door opens.")])
    assert {reader.dtype for reader in inference._loaded.values()} == {"int8"}
    assert list(relation._opened) == ["int8"]
    assert ",int8," in relation._opened["int8"].signature
    assert load_reader("reader") is not load_reader("reader", dtype="int8")


@pytest.mark.assets
@pytest.mark.parametrize("name", LEARNED)
def test_values_of_the_example_stories_are_nearly_the_same(name: str) -> None:
    _need_weights()
    stories = [story for story in load_dataset("examples").stories if story.text.strip()][:24]
    exact, coarse = (
        np.array([score.value for score in METRICS.build(spec).score(stories)])
        for spec in (name, f"{name}(dtype='int8')")
    )
    there = ~np.isnan(exact)
    assert (there == ~np.isnan(coarse)).all()
    assert not np.array_equal(exact[there], coarse[there])
    assert np.corrcoef(exact[there], coarse[there])[0, 1] > 0.995


@pytest.mark.assets
def test_large_weights_are_not_read_in_8_bits() -> None:
    need_asset("large")
    with pytest.raises(SettingError, match="not in int8"):
        METRICS.build("coherence(weights='large', dtype='int8')").score([make_story("Once.")])


def _need_weights() -> None:
    for name in ("story_encoder", "minilm", "permissive", "reader", "coherence"):
        need_asset(name)
    assert load_model("embedded('minilm')")
