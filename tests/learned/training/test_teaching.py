"""A reader that teaches another: what its heads say of texts is what is learned."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader.inference import load_reader
from fabula.learned.training.examples import example_set
from fabula.learned.training.recipe import Task
from fabula.learned.training.tasks import _make_taught
from fabula.learned.training.teaching import ask_teacher
from fakes.tiny_tasks import cut, tale, tiny_recipe
from fakes.trained_reader import train

torch = pytest.importorskip("torch")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def teacher(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("taught") / "teacher"
    train(start, out, tiny_recipe())
    return out


def make_task(teacher: Path, *heads: str) -> Task:
    return Task("taught", ("made up",), "taught", aspects=heads, teacher=str(teacher))


def test_what_is_learned_is_what_the_teacher_says_of_the_same_texts(teacher, start):
    texts = [tale(number, sentences=2 + number) for number in range(5)]
    unknown = [[np.nan, np.nan]] * 5
    examples = example_set(
        cut(texts), [[i] for i in range(5)], unknown, items=["x"] * 5, ids=[]
    )  # fmt: skip
    reader = load_reader(str(teacher))
    heads = [name for name, head in reader.config.heads.items() if len(head.outputs) == 1][:2]
    answered = ask_teacher(examples, make_task(teacher, *heads), start, CPU)
    wanted = [[said[head][0] for head in heads] for said in reader.outputs(texts)]
    np.testing.assert_allclose(answered.targets, wanted, rtol=1e-4, atol=1e-5)


def test_pieces_have_the_teachers_numbers(teacher, start, tmp_path):
    """The pupil numbers its pieces otherwise: the teacher reads the same words."""
    texts = [tale(3), tale(4)]
    folder = tmp_path / "pupil"
    folder.mkdir()
    plain = json.loads((start / "tokenizer.json").read_text())
    plain["model"]["vocab"] = {
        piece: number + 7 * (number > 1000) for piece, number in plain["model"]["vocab"].items()
    }
    (folder / "tokenizer.json").write_text(json.dumps(plain))
    moved = [[number + 7 * (number > 1000) for number in text] for text in cut(texts)]
    head = next(iter(load_reader(str(teacher)).config.heads))
    task, how = make_task(teacher, head), {"items": ["x"] * 2, "ids": []}
    rows, unknown = [[0], [1]], [[np.nan]] * 2
    here = ask_teacher(example_set(cut(texts), rows, unknown, **how), task, start, CPU)
    there = ask_teacher(example_set(moved, rows, unknown, **how), task, folder, CPU)
    np.testing.assert_array_equal(here.targets, there.targets)


def test_a_teacher_must_have_the_heads_and_know_the_pieces(teacher, start, tmp_path):
    examples = example_set(cut([tale(1)]), [[0]], [[np.nan]], items=["x"], ids=[])
    with pytest.raises(SettingError, match="has no head 'nothing'"):
        ask_teacher(examples, make_task(teacher, "nothing"), start, CPU)
    folder = tmp_path / "pupil"
    folder.mkdir()
    plain = json.loads((start / "tokenizer.json").read_text())
    plain["model"]["vocab"]["xylophone"] = 1099
    (folder / "tokenizer.json").write_text(json.dumps(plain))
    head = next(iter(load_reader(str(teacher)).config.heads))
    with pytest.raises(InputError, match="does not know the word piece 'xylophone' "):
        ask_teacher(examples, make_task(teacher, head), folder, CPU)


def test_stories_are_taught_as_they_are_corrupted_and_spoiled(teacher):
    stories = [["The old king rode home.", "A dog sang.", f"The cat sang {n}."] for n in "abcd"]
    made = _make_taught(make_task(teacher, "one", "two"), stories, cut=cut, seed=1)
    assert len(made) == 3 * len(stories)
    assert made.targets.shape == (12, 2)
    assert np.isnan(made.targets).all()
    assert made.items[0] == made.items[4] == made.items[8] == "story:0"
    whole, _, spoiled = (made.text(number) for number in (0, 4, 8))
    assert whole != spoiled


def test_a_task_that_is_taught_names_its_teacher():
    recipe = tiny_recipe()
    task = Task("taught", ("rocstories",), "taught", aspects=("manplts",))
    with pytest.raises(SettingError, match="needs a teacher"):
        replace(recipe, tasks={**recipe.tasks, "taught": task})
