"""The co-author that comes with Fabula: its settings, and its weights where they are here."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.authors import author_spec, load_author
from fabula.authors.context.ranges import count_units
from fabula.core.errors import SettingError
from fabula.models import AssetError
from fakes.author_contract import make_request, write
from fakes.tiny_models import torch

REST = "The keeper climbed the stairs again and counted the ships that did not come. " * 60


def test_who_asks_for_weights_that_are_not_here_is_told_of_the_plain_ones(monkeypatch, tmp_path):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    monkeypatch.setattr("fabula.models.store.folder._list_candidates", lambda place: [])
    with pytest.raises(AssetError, match=r"smollm2_stories.*embedded\(weights='plain'\)"):
        load_author("embedded").startup()
    with pytest.raises(AssetError, match="fabula models pull smollm2"):
        load_author("embedded(weights='plain')").startup()


@pytest.mark.assets
def test_the_weights_adapted_to_stories_are_told_by_their_signature():
    torch()
    plain, stories = (load_author(f"embedded(weights={name!r})") for name in ("plain", "stories"))
    assert "smollm2@" in plain.signature and "smollm2_stories" not in plain.signature
    assert "smollm2_stories@" in stories.signature and "+smollm2@" in stories.signature


def test_its_settings_are_checked():
    assert author_spec("embedded(dtype='fp32')") == "embedded"
    # Made without a look at the weights, which may not be here.
    load_author("embedded(threads=1)").shutdown()
    for wrong in ("dtype='fp64'", "window=3", "batch=0", "threads=0", "weights='other'"):
        with pytest.raises(SettingError):
            load_author(f"embedded({wrong})")


@pytest.fixture(scope="module")
def smollm2() -> Any:
    torch()
    author = load_author("embedded(weights='plain')")
    author.startup()
    yield author
    author.shutdown()


@pytest.mark.assets
def test_smollm2_reads_as_transformers_does(smollm2):
    from fabula.models.networks.llama import Llama

    loop = smollm2._loop
    assert isinstance(loop.decoder, Llama)
    net = smollm2.checkpoint.model("AutoModelForCausalLM")
    ids = smollm2._make_prompt(make_request(text=REST[:400])).ids
    state = loop.decoder.open_state()
    loop.decoder.advance([state], [ids[:-9]])
    logits = loop.decoder.advance([state], [ids[-9:]])[0]
    with torch().inference_mode():
        wanted = net(input_ids=torch().tensor([ids])).logits[0, -1]
    torch().testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.assets
def test_smollm2_writes_english_and_reads_a_prefix_once(smollm2):
    request = make_request(wanted="words=-12", text=REST)
    smollm2.preprocess(request.context)
    kept = smollm2._loop.prefixes.take(request.context.story, smollm2._make_prompt(request).ids)
    assert len(kept.ids) == len(smollm2._make_prompt(request).ids) - 1
    written = write(smollm2, request)["r"]
    assert written.status == "done"
    assert 3 <= count_units(written.text, "words") <= 12
    assert written.text.isascii()
