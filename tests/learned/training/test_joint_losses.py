"""Every loss of StoryER's whole model by hand, on tiny backbones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.joint.config import comment_input, tag_newlines
from fabula.learned.training.joint_data import JointSampler
from fabula.learned.training.joint_model import JointModel
from fabula.text.antonyms import Antonyms

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_joint import (  # noqa: E402
    BACKBONES,
    made_up_data,
    one_thread,
    open_joint_model,
    sum_losses,
)

ANTONYMS = Antonyms({"old": ("new",), "night": ("day",), "home": ("abroad",)})


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def backbones(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind of backbone."""
    folder = tmp_path_factory.mktemp("backbones")
    return {name: save(folder / name) for name, save in BACKBONES.items()}


def work_out(batch: Any, say: Any, write: Any) -> dict[str, float]:
    """The losses by hand, of what heads say of a text and how likely a comment is."""
    high, low, bad = (
        np.array([sigmoid(say("preference", text)[0]) for text in texts])
        for texts in (batch.better, batch.worse, batch.negatives)
    )
    confidence, rating = [], []
    for item in batch.items:
        logits, rated = say("confidence", item.story), sigmoid(say("aspects", item.story))
        shares = np.exp(logits) / np.exp(logits).sum()
        confidence.append(-sum(np.log(shares[aspect]) for aspect in item.chosen))
        pairs = zip(item.chosen, item.ratings, strict=True)
        logs = [r * np.log(rated[k]) + (1 - r) * np.log(1 - rated[k]) for k, r in pairs]
        rating.append(-sum(logs))
    said = [log for item in batch.items if item.comment for log in write(item)]
    return {
        "ranking": np.mean(np.maximum(0, low - high + 0.3)),
        "negatives": np.mean(np.maximum(0, bad - low + 0.3)),
        "confidence": np.mean(confidence),
        "rating": np.mean(rating),
        "comments": -np.mean(said),
    }


def test_every_loss_of_a_led_equals_a_hand_computation(backbones):
    model = open_joint_model(backbones["led"], negatives=True)
    sampler = JointSampler(replace(made_up_data(), antonyms=ANTONYMS), model.recipe)
    wanted = work_out(sampler.batch(0), partial(say, model), partial(comment_logs, model))
    # A Longformer's sums hang a little on how much filler stands beside a text.
    assert sum_losses(model, data=sampler.data) == pytest.approx(wanted, rel=1e-3)


def test_every_loss_of_a_causal_model_equals_a_hand_computation(backbones):
    model = open_joint_model(backbones["llama"], negatives=True)
    sampler = JointSampler(replace(made_up_data(), antonyms=ANTONYMS), model.recipe)
    net, weights = model.network.net, model.weights
    [end] = model.network.tokenise("</s>")

    def read(text: str) -> list[int]:
        # The sign for an end stands before a text, for there is none of a beginning, and after it.
        return [end, *model.network.tokenise(text)[:46], end]

    def say_last(name: str, text: str) -> Any:
        with torch.no_grad():
            states = net.model(torch.tensor([read(tag_newlines(text))])).last_hidden_state
        weight, bias = (weights[f"head.{name}.{part}"].detach() for part in ("weight", "bias"))
        return weight.double().numpy() @ states[0, -1].double().numpy() + bias.double().numpy()

    def write_logs(item: Any) -> list[float]:
        row = read(comment_input(item.story, ASPECTS[item.aspect]))
        said = [*model.network.tokenise(item.comment), end][:16]
        with torch.no_grad():
            logits = net(torch.tensor([[*row, *said]])).logits[0].double().numpy()
        before = logits[len(row) - 1 : -1]
        return [one[k] - np.log(np.exp(one).sum()) for one, k in zip(before, said, strict=True)]

    wanted = work_out(sampler.batch(0), say_last, write_logs)
    assert sum_losses(model, data=sampler.data) == pytest.approx(wanted, rel=1e-4)


def sigmoid(value: Any) -> Any:
    return 1 / (1 + np.exp(-value))


def say(model: JointModel, name: str, text: str) -> Any:
    """What a head says of the encoder's first state of a text that stands alone."""
    ids = torch.tensor(model.network.tokenise_rows([tag_newlines(text)], 48))
    seen = torch.zeros_like(ids)
    seen[:, 0] = 1
    with torch.no_grad():
        states = model.network.net.get_encoder()(input_ids=ids, global_attention_mask=seen)
    first = states.last_hidden_state[0, 0].double().numpy()
    weight, bias = (
        model.weights[f"head.{name}.{part}"].detach().double().numpy()
        for part in ("weight", "bias")
    )
    return weight @ first + bias


def comment_logs(model: JointModel, item: Any) -> list[float]:
    """Log-probabilities of a comment's tokens, from those before each and from the story."""
    network = model.network
    [ids] = network.tokenise_rows([comment_input(item.story, ASPECTS[item.aspect])], 48)
    [said] = network.tokenise_rows([item.comment], 16)
    given = torch.tensor([ids])
    seen = torch.zeros_like(given)
    seen[:, 0] = 1
    before = torch.tensor([[network.net.config.decoder_start_token_id, *said[:-1]]])
    with torch.no_grad():
        logits = network.net(
            input_ids=given, global_attention_mask=seen, decoder_input_ids=before
        ).logits[0]
    rows = logits.double().numpy()
    return [row[token] - np.log(np.exp(row).sum()) for row, token in zip(rows, said, strict=True)]


def test_the_ranking_of_a_batch_is_the_mean_of_its_pairs(backbones):
    model = open_joint_model(backbones["led"])
    batch = JointSampler(made_up_data(), model.recipe).batch(0)
    with torch.no_grad():
        logits = [model.preferences([text])[0] for text in (*batch.better, *batch.worse)]
    high, low = torch.stack(logits).sigmoid().split(4)
    wanted = (low - high + 0.3).clamp(min=0).mean()
    # A Longformer's sums hang a little on how much filler stands beside a text.
    assert sum_losses(model)["ranking"] == pytest.approx(float(wanted), rel=1e-4)


def test_the_comment_loss_is_that_of_transformers(backbones):
    model = open_joint_model(backbones["bart"])
    network = model.network
    batch = JointSampler(made_up_data(), model.recipe).batch(0)
    total, count = 0.0, 0
    for item in batch.items:
        if not item.comment:
            continue
        labels = network.tokenizer(item.comment, return_tensors="pt")["input_ids"][:, :16]
        prompt = comment_input(item.story, ASPECTS[item.aspect])
        assert prompt.split(" <sep> ")[1].count(" <\\newline> ") == 1
        ids = torch.tensor(network.tokenise_rows([prompt], 48))
        with torch.no_grad():
            mean = network.net(input_ids=ids, labels=labels).loss
        total += float(mean) * labels.shape[1]
        count += labels.shape[1]
    assert sum_losses(model)["comments"] == pytest.approx(total / count, rel=1e-4)
