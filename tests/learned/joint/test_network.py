"""The folder of a joint training as a reader: heads, windows, metrics, comments, faults."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.aspects import Aspects
from fabula.learned.joint.config import (
    ASPECT_WORDS,
    FILE,
    comment_input,
    read_joint_config,
    tag_newlines,
)
from fabula.learned.reader.inference import load_reader
from fabula.learned.storyer import Storyer

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fabula.learned.joint.network import open_writer  # noqa: E402
from fabula.learned.training.joint import train_joint  # noqa: E402
from fakes.tiny_joint import (  # noqa: E402
    BETTER,
    WORSE,
    joint_recipe,
    made_up_data,
    one_thread,
    save_led,
)
from fakes.tiny_models import save_llama  # noqa: E402

TEXTS = [*BETTER, *WORSE, "cat\ud83d"]


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short training left."""
    place = tmp_path_factory.mktemp("joint")
    recipe = joint_recipe(save_led(place / "led"), epochs=3.0)
    train_joint(recipe, made_up_data(), out=place / "out", device="cpu", report=lambda line: None)
    return place / "out"


def test_heads_are_those_on_transformers_first_state(folder):
    from safetensors.torch import load_file
    from transformers import LEDForConditionalGeneration, PreTrainedTokenizerFast

    net = LEDForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    ids = tokenizer(tag_newlines(BETTER[0]), return_tensors="pt")["input_ids"]
    seen = torch.zeros_like(ids)
    seen[:, 0] = 1
    with torch.inference_mode():
        states = net.get_encoder()(input_ids=ids, global_attention_mask=seen).last_hidden_state
    heads = load_file(folder / "heads.safetensors")

    def logits(name):
        return (states[0, 0] @ heads[f"head.{name}.weight"].T + heads[f"head.{name}.bias"]).double()

    reader = load_reader(str(folder))
    [found] = reader.values(["preference", *(f"aspects.{name}" for name in ASPECTS)], BETTER[:1])
    assert found[0] == pytest.approx(float(logits("preference").sigmoid()), abs=1e-5)
    np.testing.assert_allclose(found[1:], 1 + 4 * logits("aspects").sigmoid(), atol=1e-5)
    [raw] = reader.outputs(BETTER[:1])
    np.testing.assert_allclose(raw["confidence"], logits("confidence"), atol=1e-5)


def test_a_longer_text_is_read_by_windows_and_nothing_is_left_out(folder):
    reader = load_reader(str(folder))
    text = " ".join([*BETTER, *WORSE])
    [length] = reader.source.lengths([text])
    [rows] = reader.window_outputs([text])
    # Windows of 48 tokens, of which two are signs that the tokeniser adds.
    assert len(rows["preference"]) == -(-length // 46) > 1
    [mean] = reader.outputs([text])
    np.testing.assert_allclose(mean["aspects"], rows["aspects"].mean(axis=0))
    assert np.isnan(reader.outputs([""])[0]["preference"]).all()


def test_metrics_read_it_by_its_path(folder):
    stories = [Story(str(number), text) for number, text in enumerate(TEXTS)]
    storyer, aspects = Storyer(weights=str(folder)), Aspects(weights=str(folder))
    readings = list(storyer.read(stories))
    assert all(0 < one.values[0] < 1 for one in readings)
    assert all("percentiles" in one.note for one in readings)
    assert all(1 <= value <= 5 for one in aspects.read(stories) for value in one.values)
    shares = Aspects(weights=str(folder), confidence=True).read(stories)
    assert [sum(one.values) for one in shares] == pytest.approx([1.0] * len(stories))
    assert storyer.traits()["reader"].startswith("storyer_joint@")
    with pytest.raises(SettingError, match="no scale 'preference_n'"):
        Storyer(weights=str(folder), negatives=True).read(stories)


NOTE = "\n\nEdit: thanks for the gold! More stories at r/sailors"


def test_stories_are_read_without_notes_where_the_training_was_without_them(folder, tmp_path):
    recipe = joint_recipe(folder.parent / "led", epochs=3.0, cleaned=False)
    train_joint(recipe, made_up_data(), out=tmp_path, device="cpu", report=lambda line: None)
    layouts = [read_joint_config(place).layout for place in (folder, tmp_path)]
    assert layouts == ["cleaned", "given"]
    noted = [f"[WP] A light.\n\n{text}{NOTE}" for text in BETTER]
    cleaned, given = load_reader(str(folder)), load_reader(str(tmp_path))
    scales = ["preference", *(f"aspects.{name}" for name in ASPECTS)]
    np.testing.assert_array_equal(cleaned.values(scales, noted), cleaned.values(scales, BETTER))
    assert (given.values(scales, noted) != given.values(scales, BETTER)).all()
    assert given.source.lengths(given.lay_out(noted)) > given.source.lengths(BETTER)
    assert comment_input(noted[0], "ending", "cleaned") == comment_input(BETTER[0], "ending")


def test_a_folder_that_does_not_say_reads_stories_as_they_are(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "old")
    file = tmp_path / "old" / FILE
    about = json.loads(file.read_text())
    assert about.pop("layout") == "cleaned"
    file.write_text(json.dumps(about))
    assert load_reader(str(tmp_path / "old")).config.layout == "given"


@pytest.mark.parametrize("raw", [True, False])
def test_comments_of_a_review_are_asked_on_what_was_learned_from(folder, monkeypatch, raw):
    from fabula.learned.comments.evidence import find_evidence
    from fabula.learned.joint.network import JointWriter
    from fabula.scoring.review.commenters import WrittenComments

    asked: list[str] = []
    monkeypatch.setattr(
        JointWriter, "generate", lambda self, prompts, **how: asked.extend(prompts) or ["Neat."]
    )
    comments = WrittenComments(str(folder), raw=raw)
    until, text = comments.deadline(), BETTER[0] + NOTE
    comments.comment(text, find_evidence(text, "scene"), 4.0, until=until)
    assert {*asked} == {comment_input(BETTER[0], "scene")}


def test_values_do_not_hang_on_what_else_is_read(folder):
    reader = load_reader(str(folder))
    whole = reader.values(["preference"], TEXTS)
    for text, value in zip(TEXTS, whole, strict=True):
        [[outputs]] = [list(reader.source.window_outputs([text]))]
        mean = outputs["preference"].mean()
        assert 1 / (1 + np.exp(-mean)) == pytest.approx(value[0], abs=1e-12)


def test_enough_held_out_stories_give_percentiles(folder, tmp_path):
    data = made_up_data(200)
    for number, pair in enumerate(data.pairs):
        object.__setattr__(pair.better, "text", f"{number} {pair.better.text}")
        object.__setattr__(pair.worse, "text", f"{number} {pair.worse.text}")
    recipe = joint_recipe(folder.parent / "led", epochs=0.02, held_out=0.2, comments=False)
    train_joint(recipe, data, out=tmp_path, device="cpu", report=lambda line: None)
    points = read_joint_config(tmp_path).percentiles
    assert points is not None
    assert len(points) == 101
    assert list(points) == sorted(points)
    [reading] = Storyer(weights=str(tmp_path)).read([Story("1", BETTER[0])])
    assert 0 <= reading.values[1] <= 100


def test_it_writes_comments_that_hang_on_the_seed_and_the_aspect(folder):
    writer = open_writer(folder)
    assert len(ASPECT_WORDS) == 10
    prompt = comment_input(BETTER[0], "ending")
    assert prompt == f"ending <sep> {tag_newlines(BETTER[0])}"
    [one] = writer.generate([prompt], max_tokens=12, seed=1)
    assert open_writer(folder).generate([prompt], max_tokens=12, seed=1) == [one]
    others = {writer.generate([prompt], seed=seed)[0] for seed in range(6)}
    assert len(others) > 1
    state = torch.random.get_rng_state()
    greedy = writer.generate([prompt, prompt], max_tokens=12, temperature=0.0)
    assert greedy[0] == greedy[1]
    assert torch.equal(state, torch.random.get_rng_state())
    sign = greedy[0][:1]
    assert writer.generate([prompt], max_tokens=12, temperature=0.0, stop=[sign]) == [""]


def test_comments_on_several_prompts_are_not_drawn_alike(folder):
    writer = open_writer(folder)
    # They differ after what is read alone, so that chance is all that can tell them apart.
    prompts = [comment_input("The cat sat. " * 60 + end, "ending") for end in BETTER]
    comments = writer.generate(prompts, max_tokens=12, seed=1)
    assert len({*comments}) > 1
    assert [writer.generate([one], max_tokens=12, seed=1)[0] for one in prompts] == comments


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short training of a causal model left."""
    place = tmp_path_factory.mktemp("causal")
    recipe = joint_recipe(save_llama(place / "llama"), epochs=3.0)
    train_joint(recipe, made_up_data(), out=place / "out", device="cpu", report=lambda line: None)
    return place / "out"


def test_a_causal_models_heads_are_those_on_transformers_last_state(causal):
    from safetensors.torch import load_file
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    net = LlamaForCausalLM.from_pretrained(causal).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(causal)
    end = tokenizer.eos_token_id
    ids = [end, *tokenizer(tag_newlines(BETTER[0]))["input_ids"][:46], end]
    with torch.inference_mode():
        last = net.model(torch.tensor([ids])).last_hidden_state[0, -1]
    heads = load_file(causal / "heads.safetensors")
    logit = float(last @ heads["head.preference.weight"][0] + heads["head.preference.bias"][0])
    reader = load_reader(str(causal))
    assert reader.source.lengths(BETTER[:1]) == [len(ids) - 2]
    [[value]] = reader.values(["preference"], BETTER[:1])
    assert value == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-5)
    assert np.isnan(reader.outputs([""])[0]["preference"]).all()


def test_a_causal_model_is_scored_with_and_writes_by_its_folder(causal):
    stories = [Story(str(number), text) for number, text in enumerate(TEXTS)]
    assert all(0 < one.values[0] < 1 for one in Storyer(weights=str(causal)).read(stories))
    assert all(1 <= value <= 5 for one in Aspects(weights=str(causal)).read(stories)
               for value in one.values)  # fmt: skip
    writer = open_writer(causal)
    prompt = comment_input(BETTER[0], "ending")
    said = [writer.generate([prompt], max_tokens=8, seed=seed)[0] for seed in (1, 1, 2)]
    assert said[0] == said[1] != said[2]
    # What is written is no part of what was read.
    assert not said[0].startswith("ending")
    greedy, [row] = (
        writer.generate([prompt], max_tokens=4, temperature=0.0)[0],
        (writer.network.tokenise_rows([prompt], 48)),
    )
    with torch.inference_mode():
        first = int(writer.network.net(torch.tensor([row])).logits[0, -1].argmax())
    assert greedy.startswith(writer.network.tokenizer.decode([first]).strip())


def test_the_likelihood_of_a_causal_models_comment_counts_its_end(causal):
    writer = open_writer(causal)
    [logs] = writer.comment_logs([comment_input(BETTER[0], "ending")], ["a dog on a mat"])
    assert len(logs) == len(writer.network.tokenise("a dog on a mat")) + 1
    assert (logs < 0).all()
    # More than fits after the story is left out.
    prompt = comment_input(BETTER[0], "ending")
    [row] = writer.network.tokenise_rows([prompt], 48)
    [cut] = writer.comment_logs([prompt], ["a dog on a mat " * 20])
    assert len(cut) == 64 - len(row)


def test_a_folder_that_is_damaged_says_what_is_wrong(folder, tmp_path):
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    about = json.loads((place / FILE).read_text())
    for change, named in (
        ({"max_tokens": "x"}, "max_tokens"),
        ({"heads": ["order"]}, "heads"),
        ({"percentiles": [1.0]}, "101"),
        ({"layout": "plain"}, "reads the ends of lines"),
        ({"layout": "as it is"}, "layout"),
    ):
        (place / FILE).write_text(json.dumps(about | change))
        with pytest.raises(InputError, match=named):
            load_reader(str(place))
    (place / FILE).write_text(json.dumps(about))
    (place / "heads.safetensors").unlink()
    with pytest.raises(InputError, match=r"heads\.safetensors cannot be read"):
        load_reader(str(place))
    with pytest.raises(InputError, match="no joint training"):
        read_joint_config(tmp_path)


def test_a_review_takes_its_comments_from_the_folder(folder, tmp_path):
    from click.testing import CliRunner

    from fabula.cli import cli

    tale = tmp_path / "tale.txt"
    tale.write_text("The old cat sat by the red door. It rained. The cat was sad, then it smiled.")
    asked = ["review", str(tale), "-f", "json", "--no-cache", "-q", "--weights", "fake"]
    asked += ["--order", "fake", "--comments", "written", "--writer", str(folder)]
    done = CliRunner().invoke(cli, asked, catch_exceptions=False)
    said = [one for one in json.loads(done.stdout)["aspects"] if one["comment"]]
    # Three steps teach no English: what it says does not pass, and comments are composed.
    assert said and {one["by"] for one in said} == {"composed"}
    done = CliRunner().invoke(cli, [*asked[:-1], str(tmp_path)])
    assert isinstance(done.exception, InputError)


def test_rows_of_like_length_pass_together_and_states_are_those_of_each_alone(causal, monkeypatch):
    import torch

    from fabula.learned.joint import backbone

    network = backbone.open_trained(causal, torch.device("cpu"))
    rows = [[1, *range(3, 3 + size)] for size in (9, 2, 20, 14)]
    comments = [[4, 5, 6], [7], [], [8, 9]]
    alone = [network.net.base_model(input_ids=torch.tensor([row])).last_hidden_state[0, -1]
             for row in rows]  # fmt: skip
    said = [network.net(input_ids=torch.tensor([row + more])).logits[0, len(row) - 1 :]
            for row, more in zip(rows, comments, strict=True)]  # fmt: skip
    monkeypatch.setattr(backbone, "_WORTH_A_PASS", 20)
    assert backbone._group_by_length([len(row) for row in rows]) == [[2], [3, 0], [1]]
    assert torch.allclose(network.text_states(rows), torch.stack(alone), atol=1e-5)
    for head in (network._word_head, None):
        network.__dict__["_word_head"] = head
        logits = network.comment_logits(rows, comments)
        for row, wanted, more in zip(logits, said, comments, strict=True):
            assert torch.allclose(row[: len(more)], wanted[: len(more)], atol=1e-5)
