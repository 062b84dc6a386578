"""An encoder with a decoder of its own layers: what it begins with, trained, kept and read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.joint.config import SIGNS, comment_input

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fabula.learned.joint.backbone import CausalNetwork, open_backbone, open_trained  # noqa: E402
from fabula.learned.joint.network import open_writer  # noqa: E402
from fabula.learned.joint.warm_start import is_joined  # noqa: E402
from fabula.learned.reader.inference import load_reader  # noqa: E402
from fabula.learned.training.joint import train_joint  # noqa: E402
from fabula.learned.training.joint_model import begin_joint  # noqa: E402
from fakes.tiny_joint import BETTER, joint_recipe, made_up_data, one_thread, save_led  # noqa: E402
from fakes.tiny_models import save_albert, save_bert, save_gpt2, save_roberta  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with what it guesses hidden words by."""
    return save_bert(tmp_path_factory.mktemp("bert"))


def test_both_sides_begin_with_the_encoders_weights(bert):
    from transformers import BertForMaskedLM

    known = BertForMaskedLM.from_pretrained(bert).state_dict()
    net = open_backbone(bert, CPU, warm_start=True).net
    assert is_joined(net)
    for name, value in known.items():
        assert torch.equal(net.decoder.state_dict()[name], value), name
        if name.startswith("bert."):
            assert torch.equal(net.encoder.state_dict()[name.removeprefix("bert.")], value), name
    assert any("crossattention" in name for name in net.decoder.state_dict())


@pytest.mark.parametrize("save", [save_bert, save_roberta])
def test_it_is_trained_kept_and_read_as_others_are(save, tmp_path):
    recipe = joint_recipe(save(tmp_path / "start"), warm_start=True, epochs=2.0, max_tokens=0)
    model = begin_joint(recipe, CPU)
    assert model.recipe.max_tokens == model.network.longest == 64
    assert model.network.net.get_output_embeddings().weight.shape[0] == len(model.network.tokenizer)
    train_joint(
        recipe, made_up_data(), out=tmp_path / "out", device="cpu", report=lambda line: None
    )
    prompt = comment_input(BETTER[0], "ending")
    again = open_trained(tmp_path / "out", CPU)
    assert again.tokenise(prompt) == model.network.tokenise(prompt)
    signs = [again.tokenizer.convert_tokens_to_ids(sign) for sign in SIGNS]
    assert {*signs} <= {*again.tokenise(prompt)}
    [[value]] = load_reader(str(tmp_path / "out")).values(["preference"], BETTER[:1])
    assert 0 < value < 1
    writer = open_writer(tmp_path / "out")
    said = [writer.generate([prompt], max_tokens=8, seed=seed)[0] for seed in (1, 1, 2)]
    assert said[0] == said[1] != said[2]


def test_one_seed_begins_alike(bert):
    recipe = joint_recipe(bert, warm_start=True)
    first, again = (begin_joint(recipe, CPU).weights for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_an_encoder_decoder_stays_as_it_is(tmp_path):
    assert not is_joined(open_backbone(save_led(tmp_path), CPU, warm_start=True).net)


def test_a_causal_model_stays_as_it_is_too(tmp_path):
    network = open_backbone(save_gpt2(tmp_path), CPU, warm_start=True)
    assert isinstance(network, CausalNetwork)
    assert not is_joined(network.net)
    assert network.longest == 64
    rows = network.tokenise_rows(["A light at sea.", "The dog"], 8)
    with torch.inference_mode():
        states = network.text_states(rows)  # (rows, width)
        alone = network.text_states(rows[1:])
    assert states.shape == (2, 16)
    torch.testing.assert_close(states[1:], alone, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_given_a_decoder_is_refused(tmp_path, bert):
    with pytest.raises(SettingError, match=r"an? albert cannot be given one; take a LED"):
        open_backbone(save_albert(tmp_path / "albert"), CPU, warm_start=True)
    with pytest.raises(SettingError, match=r"\(it is a bert\).*warm_start = true"):
        open_backbone(bert, CPU)
    bare = save_bert(tmp_path / "bare")
    file = bare / "tokenizer.json"
    import json

    plain = json.loads(file.read_text())
    file.write_text(json.dumps(plain | {"post_processor": None}))
    with pytest.raises(InputError, match="no signs before and after a text"):
        open_backbone(bare, CPU, warm_start=True)
