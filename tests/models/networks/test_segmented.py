"""Segments: the sum of embeddings by hand, marks in tokenisers, and what is kept in a folder."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fabula.core.author import MARKS
from fabula.core.errors import InputError
from fabula.models.huggingface import find_checkpoint
from fabula.models.networks.decoder import open_decoder
from fabula.models.networks.segmented import (
    CONFIG,
    MarkCounts,
    SegmentScheme,
    embed_segments,
    find_marks,
    open_embedding,
    read_scheme,
    read_table,
    register_marks,
    resize_table,
    spell_mark,
)
from fakes.tiny_models import save_gpt2, save_llama, save_wordpiece, torch

TEXT, NAME, FAR = ("move",), ("character", "name_field"), ("previous", "previous", "narrator")


def load(folder):
    checkpoint = find_checkpoint(str(folder), device="cpu")
    net = checkpoint.model("AutoModelForCausalLM")
    register_marks(checkpoint.tokenizer)
    resize_table(net, checkpoint.tokenizer)
    return checkpoint, net


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    torch()
    return load(save_gpt2(tmp_path_factory.mktemp("gpt2")))


def test_what_gpt2_s_first_layer_reads_is_the_sum_by_hand(gpt2):
    """Position + word + all of a token's marks, added up one by one from the tables."""
    checkpoint, net = gpt2
    marks, ids = MarkCounts([TEXT, NAME, FAR]), [5, 9, 7, 11]
    kinds = [1, 1, 2, 0]
    of_mark = find_marks(checkpoint.tokenizer)
    words, places = (net.transformer.wte.weight.detach(), net.transformer.wpe.weight.detach())
    by_hand = [
        words[token] + places[at] + sum(words[of_mark[MARKS.index(mark)]] for mark in names)
        for at, (token, names) in enumerate(zip(ids, [NAME, NAME, FAR, TEXT], strict=True))
    ]
    read = []
    hook = net.transformer.h[0].register_forward_pre_hook(lambda _, given: read.append(given[0]))
    embedded = embed_segments(
        words[torch().tensor([ids])],
        torch().tensor([kinds]),
        table=words[of_mark],
        counts=torch().from_numpy(marks.counts()),
    )
    with torch().inference_mode():
        net.eval()(inputs_embeds=embedded)
    hook.remove()
    np.testing.assert_allclose(read[0][0].numpy(), torch().stack(by_hand).numpy(), atol=1e-6)


def test_combinations_are_numbered_as_they_come_and_count_what_is_stacked():
    marks = MarkCounts([TEXT])
    assert [marks.number(each) for each in (FAR, TEXT, NAME, FAR)] == [1, 0, 2, 1]
    counts = marks.counts()
    assert counts.shape == (3, len(MARKS))
    assert counts[1, MARKS.index("previous")] == 2 and counts[1].sum() == 3
    with pytest.raises(InputError, match="'hat' is no mark"):
        marks.number(("hat",))


@pytest.mark.parametrize("save", [save_gpt2, save_llama])
def test_marks_are_single_tokens_whose_rows_are_the_mean_of_the_others(save, tmp_path):
    folder = save(tmp_path)
    plain = find_checkpoint(str(folder), device="cpu")
    before, known = len(plain.tokenizer), plain.model("AutoModelForCausalLM")
    checkpoint, net = load(folder)
    ids = find_marks(checkpoint.tokenizer)
    assert ids == list(range(before, before + len(MARKS)))
    text = f"cat{spell_mark('same_character')}dog"
    assert ids[MARKS.index("same_character")] in checkpoint.tokenizer(text)["input_ids"]
    old = known.get_input_embeddings().weight
    new = net.get_input_embeddings().weight
    assert torch().equal(new[:before], old[:before])
    mean = old.mean(dim=0)
    assert all(torch().allclose(new[number], mean, atol=1e-6) for number in ids)
    register_marks(checkpoint.tokenizer)  # a second time changes nothing
    assert len(checkpoint.tokenizer) == before + len(MARKS)


def test_the_release_s_bug_makes_every_mark_the_unknown_sign(tmp_path):
    from transformers import AutoTokenizer

    save_wordpiece(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert find_marks(tokenizer, compat=True) == [tokenizer.unk_token_id] * len(MARKS)
    with pytest.raises(InputError, match="does not know the marks"):
        find_marks(tokenizer)
    # GPT-2's unknown sign is the one between texts; the tiny one has no other.
    save_gpt2(tmp_path / "gpt2")
    like_gpt2 = AutoTokenizer.from_pretrained(tmp_path / "gpt2")
    assert find_marks(like_gpt2, compat=True) == [like_gpt2.eos_token_id] * len(MARKS)


@pytest.mark.parametrize(("save", "scale"), [(save_gpt2, 1), (save_llama, 1), (save_llama, 3)])
def test_a_decoder_reads_numbers_that_say_what_tokens_belong_to(save, scale, tmp_path):
    """Against transformers' own forward over embeddings that were added up by themselves.

    Some models, as Gemma, scale the rows of their table within the layer.
    """
    checkpoint, net = load(save(tmp_path))
    layer = net.get_input_embeddings()
    layer.forward = lambda ids: scale * layer.weight[ids]
    size, marks = len(checkpoint.tokenizer), MarkCounts([TEXT, NAME])
    table = torch().randn(len(MARKS), 16, generator=torch().Generator().manual_seed(1))
    SegmentScheme().save(tmp_path, table)
    embed = open_embedding(tmp_path, net, checkpoint.tokenizer, marks)
    decoder = open_decoder(checkpoint, 64, net=net, embed=embed)
    ids, kinds = [5, 9, 7, 11], [1, 1, 0, 0]
    numbers = [token + size * kind for token, kind in zip(ids, kinds, strict=True)]
    state = decoder.open_state()
    decoder.advance([state], [numbers[:2]])
    (logits,) = decoder.advance([state], [numbers[2:]])
    added = [table.half().float()[[MARKS.index(mark) for mark in names]].sum(0)
             for names in (NAME, NAME, TEXT, TEXT)]  # fmt: skip
    words = scale * layer.weight.detach()[ids] + torch().stack(added)
    with torch().inference_mode():
        wanted = net(inputs_embeds=words[None]).logits[0, -1]
    np.testing.assert_allclose(logits.numpy(), wanted.numpy(), atol=1e-4)


def test_a_scheme_is_read_as_it_was_written_and_another_file_refused(tmp_path):
    scheme = SegmentScheme("own", "greedy", 3, 512, "first")
    scheme.save(tmp_path, torch().ones(len(MARKS), 4))
    assert read_scheme(tmp_path) == scheme
    assert read_table(tmp_path, 4).sum() == 4 * len(MARKS)
    with pytest.raises(InputError, match=f"no table of {len(MARKS)} × 5"):
        read_table(tmp_path, 5)
    (tmp_path / CONFIG).write_text(json.dumps({"packing": "loose"}), encoding="utf-8")
    with pytest.raises(InputError, match="packing must be one of"):
        read_scheme(tmp_path)
    with pytest.raises(InputError, match="no model with segments"):
        read_scheme(tmp_path / "elsewhere")
