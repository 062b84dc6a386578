"""Encoders of transformers as readers use them: vectors as transformers itself would give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.models.networks.checkpoint import Checkpoint
from fabula.models.networks.encoder import PooledBert
from fabula.models.networks.hf_pooled import HubEncoder, PooledHub, open_pooled
from fakes.tiny_models import (
    TEXTS,
    save_albert,
    save_bart,
    save_bert,
    save_llama,
    save_roberta,
)

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def pooled_by_hand(net: Any, **given: Any) -> Any:
    """The first state, then the mean of all."""
    with torch.no_grad():
        [states] = net(**{name: torch.tensor([row]) for name, row in given.items()})[0]
    return torch.cat([states[0], states.mean(0)])


@pytest.mark.parametrize("save", [save_albert, save_roberta])
def test_a_window_is_read_as_transformers_reads_the_text(save, tmp_path):
    folder = save(tmp_path / "encoder")
    ours = open_pooled(folder, "encoder", is_bert=False)
    net = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found = ours.pool([ours.ids(text) for text in TEXTS])
    for row, text in zip(found, TEXTS, strict=True):
        torch.testing.assert_close(row, pooled_by_hand(net, input_ids=tokenizer(text)["input_ids"]))
    assert found.shape == (len(TEXTS), ours.width) == (len(TEXTS), 32)


@pytest.mark.parametrize(("save", "kinds"), [(save_albert, True), (save_roberta, False)])
def test_a_pair_is_read_as_transformers_reads_it(save, kinds, tmp_path):
    folder = save(tmp_path / "encoder")
    ours = open_pooled(folder, "encoder", is_bert=False)
    net = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[0])]
    found = ours.pool_pairs([(ours.ids(first), ours.ids(second)) for first, second in pairs])
    for row, (first, second) in zip(found, pairs, strict=True):
        given = {"input_ids": tokenizer(first, second)["input_ids"]}
        if kinds:
            # [CLS] and [SEP] go with the first text, the last [SEP] with the second.
            left, right = len(ours.ids(first)) + 2, len(ours.ids(second)) + 1
            given["token_type_ids"] = [0] * left + [1] * right
        torch.testing.assert_close(row, pooled_by_hand(net, **given))
    assert ours.encoder.knows_kinds == kinds


def test_rooms_and_unknown_signs_are_those_of_the_model(tmp_path):
    albert = open_pooled(save_albert(tmp_path / "albert"), "albert", is_bert=False)
    # 64 positions: two signs around a text, three around and between a pair.
    assert (albert.room, albert.pair_room, albert.unknown) == (62, 30, 1)
    assert albert.ids("the 木") == [albert.ids("the")[0], 1]
    roberta = open_pooled(save_roberta(tmp_path / "roberta"), "roberta", is_bert=False)
    # Of 66 two are never used; two signs stand between the texts.
    assert (roberta.room, roberta.pair_room, roberta.unknown) == (62, 30, None)
    assert albert.pool([]).shape == (0, 32)


def test_all_that_was_learned_lies_in_the_encoder(tmp_path):
    albert = open_pooled(save_albert(tmp_path / "albert"), "albert", is_bert=False)
    assert isinstance(albert, PooledHub)
    assert albert.layer_tensors() == {}
    assert albert.with_layers({}) is albert


def test_a_bert_is_read_by_our_own_network_to_the_same_values(tmp_path):
    folder = save_bert(tmp_path / "bert", "BertModel")
    ours, theirs = (open_pooled(folder, "bert", is_bert=is_bert) for is_bert in (True, False))
    assert isinstance(ours, PooledBert)
    windows = [ours.ids(text) for text in TEXTS]
    assert windows == [theirs.ids(text) for text in TEXTS]
    torch.testing.assert_close(ours.pool(windows), theirs.pool(windows))
    pairs = [(windows[0], windows[1])]
    torch.testing.assert_close(ours.pool_pairs(pairs), theirs.pool_pairs(pairs))
    assert (ours.room, ours.pair_room) == (theirs.room, theirs.pair_room) == (62, 30)


def refuse(folder: Path) -> str:
    with pytest.raises(UserError) as refused:
        open_pooled(folder, folder.name, is_bert=False)
    return str(refused.value)


def test_what_is_no_encoder_or_not_safe_is_refused(tmp_path):
    assert "bart is an encoder with a decoder" in refuse(save_bart(tmp_path / "bart"))
    pickled = save_albert(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    assert "pickled has only pickled weights (.bin), which can run code" in refuse(pickled)


def test_a_tokeniser_that_joins_no_pairs_has_its_end_between_them(tmp_path):
    from tokenizers import processors

    folder = save_albert(tmp_path / "albert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save_pretrained(folder)
    frame = HubEncoder(Checkpoint(folder, "albert")).frame
    assert (frame.before, frame.between, frame.after) == ((2,), (3,), (3,))


def test_states_of_a_lower_layer_and_how_likely_a_window_was(tmp_path):
    folder = save_llama(tmp_path / "llama")
    how = {"is_bert": False, "is_asset": True, "layer": 1, "surprisal": True}
    ours = open_pooled(folder, "llama", **how)
    net = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    rows = [ours.ids(text) for text in TEXTS]
    found = ours.pool(rows)
    assert found.shape == (len(TEXTS), ours.width) == (len(TEXTS), 2 * ours.encoder.width + 4)
    for vector, ids in zip(found, rows, strict=True):
        ids = list(ours.encoder.frame.put_around(ids))
        with torch.no_grad():
            read = net(torch.tensor([ids]), output_hidden_states=True)
        states = read.hidden_states[1][0]
        wanted = torch.cat([states[-1], states.mean(0)])
        torch.testing.assert_close(vector[:-4], wanted, atol=1e-5, rtol=1e-4)
        logs = read.logits[0, :-1].log_softmax(1)[range(len(ids) - 1), ids[1:]]
        quarter = logs[-max(1, len(logs) // 4) :]
        said = torch.stack(
            [logs.mean(), logs.std(correction=0), quarter.mean(), logs.quantile(0.1)]
        )
        torch.testing.assert_close(vector[-4:], said, atol=1e-4, rtol=1e-4)


def test_a_window_of_one_token_was_neither_likely_nor_unlikely(tmp_path):
    folder = save_llama(tmp_path / "llama")
    ours = open_pooled(folder, "llama", is_bert=False, surprisal=True)
    assert ours.pool([ours.ids("a")[:1]])[0, -4:].tolist() == [0, 0, 0, 0]
