"""Judges as teachers: what they may teach, and what a reader's recipe becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader.config import CRITERIA
from fabula.learned.training.recipe import ReaderRecipe, find_recipe, read_recipe
from fabula.scoring.catalogue import METRICS
from fabula.scoring.teachers import add_teacher, find_teacher, list_criteria
from fakes.judged_runs import JUDGE, certify, write_judged_run
from fakes.runs import write_run
from fakes.tiny_tasks import tiny_recipe


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_judged_run(tmp_path / "run")


def recipe() -> ReaderRecipe:
    return read_recipe(ReaderRecipe, find_recipe("criteria"))


def test_a_judge_teaches_what_its_certificate_says_it_is_good_at(run):
    certify({"coherence": "beyond baselines", "surprise": "no better", "empathy": "worse"})
    found = find_teacher(run, CRITERIA)
    assert (found.judge, found.aspects, found.stories) == (JUDGE, ("coherence",), 16)
    assert found.signature == METRICS.build(JUDGE).identity
    assert found.verdicts == {"coherence": "beyond baselines (toy)"}
    assert found.left_out["surprise"] == "no better (toy)"
    assert found.left_out["empathy"] == "worse (toy)"
    assert found.left_out["complexity"] == "no certificate"
    assert found.plain()["left_out"] == found.left_out


def test_a_judge_without_a_certificate_is_refused_unless_one_says_so(run):
    with pytest.raises(InputError, match="nothing to teach: relevance: no certificate") as told:
        find_teacher(run, CRITERIA)
    assert "--uncertified" in told.value.remedy
    found = find_teacher(run, CRITERIA, uncertified=True)
    assert found.aspects == CRITERIA
    assert found.uncertified
    assert set(found.verdicts.values()) == {"no certificate"}


def test_a_certificate_of_another_signature_is_that_of_another_judge(run):
    certify({"coherence": "beyond baselines"}, signature="judge|prompt:an older one")
    with pytest.raises(InputError, match="coherence: no certificate"):
        find_teacher(run, CRITERIA)


def test_a_judge_that_is_worse_on_one_gold_does_not_teach_by_another(run):
    certify({"coherence": "beyond baselines", "empathy": "beyond baselines"})
    certify({"coherence": "worse", "empathy": "no better"}, gold="elsewhere")
    assert find_teacher(run, CRITERIA).aspects == ("empathy",)


def test_criteria_without_values_and_those_the_reader_does_not_know_are_left_out(tmp_path):
    run = write_judged_run(tmp_path / "run", with_prompt=False)
    found = find_teacher(run, ["relevance", "coherence"], uncertified=True)
    assert found.aspects == ("coherence",)
    assert found.left_out["relevance"] == "the run has no value of it"
    assert found.left_out["empathy"] == "the reader has no such criterion"
    few = write_judged_run(tmp_path / "few", count=3)
    with pytest.raises(InputError, match="has 3 values of it, and 10 are") as told:
        find_teacher(few, ["coherence"], uncertified=True)
    assert told.value.remedy.startswith("score more stories")


def test_of_several_judges_one_must_be_named(tmp_path):
    other = "judge(model='fake', reason=True)"
    run = write_judged_run(tmp_path / "run", JUDGE, other)
    with pytest.raises(SettingError, match=r"holds 2 judges: .*; choose with --judge"):
        find_teacher(run, CRITERIA, uncertified=True)
    assert find_teacher(run, CRITERIA, judge=other, uncertified=True).judge == other
    with pytest.raises(InputError, match="holds no scores of judge_checklist"):
        find_teacher(run, CRITERIA, judge="judge_checklist", uncertified=True)


def test_a_run_without_a_judge_and_what_is_no_run_are_refused(tmp_path):
    with pytest.raises(InputError, match="holds no scores of a judge"):
        find_teacher(write_run(tmp_path / "plain"), CRITERIA)
    with pytest.raises(InputError, match="is no run folder"):
        find_teacher(tmp_path, CRITERIA)


def test_the_judge_has_a_head_of_its_own_and_as_many_examples_as_people(run):
    certify({"coherence": "beyond baselines"})
    plain = recipe()
    assert tuple(list_criteria(plain)) == CRITERIA
    taught = add_teacher(plain, find_teacher(run, CRITERIA), share=0.2)
    task = taught.tasks["judge"]
    assert (task.kind, task.head, task.aspects) == ("ratings", "judge", ("coherence",))
    assert (task.scorer, task.data) == (JUDGE, (str(run),))
    assert [(group.tasks, group.rows) for group in taught.stages[0].groups] == [
        (("criteria",), 32),
        (("judge",), 32),
    ]
    assert taught.domain == ("hanna", str(run))
    scale = taught.scales["criteria.coherence"]
    assert scale.terms == pytest.approx({"criteria.coherence": 0.44, "judge.coherence": 0.11})
    assert (scale.to, scale.also) == (("criteria.coherence",), ("judge.coherence",))
    others = {name: one for name, one in taught.scales.items() if name != "criteria.coherence"}
    assert others.items() <= plain.scales.items()


def test_a_recipe_that_has_a_judge_or_learns_from_nobody_is_refused(run):
    teacher = find_teacher(run, CRITERIA, uncertified=True)
    taught = add_teacher(recipe(), teacher, share=0.5)
    with pytest.raises(SettingError, match="has a task or head 'judge'"):
        add_teacher(taught, teacher, share=0.5)
    stages = [{"rate": 1, "steps": 1, "groups": [{"tasks": ["labels"], "rows": 1}]}]
    with pytest.raises(SettingError, match="learns from no ratings"):
        add_teacher(tiny_recipe(stages=stages), teacher, share=0.5)
