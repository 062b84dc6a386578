from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.model import GapFiller
from fabula.models.huggingface import load
from fabula.models.networks.tuning import Lesson, Tuning
from fakes.tiny_models import TEXTS, save_bert, torch

ROW = ("the", "old", None, "saw", "a", None, "at", "sea", ".")
SHORT = ("she", None, "home")
LESSON = Lesson(("the", "old", "sailor", "saw", "a", "light"), (1, 2, 5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return save_bert(tmp_path_factory.mktemp("gaps"), positions=128)


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    return load(str(folder))


@pytest.fixture(scope="module")
def by_hand(folder: Path) -> Any:
    """Net and tokeniser as transformers loads them."""
    import transformers

    torch()
    return (
        transformers.AutoModelForMaskedLM.from_pretrained(folder).eval(),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def guesses(by_hand: Any, ids: list[int], temperature: float = 1.0) -> Any:
    with torch().no_grad():
        logits = by_hand[0](torch().tensor([ids])).logits[0]
    return (logits.double() / temperature).softmax(-1).numpy()


def ids_of(by_hand: Any, row: Any) -> list[int]:
    """A row between [CLS] (2) and [SEP] (3), gaps as [MASK] (4)."""
    tokens = ["[MASK]" if token is None else token for token in row]
    return [2, *by_hand[1].convert_tokens_to_ids(tokens), 3]


def test_a_gap_is_filled_with_the_likeliest_token(model: Any, by_hand: Any) -> None:
    assert isinstance(model, GapFiller)
    chances = guesses(by_hand, ids_of(by_hand, ROW))
    right = tuple(by_hand[1].convert_ids_to_tokens(chances[[3, 6]].argmax(-1).tolist()))
    assert model.fill([ROW]) == [right]


def test_rows_of_all_lengths_are_filled_as_if_alone(model: Any) -> None:
    rows = [SHORT, ROW, (None,), ("home", "."), ROW * 4, ()]
    assert model.fill(rows) == [model.fill([row])[0] for row in rows]
    assert list(map(len, model.fill(rows))) == [1, 2, 1, 0, 8, 0]


def test_a_row_may_be_as_long_as_there_is_room_and_no_longer(model: Any) -> None:
    assert model.room == 126
    assert len(model.fill([(None,) * 126])[0]) == 126
    with pytest.raises(ValueError, match="127 tokens: there is room for 126"):
        model.fill([("home",) * 127])


def test_a_token_that_the_vocabulary_lacks_is_unknown(model: Any) -> None:
    assert model.fill([("zyx", None)]) == model.fill([("[UNK]", None)])


@pytest.mark.parametrize("temperature", [1.0, 0.25])
def test_the_mean_guess_is_that_of_masking_by_hand(
    model: Any, by_hand: Any, temperature: float
) -> None:
    ids = by_hand[1](TEXTS[0])["input_ids"]
    weights = [1.0, 0.0, 2.0, *[0.5] * (len(ids) - 5)]
    wanted = np.zeros(len(by_hand[1]))
    for at, weight in enumerate(weights, 1):
        masked = [*ids[:at], 4, *ids[at + 1 :]]
        wanted += weight * guesses(by_hand, masked, temperature)[at]
    (found,) = model.mean_guesses(TEXTS[:1], [weights], temperature=temperature)
    np.testing.assert_allclose(found.probabilities, wanted / sum(weights), atol=1e-6)


def test_tokens_without_weight_are_not_asked_about(model: Any, monkeypatch: Any) -> None:
    asked = []
    run = type(model.gaps).guesses

    def listen(self: Any, rows: Any, cells: Any) -> Any:
        asked.extend(cells)
        return run(self, rows, cells)

    monkeypatch.setattr(type(model.gaps), "guesses", listen)
    count = len(model.tokens(TEXTS[:1])[0])
    list(model.mean_guesses(TEXTS[:1], [[0.0, 1.0, *[0.0] * (count - 2)]]))
    # The second token, which [CLS] stands before.
    assert asked == [(0, 2)]
    (found,) = model.mean_guesses(TEXTS[:1], [[0.0] * count])
    assert np.isnan(found.probabilities).all()


def test_small_batches_change_nothing(model: Any, monkeypatch: Any) -> None:
    weights = [[1.0] * len(tokens) for tokens in model.tokens(TEXTS)]
    whole = list(model.mean_guesses(TEXTS, weights))
    run = type(model.gaps).guesses

    def short_of_memory(self: Any, rows: Any, cells: Any) -> Any:
        if len(rows) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return run(self, rows, cells)

    monkeypatch.setattr(type(model.gaps), "guesses", short_of_memory)
    for one, other in zip(whole, model.mean_guesses(TEXTS, weights), strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-7)


def weights_of(filler: Any) -> dict[str, Any]:
    return {name: one.clone() for name, one in filler.head.state_dict().items()}


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return all(torch().equal(one, right[name]) for name, one in left.items())


def test_training_leaves_the_model_as_it_was(model: Any) -> None:
    before, filled = weights_of(model.gaps), model.fill([ROW])
    state = torch().get_rng_state()
    copy = model.tune_on([LESSON], Tuning(rate=0.1))
    assert same(before, weights_of(model.gaps))
    assert model.fill([ROW]) == filled
    assert not model.gaps.head.training
    assert not copy.head.training
    assert torch().equal(state, torch().get_rng_state())
    assert not same(before, weights_of(copy))
    assert copy.signature != model.signature


def test_the_same_seed_gives_the_same_copy_and_another_seed_another(model: Any) -> None:
    # Nothing is swapped or kept, so that dropout alone depends on the seed.
    plan = {"epochs": 2, "rate": 0.01, "swapped": 0.0, "kept": 0.0}
    one, again, other = (
        weights_of(model.tune_on([LESSON], Tuning(seed=seed, **plan))) for seed in (1, 1, 2)
    )
    assert same(one, again)
    assert not same(one, other)


def test_a_copy_has_learnt_what_stands_in_the_gap(model: Any) -> None:
    row = ["the", "old", None, "saw"]
    assert model.fill([row]) != [("sailor",)]
    copy = model.tune_on([Lesson(("the", "old", "sailor", "saw"), (2,))], Tuning(rate=0.03, kept=0))
    assert copy.fill([row]) == [("sailor",)]


def test_no_lessons_teach_nothing(model: Any) -> None:
    for lessons in ([], [Lesson(("home",), ())]):
        assert same(weights_of(model.gaps), weights_of(model.tune_on(lessons, Tuning())))


def test_two_steps_are_those_of_adamw_with_a_rate_that_falls(folder: Path, by_hand: Any) -> None:
    """Without dropout: two lessons, one epoch; the second step has half the rate."""
    from copy import deepcopy

    model: Any = load(str(folder))
    net = deepcopy(by_hand[0])
    for head in (model.gaps.head, net):
        for part in head.modules():
            if isinstance(part, torch().nn.Dropout):
                part.p = 0.0
        head.config.attention_probs_dropout_prob = 0.0
    lessons = [LESSON, Lesson(("they", "went", "home"), (2,))]
    plan = Tuning(epochs=1, rate=0.01, decay=0.5, swapped=0.0, kept=0.0)
    found = model.tune_on(lessons, plan)
    decayed = [p for name, p in net.named_parameters() if name.endswith("weight") and p.ndim > 1]
    spared = [p for name, p in net.named_parameters() if p.ndim == 1]
    steps = torch().optim.AdamW(
        [{"params": decayed, "weight_decay": 0.5}, {"params": spared, "weight_decay": 0.0}], lr=0.01
    )
    for lesson, rate in zip(lessons, (0.01, 0.005), strict=True):
        for group in steps.param_groups:
            group["lr"] = rate
        steps.zero_grad()
        row = [None if at in lesson.gaps else token for at, token in enumerate(lesson.tokens)]
        logits = net(torch().tensor([ids_of(by_hand, row)])).logits[0]
        right = torch().tensor(ids_of(by_hand, lesson.tokens))
        places = [at + 1 for at in lesson.gaps]
        torch().nn.functional.cross_entropy(logits[places], right[places]).backward()
        steps.step()
    for name, one in net.state_dict().items():
        if name.endswith("key.bias"):
            continue  # It changes no attention: its gradient is rounding, which AdamW blows up.
        torch().testing.assert_close(found.head.state_dict()[name], one, atol=1e-4, rtol=1e-3)
