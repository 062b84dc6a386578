from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.model import Answerer, Embedder
from fabula.models.fake import load as load_fake
from fabula.models.huggingface import load
from fakes.tiny_models import TEXTS, save_bert, torch

QUESTION = "the old MASKED saw a light ."
LONG = " ".join(TEXTS * 6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return save_bert(tmp_path_factory.mktemp("answers"), "BertForQuestionAnswering")


def by_hand(folder: Path, question: str, text: str, pad: int | None = None) -> Any:
    """Softmaxes over all places as transformers gives them, and where the text stands."""
    import transformers

    net = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    shape = {"padding": "max_length", "max_length": pad, "truncation": "only_second"} if pad else {}
    inputs = tokenizer(
        question, text, return_tensors="pt", return_token_type_ids=True,
        return_offsets_mapping=True, **shape,
    )  # fmt: skip
    spans = inputs.pop("offset_mapping")[0].tolist()
    with torch().no_grad():
        out = net(**inputs)
    starts, ends = (one[0].double().softmax(-1).numpy() for one in (out[0], out[1]))
    own = [
        at
        for at, (kind, span) in enumerate(zip(inputs["token_type_ids"][0], spans, strict=True))
        if kind == 1 and span != [0, 0]
    ]
    return starts, ends, own, spans


def test_the_task_is_that_of_the_head(folder: Path) -> None:
    model = load(str(folder))
    assert ",answers,window=64/43" in model.signature
    assert isinstance(model, Answerer)
    assert not isinstance(model, Embedder)


@pytest.mark.parametrize("text", TEXTS)
def test_the_likeliest_span_answers(folder: Path, text: str) -> None:
    model: Any = load(str(folder))
    [found] = model.answers([(QUESTION, text)])
    starts, ends, own, spans = by_hand(folder, QUESTION, text)
    chance, first, last = max(
        (starts[a] * ends[b], a, b) for a in own for b in own if a <= b < a + 30
    )
    assert found.probability == pytest.approx(chance, abs=1e-5)
    assert found.text == text[spans[first][0] : spans[last][1]]
    assert found.coverage == 1.0


@pytest.mark.parametrize("text", [*TEXTS, LONG], ids=range(5))
def test_apart_each_end_is_the_likeliest_and_the_padding_counts(folder: Path, text: str) -> None:
    model: Any = load(str(folder), window=40)
    [found] = model.answers([(QUESTION, text)], apart=True)
    starts, ends, own, spans = by_hand(folder, QUESTION, text, pad=40)
    first, last = max(own, key=lambda at: starts[at]), max(own, key=lambda at: ends[at])
    assert found.probability == pytest.approx(starts[first] * ends[last], abs=1e-5)
    words = text[spans[first][0] : spans[last][1]].lower() if first <= last else ""
    assert found.text.replace(" ", "") == words.replace(" ", "")
    assert found.coverage == pytest.approx(spans[own[-1]][1] / len(text))
    assert (found.coverage < 1) == (text == LONG)


def test_of_several_windows_the_surest_answers(folder: Path) -> None:
    # A window holds three signs, the question, and as much of the text as there is room for.
    model: Any = load(str(folder), window=40, stride=20)
    ids = model.checkpoint.tokenizer(LONG, add_special_tokens=False, return_offsets_mapping=True)
    asked = model.checkpoint.tokenizer(QUESTION, add_special_tokens=False)["input_ids"]
    room, spans = 40 - 3 - len(asked), ids["offset_mapping"]
    starts = [*range(0, len(spans) - room, 20), len(spans) - room]
    windows = [LONG[spans[at][0] : spans[at + room - 1][1]] for at in starts]
    alone = [next(model.answers([(QUESTION, window)])) for window in windows]
    [found] = model.answers([(QUESTION, LONG)])
    best = max(alone, key=lambda one: one.probability)
    assert found.probability == pytest.approx(best.probability, abs=1e-5)
    assert found.text == best.text
    assert found.coverage == 1.0


def test_order_and_company_do_not_matter(folder: Path) -> None:
    model: Any = load(str(folder), window=32)
    pairs = [(QUESTION, LONG), ("", TEXTS[0]), (LONG, TEXTS[1]), (QUESTION, "cat"), ("cat", "")]
    forth, back = list(model.answers(pairs)), list(model.answers(pairs[::-1]))[::-1]
    alone = [next(model.answers([pair])) for pair in pairs]
    for one, other, by_itself in zip(forth, back, alone, strict=True):
        assert one.text == other.text == by_itself.text
        both = [other.probability, by_itself.probability]
        np.testing.assert_allclose(both, one.probability, rtol=1e-4)


def test_a_text_without_a_token_has_no_answer(folder: Path) -> None:
    model: Any = load(str(folder))
    [found] = model.answers([(QUESTION, " ")])
    assert (found.text, found.probability) == ("", 0.0)


def test_an_answer_has_at_most_thirty_tokens(tmp_path: Path) -> None:
    model: Any = load(str(save_bert(tmp_path, "BertForQuestionAnswering", positions=256)))
    [found] = model.answers([("cat", "a " * 200)])
    assert 1 <= len(found.text.split()) <= 30


@pytest.mark.parametrize("name", ["DistilBert", "Roberta"])
def test_models_without_types_of_tokens_answer_too(name: str, tmp_path: Path) -> None:
    import transformers

    save_bert(tmp_path, "BertForQuestionAnswering")
    config = getattr(transformers, f"{name}Config")(
        vocab_size=128, dim=16, hidden_dim=32, n_layers=1, n_heads=2, hidden_size=16,
        num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=66, type_vocab_size=1,
    )  # fmt: skip
    if name == "DistilBert":
        del config.type_vocab_size
    getattr(transformers, f"{name}ForQuestionAnswering")(config).save_pretrained(tmp_path)
    model: Any = load(str(tmp_path))
    [found] = model.answers([(QUESTION, TEXTS[0])])
    assert found.text in TEXTS[0]
    assert 0 < found.probability < 1


def test_the_fake_finds_what_a_sentence_lacks() -> None:
    [found, empty] = load_fake().answers(
        [("The old MASKED saw a light.", "The old sailor saw a light."), ("Who?", "...")]
    )
    # Two neighbours before it and three after: (1 + 5) / 8.
    assert (found.text, found.probability) == ("sailor", 0.75)
    assert (empty.text, empty.probability) == ("", 0.0)
