"""Models of the store: their names, their settings, and what is said when one is absent."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError, UnknownName
from fabula.core.model import Embedder, GapFiller
from fabula.models import AssetError, path_of
from fabula.models._runtime import runs_precision
from fabula.models.embedded import load
from fabula.models.networks.encoder import Encoder
from fakes.assets import need_asset
from fakes.factories import find_slowness

pytest.importorskip("torch")
pytest.importorskip("tokenizers")


@pytest.fixture
def minilm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the asset; what is kept goes to a folder of the test."""
    folder = need_asset("minilm")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return folder


def opened(**settings: object) -> Encoder:
    model = load("minilm", **settings)  # type: ignore[arg-type]
    assert isinstance(model, Encoder)
    return model


def test_a_name_that_no_model_has_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'minilm'"):
        load("minilmm")


def test_an_absent_asset_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    with pytest.raises(AssetError, match="fabula models pull minilm"):
        load("minilm")


@pytest.mark.parametrize(
    "settings", [{"dtype": "fp8"}, {"window": 4}, {"overlap": -1}, {"layer": "last"}], ids=str
)
def test_bad_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="embedded: "):
        load("minilm", **settings)  # type: ignore[arg-type]


@pytest.mark.assets
@pytest.mark.parametrize(
    "settings",
    [{"window": 513}, {"window": 64, "overlap": 62}, {"overlap": 510}, {"layer": 7}],
    ids=str,
)
def test_settings_that_minilm_cannot_have_are_refused(
    minilm: Path, settings: dict[str, object]
) -> None:
    with pytest.raises(SettingError, match="take"):
        load("minilm", **settings)  # type: ignore[arg-type]


@pytest.mark.assets
def test_minilm_says_all_that_its_values_depend_on(minilm: Path) -> None:
    digest = json.loads((minilm / "fabula-manifest.json").read_text())["tree_sha256"][:12]
    assert opened().signature == (
        f"embedded,minilm@{digest},fp32,encoder,window=512,overlap=126,layer=6"
    )
    assert opened(window=256, layer=4).signature == (
        f"embedded,minilm@{digest},fp32,encoder,window=256,overlap=62,layer=4"
    )


@pytest.mark.assets
def test_minilm_says_its_precision(minilm: Path, bf16: str) -> None:
    assert opened(dtype=bf16).signature == opened().signature.replace("fp32", "bf16")


@pytest.mark.assets
def test_in_8_bits_minilm_says_so_and_gives_nearly_the_same(minilm: Path) -> None:
    if not runs_precision("int8"):
        pytest.skip("this processor or torch does not multiply in int8")
    exact, coarse = opened(), opened(dtype="int8")
    assert coarse.signature == exact.signature.replace("fp32", "int8")
    texts = ["The dog chased the ball.", "A puppy ran after a toy.", "Taxes are due in April."]
    assert (exact.vectors(texts) * coarse.vectors(texts)).sum(axis=1).min() > 0.995


@pytest.mark.assets
def test_in_8_bits_the_story_encoder_fills_no_gaps() -> None:
    need_asset("story_encoder")
    if not runs_precision("int8"):
        pytest.skip("this processor or torch does not multiply in int8")
    model = load("story_encoder", dtype="int8")
    assert isinstance(model, Embedder) and not isinstance(model, GapFiller)
    assert isinstance(load("story_encoder"), GapFiller)


@pytest.mark.assets
@pytest.mark.parametrize("name", ["smollm2", "t5_titles"])
def test_models_that_are_no_encoders_are_not_read_in_8_bits(name: str) -> None:
    need_asset(name)
    with pytest.raises(SettingError, match=r"int8|8 bits"):
        load(name, dtype="int8")


@pytest.mark.assets
def test_minilm_loads_within_three_seconds(minilm: Path) -> None:
    start = time.process_time()
    model = opened()
    assert time.process_time() - start < 3 * find_slowness()
    assert isinstance(model, Embedder)
    assert (model.width, model.layers) == (384, 7)


@pytest.mark.assets
def test_minilm_s_vectors_are_those_of_its_model_card(minilm: Path) -> None:
    # The arithmetic of the card of all-MiniLM-L6-v2: mean over the mask, then length one.
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    texts = [
        "A man is eating food.",
        "A man is eating a piece of bread.",
        "The girl is carrying a baby. " * 20,
    ]
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    given = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        states = transformers.BertModel.from_pretrained(minilm)(**given).last_hidden_state
    mask = given["attention_mask"][..., None]
    means = (states * mask).sum(1) / mask.sum(1)
    expected = torch.nn.functional.normalize(means).numpy()
    found = opened().vectors(texts)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.assets
def test_minilm_puts_like_sentences_near_each_other_in_either_dtype(
    minilm: Path, bf16: str
) -> None:
    texts = ["The dog chased the ball.", "A puppy ran after a toy.", "Taxes are due in April."]
    exact, coarse = (opened(dtype=dtype).vectors(texts) for dtype in ("fp32", bf16))
    assert exact[0] @ exact[1] > 0.4 > 0.2 > exact[0] @ exact[2]
    assert (exact * coarse).sum(axis=1).min() > 0.998


@pytest.mark.assets
def test_minilm_reads_a_story_of_many_windows_whole(minilm: Path) -> None:
    text = "The ferryman counted his coins, then rowed on. " * 120
    (found,) = opened().states([text], [6])
    assert found.coverage == 1.0
    assert "".join(text[a:b] for a, b in found.spans) == text.replace(" ", "")


@pytest.mark.assets
def test_the_weights_adapted_to_stories_are_those_of_smollm2_and_a_difference():
    from safetensors import safe_open

    try:
        model, plain = load("smollm2_stories"), load("smollm2")
        difference = path_of("smollm2_stories") / "adapter_model.safetensors"
    except AssetError as error:
        pytest.skip(str(error))
    assert "smollm2_stories@" in model.signature and "+smollm2@" in model.signature
    layer = "model.layers.3.self_attn.v_proj"
    with safe_open(difference, "np") as file:
        down, up = (
            file.get_tensor(f"base_model.model.{layer}.lora_{part}.weight").astype(np.float64)
            for part in "AB"
        )
    before, after = (
        one._net.get_submodule(layer).weight.detach().double().numpy() for one in (plain, model)
    )
    # Rank 16, alpha 32.
    np.testing.assert_allclose(after - before, 2.0 * up @ down, atol=1e-6)
    text = "Sam had never been to a fancy restaurant. He was ashamed of his modest car."
    logs = [next(one.logs([("", text)])).logs.mean() for one in (plain, model)]
    assert logs[1] > logs[0] + 0.2
