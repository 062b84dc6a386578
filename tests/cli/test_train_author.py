"""`fabula train author`, from a table to a model that perplexity reads."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from click.testing import CliRunner

from fabula import Story, evaluate
from fabula.authors import load_author
from fabula.cli.train import command
from fabula.core.author import Request, Wanted
from fabula.core.errors import InputError, SettingError
from fabula.text.context.segments import prompt_context
from fakes.tiny_models import save_llama, torch

pytest.importorskip("peft")

RECIPE = """
window = 128
rows = 4
rank = 2
rate = 5e-3
epochs = 2
held_out = 0.2
sources = ["writingprompts"]
left_out = ["hanna"]
"""


@pytest.fixture
def train(tmp_path):
    torch()
    model = save_llama(tmp_path / "llama", positions=256)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    words = "sailor light sea winter night house mat dog cat home".split()
    lines = [
        {"prompt": f"Number {n}.", "story": f"The {a} saw {b} and {c} away from the {d}."}
        for n, (a, b, c, d) in enumerate(list(permutations(words, 4))[::250])
    ]
    table = tmp_path / "mine.jsonl"
    table.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def run(*more: str):
        words = ["author", "--data", str(table), "--recipe", str(tmp_path / "recipe.toml")]
        words += ["--model", str(model), "--device", "cpu", "-o", str(tmp_path / "out"), *more]
        return CliRunner().invoke(command, words, catch_exceptions=False)

    return run


def test_a_table_becomes_a_co_author_that_perplexity_reads(train, tmp_path):
    done = train("--rank", "0")
    assert done.exit_code == 0
    assert done.stdout == f"huggingface({str(tmp_path / 'out')!r})\n"
    assert "mine.jsonl: 12 learned from, 6 near duplicate, 3 held out" in done.stderr
    assert "perplexity of held-out stories" in done.stderr
    record = json.loads((tmp_path / "out" / "training.json").read_text(encoding="utf-8"))
    assert record["recipe"]["sources"] == ["mine.jsonl"] and record["recipe"]["left_out"] == []
    assert record["best"]["loss"] < record["before"]["loss"]
    spec = f"perplexity(model={str(tmp_path / 'out')!r})"
    result = evaluate([Story("1", "The old sailor saw a light at sea.")], [spec])
    assert all(score.value > 1 for score in result.scores) and result.scores


def test_a_training_that_is_over_is_not_done_again(train):
    train()
    again = train("--resume")
    assert again.exit_code == 0 and "step" not in again.stderr.splitlines()[0]


@pytest.mark.parametrize("form", ["stories", "storium"])
def test_a_folder_that_is_taken_is_refused_before_anything_is_read(tmp_path, form):
    out = tmp_path / "out"
    out.mkdir()
    (out / "training.json").write_text("{}", encoding="utf-8")
    words = ["author", "--data", str(tmp_path / "nowhere.jsonl"), "--format", form, "-o", str(out)]
    with pytest.raises(InputError, match="holds a training; say --resume"):
        CliRunner().invoke(command, words, catch_exceptions=False)


def test_who_learns_to_plan_is_read_by_plan_and_write(train, tmp_path):
    done = train("--rank", "0", "--plan")
    assert done.exit_code == 0
    assert done.stdout == f"plan_and_write({str(tmp_path / 'out')!r})\n"
    author = load_author(done.stdout.strip())
    author.startup()
    context = prompt_context("Number 3.", story="s")
    *_, last = author.generate([Request("r", context, Wanted("words", count=8))])
    author.shutdown()
    assert last.status == "done"
    record = json.loads((tmp_path / "out" / "training.json").read_text(encoding="utf-8"))
    assert record["recipe"]["plan"] is True


def test_a_table_without_pairs_has_no_liked_side(train):
    with pytest.raises(SettingError, match="has no pairs"):
        train("--on", "liked")
