"""Classifiers of comments on an encoder: trained once, kept whole, read again."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fabula.cli.comments import command
from fabula.core.errors import InputError, SettingError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.augmentation import LabelledComment
from fabula.learned.training.comment_reader import cross_validate_readers, open_comment_reader
from fabula.learned.training.recipe import ReaderRecipe, find_recipe, read_recipe
from fakes.tiny_models import save_albert, save_bert
from fakes.trained_reader import kill_at, same

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

ABOUT = {"ending": "sea sailor winter", "funny": "cat dog mat"}
SAID = {5: "light", 1: "old"}


def comment(number: int) -> LabelledComment:
    """Make a comment up: its aspect has words of its own, and so has its rating."""
    rng = random.Random(number)
    aspect, rating = rng.choice(list(ABOUT)), rng.choice(list(SAID))
    words = [*rng.choices(ABOUT[aspect].split(), k=8), *[SAID[rating]] * 8]
    rng.shuffle(words)
    return LabelledComment(f"s{number}", aspect, float(rating), " ".join(words))


KNOWN = [comment(number) for number in range(48)]
UNSEEN = [comment(number) for number in range(100, 130)]
TEXTS = [one.text for one in UNSEEN]


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe that comes with Fabula, at a rate for tiny models."""
    path = tmp_path_factory.mktemp("recipe") / "comments.toml"
    text = find_recipe("comments").read_text().replace("rate = 1e-4", "rate = 1e-2")
    path.write_text(f"checkpoint_every = 1\ndropout = 0.0\n{text}")
    return path


def quiet(line: str) -> None:
    return None


@pytest.mark.parametrize("save", [save_bert, save_albert])
def test_they_learn_and_are_read_from_a_folder_that_was_moved(save, recipe, tmp_path):
    start, out = save(tmp_path / "start"), tmp_path / "out"
    how = {"recipe": recipe, "seed": 1, "device": "cpu", "report": quiet}
    first = open_comment_reader(out, KNOWN, encoder=str(start), **how)
    shutil.rmtree(start)
    moved = Path(shutil.move(out, tmp_path / "moved"))
    again = open_comment_reader(moved, [], **how)
    chances = again.classify(TEXTS)
    assert chances == first.classify(TEXTS)
    assert again.rate(TEXTS) == first.rate(TEXTS)
    assert all(math.isclose(sum(one.values()), 1) and set(one) == set(ASPECTS) for one in chances)
    guessed = [max(one, key=one.__getitem__) for one in chances]
    assert np.mean([guess == one.aspect for guess, one in zip(guessed, UNSEEN, strict=True)]) > 0.8
    rated = zip(again.rate(TEXTS), UNSEEN, strict=True)
    assert np.mean([rating == one.rating for rating, one in rated]) > 0.8


def test_a_stopped_training_goes_on_and_another_encoder_is_refused(recipe, tmp_path, monkeypatch):
    start = save_albert(tmp_path / "start")
    how = {"encoder": str(start), "recipe": recipe, "seed": 1, "device": "cpu", "report": quiet}
    open_comment_reader(tmp_path / "whole", KNOWN, **how)
    kill_at(monkeypatch, 7)
    with pytest.raises(KeyboardInterrupt):
        open_comment_reader(tmp_path / "parts", KNOWN, **how)
    monkeypatch.undo()
    open_comment_reader(tmp_path / "parts", KNOWN, **how)
    assert same(tmp_path / "whole", tmp_path / "parts")
    with pytest.raises(SettingError, match="on the encoder 'start', not on 'roberta-large'; leave"):
        open_comment_reader(tmp_path / "whole", KNOWN, **how | {"encoder": "roberta-large"})
    (tmp_path / "whole" / "reader.json").unlink()
    with pytest.raises(InputError, match="holds another training; name another folder"):
        open_comment_reader(tmp_path / "whole", KNOWN, **how)


def test_every_comment_is_told_by_readers_that_saw_none_of_its_story(recipe, tmp_path):
    start = save_bert(tmp_path / "start")
    # Two comments a story: the second is another's word for word.
    known = [*KNOWN, *(replace(one, story=KNOWN[n - 1].story) for n, one in enumerate(KNOWN[:12]))]
    how: dict[str, Any] = {"recipe": recipe, "seed": 1, "device": "cpu", "folds": 3}
    lines: list[str] = []
    found = cross_validate_readers(
        known, encoder=str(start), **how, seeds=2, out=tmp_path / "out", report=lines.append
    )
    for task, told in found.items():
        assert told.gold == tuple(str(getattr(one, task)).removesuffix(".0") for one in known)
        assert len(told.probabilities) == len(known)
        assert all(sum(one.values()) == pytest.approx(1) for one in told.probabilities)
        assert told.accuracy() > 0.8
    assert any("seed 2, fold 3 of 3" in line for line in lines)
    lines.clear()
    again = cross_validate_readers(
        known, encoder=str(start), **how, seeds=2, out=tmp_path / "out", report=lines.append
    )
    assert again == found and not any("fold" in line for line in lines)
    with pytest.raises(SettingError, match="99 folds of 48 stories"):
        cross_validate_readers(known, encoder=str(start), **how | {"folds": 99}, report=quiet)


def test_a_label_that_the_recipe_does_not_know_is_named(recipe, tmp_path):
    start = save_bert(tmp_path / "start")
    odd = [*KNOWN, LabelledComment("s", "layout", 3.0, "the old mat")]
    with pytest.raises(InputError, match=r"a comment has the aspect 'layout'.*it knows: opening"):
        open_comment_reader(tmp_path / "out", odd, encoder=str(start), recipe=recipe, report=quiet)


def test_the_recipe_knows_storyers_aspects():
    tasks = read_recipe(ReaderRecipe, find_recipe("comments")).tasks
    assert tasks["aspect"].aspects == ASPECTS
    assert tasks["rating"].aspects == ("1", "2", "3", "4", "5")


def test_the_command_trains_them_once_and_labels_comments_by_them(tmp_path):
    start = save_albert(tmp_path / "start")
    rows = [
        {
            "story": f"Tale {number}.", "score": 1, "prompt": "",
            "comments": [
                [ASPECTS.index(one.aspect) + 1, one.rating, one.text], *[[-1, -1, None]] * 4,
            ],
        }
        for number, one in enumerate(KNOWN)
    ]  # fmt: skip
    (tmp_path / "rated.json").write_text(json.dumps(rows))
    lines = "".join(f"A cat sat.,{text}\n" for text in TEXTS)
    (tmp_path / "comments.csv").write_text(f"text,comment\n{lines}")
    asked = ["augment", str(tmp_path / "comments.csv"), "--learn", str(tmp_path / "rated.json")]
    asked += ["-o", str(tmp_path / "more.json"), "--sure", "0"]
    with pytest.raises(SettingError, match="say --weights FOLDER"):
        CliRunner().invoke(command, [*asked, "--encoder", str(start)], catch_exceptions=False)
    asked += ["--weights", str(tmp_path / "kept")]
    first = CliRunner().invoke(command, [*asked, "--encoder", str(start)], catch_exceptions=False)
    assert first.stdout == f"{tmp_path / 'more.json'}\n" and "loss" in first.stderr
    assert "30 of 30 comments kept; left out: none" in first.stderr
    labelled = (tmp_path / "more.json").read_text()
    again = CliRunner().invoke(command, asked, catch_exceptions=False)
    assert "loss" not in again.stderr
    assert (tmp_path / "more.json").read_text() == labelled
