"""Training StoryER's whole model on tiny backbones: it learns, resumes, and is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError, UnknownName, UserError
from fabula.learned.joint.config import SIGNS, comment_input
from fabula.learned.joint.network import open_joint
from fabula.learned.training import joint
from fabula.learned.training.joint import JointTrainee
from fabula.learned.training.joint_data import JointData, JointSampler
from fabula.learned.training.joint_model import register_signs
from fabula.text.antonyms import Antonyms

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

from fakes.tiny_joint import (  # noqa: E402
    BACKBONES,
    BETTER,
    joint_recipe,
    made_up_data,
    one_thread,
    open_joint_model,
    sum_losses,
)
from fakes.tiny_models import save_bert  # noqa: E402

ANTONYMS = Antonyms({"old": ("new",), "night": ("day",), "home": ("abroad",)})
QUIET: dict[str, Any] = {"device": "cpu", "report": lambda line: None}


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def backbones(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each kind of backbone."""
    folder = tmp_path_factory.mktemp("backbones")
    return {name: save(folder / name) for name, save in BACKBONES.items()}


def train(out: Path, recipe, data=None, **options):
    return joint.train_joint(recipe, data or made_up_data(), out=out, **QUIET | options)


def weights(out: Path) -> dict[str, Any]:
    return {
        f"{name}/{key}": value
        for name in ("model", "heads")
        for key, value in safetensors.load_file(out / f"{name}.safetensors").items()
    }


def equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("kind", BACKBONES)
def test_four_pairs_are_learned_by_heart(backbones, tmp_path, kind):
    lines: list[str] = []
    recipe = joint_recipe(backbones[kind], epochs=40.0, rate=0.01, clip=1.0)
    train(tmp_path / "out", recipe, report=lines.append)
    totals = [float(line.split("loss ")[1].split()[0]) for line in lines]
    rankings = [float(line.split("ranking ")[1].split(",")[0]) for line in lines]
    assert np.mean(totals[-5:]) < 0.7 * np.mean(totals[:5])
    assert np.mean(rankings[-5:]) < 0.1 < np.mean(rankings[:5])
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "config.json", "model.safetensors", "heads.safetensors", "joint.json", "training.json",
    }  # fmt: skip
    from fabula.learned.reader.inference import load_reader

    reader = load_reader(str(tmp_path / "out"))
    pairs = made_up_data().pairs
    better, worse = (
        reader.values(["preference"], [getattr(pair, side).text for pair in pairs])
        for side in ("better", "worse")
    )
    assert np.mean(better > worse) == 1.0


def killed_at(number: int):
    learn = JointTrainee.learn

    def killed(self, batch, step):
        if step == number:
            raise KeyboardInterrupt
        return learn(self, batch, step)

    return killed


@pytest.mark.parametrize("kind", BACKBONES)
def test_a_killed_training_goes_on_to_the_same_weights(backbones, tmp_path, monkeypatch, kind):
    steps = 50 if kind == "led" else 12
    recipe = joint_recipe(
        backbones[kind], epochs=float(steps), rows=2, held_out=0.4, checkpoint_every=steps // 5,
        evaluate_every=steps // 3, negatives=True,
    )  # fmt: skip
    data = replace(made_up_data(4), antonyms=ANTONYMS)
    whole = train(tmp_path / "whole", recipe, data)
    assert whole["steps"] == steps
    for step in (steps // 2, steps - 4):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(JointTrainee, "learn", killed_at(step))
            train(tmp_path / "killed", recipe, data, resume=step > steps // 2)
    with pytest.raises(InputError, match="holds a training"):
        train(tmp_path / "killed", recipe, data)
    with pytest.raises(InputError, match="another recipe"):
        train(tmp_path / "killed", replace(recipe, margin=0.4), data, resume=True)
    with pytest.raises(InputError, match="other data"):
        train(tmp_path / "killed", recipe, replace(data, items=data.items[:3]), resume=True)
    resumed = train(tmp_path / "killed", recipe, data, resume=True)
    assert resumed["history"] == whole["history"]
    assert equal(weights(tmp_path / "whole"), weights(tmp_path / "killed"))
    assert train(tmp_path / "killed", recipe, data, resume=True) == json.loads(json.dumps(resumed))
    with pytest.raises(InputError, match=r"was trained by another recipe \(margin\)"):
        train(tmp_path / "killed", replace(recipe, margin=0.4), data, resume=True)


def test_a_causal_models_text_and_comment_share_its_room(backbones, tmp_path):
    model = open_joint_model(backbones["llama"], max_tokens=0)
    assert model.recipe.max_tokens == 64 - 16
    with pytest.raises(SettingError, match=r"max_tokens \+ comment_tokens is 65, .* room for 64"):
        open_joint_model(backbones["llama"], max_tokens=49)
    [row] = model.network.tokenise_rows(["The cat sat. " * 60], 48)
    assert len(row) == 48
    assert row[-1] == model.network.start
    [cut] = model.network.tokenise_comments(["The cat sat. " * 60], 16)
    assert len(cut) == 16
    assert model.network.start not in cut


@pytest.mark.parametrize("kind", BACKBONES)
def test_a_reader_says_of_held_out_stories_what_the_training_said(
    backbones, tmp_path, monkeypatch, kind
):
    said: dict[str, float] = {}
    ask = joint.preference_logits

    def keep(model, texts):
        logits = ask(model, texts)
        said.update(zip(texts, logits.tolist(), strict=True))
        return logits

    monkeypatch.setattr(joint, "preference_logits", keep)
    train(tmp_path / "out", joint_recipe(backbones[kind], epochs=3.0, held_out=0.4))
    assert len(said) >= 2
    _, _, source = open_joint(tmp_path / "out")
    for text, outputs in zip(said, source.window_outputs(list(said)), strict=True):
        # What was said last, by the weights that were kept.
        assert outputs["preference"].ravel() == pytest.approx([said[text]], abs=1e-5)


@pytest.mark.parametrize("kind", BACKBONES)
def test_signs_are_one_token_each_with_embeddings_that_are_kept(backbones, tmp_path, kind):
    model = open_joint_model(backbones[kind])
    network, words = model.network, len(model.network.tokenizer)
    found = network.tokenise(comment_input("One.\nTwo.", "ending"))
    ids = [network.tokenizer.convert_tokens_to_ids(sign) for sign in SIGNS]
    assert SIGNS == ("<sep>", "<\\newline>")
    assert ids == [words - 2, words - 1]
    assert [found.count(number) for number in ids] == [1, 1]
    # The blank before a sign is the sign's own.
    assert found[found.index(ids[0]) - 1] == network.tokenise("ending")[-1]
    embeddings = network.net.get_input_embeddings()
    assert embeddings.num_embeddings >= words
    assert network.net.config.vocab_size == embeddings.num_embeddings
    assert network.net.get_output_embeddings().weight.shape[0] == embeddings.num_embeddings
    register_signs(network)
    assert len(network.tokenizer) == words
    train(tmp_path / "out", joint_recipe(backbones[kind], epochs=1.0))
    from fabula.learned.joint.backbone import open_trained

    again = open_trained(tmp_path / "out", torch.device("cpu"))
    assert again.tokenise(comment_input("One.\nTwo.", "ending")) == found
    assert again.net.get_input_embeddings().num_embeddings == embeddings.num_embeddings


def test_max_tokens_0_reads_all_that_the_backbone_can(backbones):
    assert open_joint_model(backbones["led"], max_tokens=0).recipe.max_tokens == 64
    with pytest.raises(SettingError, match="of any length; say max_tokens"):
        open_joint_model(backbones["t5"], max_tokens=0)


def test_compat_sums_the_ranking_and_tells_one_aspect_at_a_time(backbones):
    usual, compat = (
        sum_losses(open_joint_model(backbones["bart"], compat=one, negatives=True))
        for one in (False, True)
    )
    assert compat["ranking"] == pytest.approx(4 * usual["ranking"], rel=1e-5)
    assert compat["negatives"] == pytest.approx(4 * usual["negatives"], rel=1e-5)
    assert compat["confidence"] < usual["confidence"]
    assert compat["rating"] < usual["rating"]
    # BART's decoder begins with the sign for an end in any case.
    assert compat["comments"] == usual["comments"]
    t5 = [
        sum_losses(open_joint_model(backbones["t5"], compat=one))["comments"]
        for one in (False, True)
    ]
    assert t5[0] != t5[1]


ALL = {"ranking", "negatives", "confidence", "rating", "comments"}


@pytest.mark.parametrize(
    ("switch", "gone"),
    [
        ("ranking", {"ranking"}),
        ("negatives", {"negatives"}),
        ("aspects", {"confidence", "rating"}),
        ("comments", {"comments"}),
        ("augmentation", set()),
    ],
)
def test_a_switch_leaves_out_its_loss_and_changes_no_other(backbones, switch, gone):
    whole = sum_losses(open_joint_model(backbones["bart"], negatives=True))
    assert whole.keys() == ALL
    model = open_joint_model(backbones["bart"], **{"negatives": True, switch: False})
    assert sum_losses(model) == pytest.approx({k: v for k, v in whole.items() if k not in gone})


@pytest.mark.parametrize("loss", ["cross_entropy", "smoothed"])
def test_another_ranking_loss_changes_the_ranking_alone(backbones, loss):
    whole, other = (
        sum_losses(open_joint_model(backbones["bart"], loss=one)) for one in ("margin", loss)
    )
    assert other["ranking"] > 2 * whole["ranking"]
    assert other | {"ranking": 0} == whole | {"ranking": 0}


def test_rows_in_several_passes_give_the_same_gradients(backbones, tmp_path):
    def gradients(at_once: int) -> list[Any]:
        model = open_joint_model(backbones["t5"], at_once=at_once, negatives=True)
        batch = JointSampler(made_up_data(), model.recipe).batch(0)
        for part in ("pairs", "aspects", "comments"):
            for some in model.losses(batch, part):
                torch.stack(list(some.values())).sum().backward()
        return [value.grad for value in model.weights.values()]

    for one, other in zip(gradients(0), gradients(3), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def test_one_seed_gives_one_model_and_another_seed_another(backbones, tmp_path):
    recipe = joint_recipe(backbones["bart"], epochs=2.0)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(tmp_path / name, replace(recipe, seed=seed))
    first, again, other = (weights(tmp_path / name) for name in "abc")
    assert equal(first, again)
    assert not equal(first, other)


def test_patience_ends_a_training_and_the_best_weights_are_kept(backbones, tmp_path):
    recipe = joint_recipe(
        backbones["bart"], epochs=30.0, rows=2, held_out=0.4, patience=2, evaluate_every=1
    )
    record = train(tmp_path / "out", recipe)
    assert record["steps"] == record["best"]["step"] + 2 < 30
    held = record["held_out_pairs"]
    assert (held["value"], held["pairs"], held["prompts"]) == (
        pytest.approx(record["best"]["held_out"]["accuracy"]), 2, 2,
    )  # fmt: skip
    figures = [one["figure"] for one in record["history"]]
    assert record["best"]["figure"] == max(figures)
    assert {"accuracy", "distance", "recall_at_3", "loss", "loss.ranking"} <= set(
        record["best"]["held_out"]
    )


def test_the_rate_rises_for_a_share_of_the_steps_or_for_epochs(backbones):
    def rates(**changes) -> list[float]:
        # Ten steps, four of them an epoch.
        model = open_joint_model(backbones["bart"], rate=1.0, rows=1, epochs=2.5, **changes)
        sampler = JointSampler(made_up_data(), model.recipe)
        schedule = JointTrainee(model, sampler, sampler).begin_stage(0).schedule
        return [schedule.rate(step) for step in (1, 2, 3, 4, 5, 10)]

    # Up in two steps of ten, then by ninths to a last step that still learns.
    assert rates(warmup=0.2) == pytest.approx([1 / 2, 1, 8 / 9, 7 / 9, 6 / 9, 1 / 9])
    wanted = [1 / 4, 2 / 4, 3 / 4, 1, 6 / 7, 1 / 7]
    assert rates(warmup=0.2, warmup_epochs=1.0) == pytest.approx(wanted)


def test_what_cannot_be_trained_is_refused(backbones, tmp_path):
    with pytest.raises(SettingError, match="has room for 64"):
        train(tmp_path / "a", joint_recipe(backbones["bart"], max_tokens=65))
    with pytest.raises(SettingError, match="comment_tokens is 40"):
        train(tmp_path / "b", joint_recipe(backbones["led"], comment_tokens=40))
    with pytest.raises(InputError, match="no pairs"):
        train(tmp_path / "c", joint_recipe(backbones["bart"]), JointData())
    with pytest.raises(InputError, match="no rated comments"):
        data = replace(made_up_data(), items=())
        train(tmp_path / "d", joint_recipe(backbones["bart"]), data)
    with pytest.raises(UserError, match="holds no config"):
        train(tmp_path / "e", joint_recipe(tmp_path))
    with pytest.raises(SettingError, match=r"is no encoder-decoder .*: warm_start = true"):
        train(tmp_path / "f", joint_recipe(save_bert(tmp_path / "bert")))
    pickled = BACKBONES["led"](tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"only pickled weights .* write it anew by transformers"):
        train(tmp_path / "g", joint_recipe(pickled))


def test_an_ablation_leaves_only_the_scales_that_it_trained(backbones, tmp_path):
    from fabula.learned.joint.config import comment_input
    from fabula.learned.joint.network import open_writer
    from fabula.learned.reader.inference import load_reader

    recipe = joint_recipe(backbones["bart"], epochs=1.0, negatives=True, comments=False)
    train(tmp_path / "a", replace(recipe, aspects=False), replace(made_up_data(), items=()))
    reader = load_reader(str(tmp_path / "a"))
    assert list(reader.config.scales) == ["preference", "preference_n"]
    train(tmp_path / "b", replace(recipe, negatives=False, ranking=False))
    assert len(load_reader(str(tmp_path / "b")).config.scales) == 20
    with pytest.raises(SettingError, match="without comments"):
        open_writer(tmp_path / "a")
    with pytest.raises(UnknownName, match="endings"):
        comment_input(BETTER[0], "endings")
