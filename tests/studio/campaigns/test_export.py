"""An export is what was clicked, with nothing personal, and every command reads it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from fabula.core.errors import InputError, NotAllowed, UserError
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.datasets import load_dataset
from fabula.datasets.hanna import CRITERIA
from fabula.datasets.table import read_table
from fabula.meta.ranking.systems import rank_systems
from fabula.meta.raters.agreement import agree
from fabula.meta.study import Study, read_study
from fabula.scoring.evaluate import add_baselines
from fabula.scoring.sources import DatasetSource
from fabula.studio.campaigns.definition import Checks, Pay, Question
from fabula.studio.campaigns.export import export_campaign
from fabula.studio.campaigns.scorers import add_scorer
from fabula.studio.campaigns.verdicts import exclude_rater, reject_work
from fabula.studio.campaigns.work import read_work
from fakes.campaign_work import (
    make_campaign,
    make_scales,
    make_stories,
    make_work,
    put_work,
    spread,
)
from fakes.studio_people import put_person

ASPECTS = tuple(CRITERIA.values())


@pytest.fixture
def researcher(studio):
    return put_person(studio, "rea", "researcher")


def rate(rater, story, aspect):
    """A rating that depends on all three."""
    return 1 + (7 * rater + 3 * story + aspect * aspect + story * aspect) % 5


def hanna_work(stories=6, raters=3, gap_s=95.4):
    given = spread(
        {
            f"r{r}": {
                f"s{s}": {name: rate(r, s, a) for a, name in enumerate(ASPECTS)}
                for s in range(stories)
            }
            for r in range(1, raters + 1)
        }
    )
    for said in given.values():
        for story, answers in said.items():
            answers["_character"] = {story: "Mara"}
    definition = make_campaign(make_scales(*ASPECTS), Checks(character=True), pay=Pay(0.28))
    return make_work(definition, make_stories(stories), given, gap_s=gap_s)


def pair_work():
    """Two raters compare six pairs; system 1 wins but for one choice and a tie."""
    question = Question("better", "best", "Which?", ties=True)
    definition = make_campaign([question], unit="pair")
    shown = {f"t{i}": [f"s{2 * i}", f"s{2 * i + 1}"] for i in range(6)}
    given = {
        rater: {task: {"better": pair[1]} for task, pair in shown.items()} for rater in ("r1", "r2")
    }
    given["r1"]["t0"] = {"better": "s0"}
    given["r2"]["t5"] = {"better": "tie"}
    return make_work(definition, make_stories(12), given, shown=shown)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_scores_are_what_was_answered_value_for_value(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    done = export_campaign(studio, researcher, "tales", tmp_path)
    table = ScoreTable.load(tmp_path)
    expected = {
        (f"tale-{s}", f"human:r{r}", name): rate(r, s, a)
        for r in (1, 2, 3) for s in range(6) for a, name in enumerate(ASPECTS)
    }  # fmt: skip
    assert {(s.story, s.scorer, s.aspect): s.value for s in table} == expected
    assert done.rows["scores.jsonl"] == len(expected) == done.rows["answers.csv"]
    rows = read_csv(tmp_path / "answers.csv")
    assert {
        (row["story"], f"human:{row['rater']}", row["question"]): float(row["value"])
        for row in rows
    } == expected
    assert {row["gap_s"] for row in rows} == {"95.4"}


def test_nothing_personal_leaves_the_studio(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    work = read_work(studio, researcher, "tales")
    reject_work(studio, researcher, "tales", [work.submitted[0].id], reason="hurried")
    export_campaign(studio, researcher, "tales", tmp_path / "out", form="jsonl")
    for file in (tmp_path / "out").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "crowd-" not in text and researcher.id not in text and '"rea"' not in text
        assert not any(rater in text for rater in work.raters)


def test_rejected_work_is_in_the_rows_marked_and_not_among_the_scores(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    exclude_rater(studio, researcher, "tales", "r2", reason="copies")
    export_campaign(studio, researcher, "tales", tmp_path, form="json")
    assert set(ScoreTable.load(tmp_path).scorers) == {"human:r1", "human:r3"}
    rows = json.loads((tmp_path / "assignments.json").read_text("utf-8"))
    marked = {(row["rater"], row["is_rejected"]) for row in rows}
    assert marked == {("r1", False), ("r2", True), ("r3", False)}
    [verdict] = next(row for row in rows if row["rater"] == "r2")["verdicts"]
    assert (verdict["verdict"], verdict["reason"]) == ("rejected", "copies")
    raters = {row["rater"]: row for row in json.loads((tmp_path / "raters.json").read_text())}
    assert raters["r2"]["is_excluded"] and raters["r2"]["rejected"] == 6
    # 28 cents every 95.4 seconds.
    assert raters["r1"]["hourly_pay"] == pytest.approx(10.57)


def test_flags_stand_beside_what_they_are_about(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work(stories=8, gap_s=1.0))
    export_campaign(studio, researcher, "tales", tmp_path)
    assert {row["flags"] for row in read_csv(tmp_path / "assignments.csv")} == {'["too_fast"]'}
    assert {row["check"] for row in read_csv(tmp_path / "flags.csv")} == {"too_fast", "gaps"}
    assert {row["rater"] for row in read_csv(tmp_path / "flags.csv")} == {"r1", "r2", "r3"}


def test_parquet_and_what_was_asked(studio, researcher, tmp_path):
    from pyarrow import parquet

    put_work(studio, researcher, hanna_work())
    export_campaign(studio, researcher, "tales", tmp_path, form="parquet")
    table = parquet.read_table(tmp_path / "answers.parquet")
    assert table.num_rows == 108 and str(table.schema.field("value").type) == "double"
    asked = json.loads((tmp_path / "campaign.json").read_text("utf-8"))
    assert [question["name"] for question in asked["definition"]["questions"]] == [*ASPECTS]
    assert asked["accepted"] == 18


def test_agree_reads_the_folder_and_knows_who_rated(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    export_campaign(studio, researcher, "tales", tmp_path)
    found = agree(DatasetSource(str(tmp_path)).load(), resamples=20)
    assert found.raters_known and found.aspects == [*ASPECTS]
    assert found.line("empathy", "ICC(2,k)").estimate.n == 6


def test_hannas_own_loader_reads_the_annotations_of_a_campaign(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    export_campaign(studio, researcher, "tales", tmp_path)
    dataset = load_dataset("hanna", tmp_path, partial=True)
    assert dataset.card.raters_known and len(dataset.stories) == 6
    assert {(story.item, story.system) for story in dataset.stories} == {
        (str(item), f"system {system}") for item in range(3) for system in (0, 1)
    }
    values = {(s.story, s.scorer, s.aspect): s.value for s in dataset.ratings}
    assert values == {
        (str(s), f"human:r{r}", name): rate(r, s, a)
        for r in (1, 2, 3) for s in range(6) for a, name in enumerate(ASPECTS)
    }  # fmt: skip
    assert {(one.seconds, one.character) for one in dataset.annotations} == {(95.0, "Mara")}


def test_a_campaign_that_asks_otherwise_has_no_annotations_of_hanna(studio, researcher, tmp_path):
    put_work(studio, researcher, pair_work())
    done = export_campaign(studio, researcher, "tales", tmp_path)
    assert "hanna_stories_annotations.csv" not in done.rows
    assert not (tmp_path / "study.toml").exists()


def test_systems_are_ranked_and_metrics_judged_by_the_choices(studio, researcher, tmp_path):
    """System 1 wins ten of twelve choices, loses one and ties one: 10.5 / 12."""
    put_work(studio, researcher, pair_work())
    done = export_campaign(studio, researcher, "tales", tmp_path)
    assert done.rows["preferences.jsonl"] == 12 and done.rows["scores.jsonl"] == 0
    dataset = DatasetSource(str(tmp_path)).load()
    ranked = rank_systems(dataset, by="win_rate", aspects=("better",))
    assert [line.system for line in ranked.lines] == ["system 1", "system 0"]
    assert ranked.lines[0].estimate.value == pytest.approx(10.5 / 12)
    add_scorer(studio, researcher, "tales", [
        Score(f"tale-{i}", "liker", value=float(i % 2)) for i in range(12)
    ])  # fmt: skip
    export_campaign(studio, researcher, "tales", tmp_path)
    study = Study(resamples=20).run(DatasetSource(str(tmp_path)).load())
    [found] = study.of(metric="liker", coefficient="accuracy")
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(10 / 11), 11)


def test_choices_of_more_than_two_are_categories_for_agree(studio, researcher, tmp_path):
    """Three raters call three stories human or machine's, and differ on the last."""
    question = Question("source", "choice", "Who?", choices=("human", "machine", "unsure"))
    told = {"r1": "hmu", "r2": "hmm", "r3": "hmh"}
    full = {"h": "human", "m": "machine", "u": "unsure"}
    given = {
        rater: {f"s{i}": {"source": full[letter]} for i, letter in enumerate(letters)}
        for rater, letters in told.items()
    }
    work = make_work(make_campaign([question]), make_stories(3), spread(given))
    put_work(studio, researcher, work)
    done = export_campaign(studio, researcher, "tales", tmp_path)
    assert done.rows["categories.csv"] == 9
    found = agree(read_table(tmp_path / "categories.csv"), level="nominal", resamples=20)
    # Observed: 1, 1 and 0 of the pairs; shares 4/9, 4/9 and 1/9.
    observed, chance = 2 / 3, (16 + 16 + 1) / 81
    expected = (observed - chance) / (1 - chance)
    assert found.line("source", "Fleiss kappa").estimate.value == pytest.approx(expected)
    assert set(ScoreTable.load(tmp_path).means()) == {
        f"human:r{r}.source={choice}" for r in (1, 2, 3) for choice in full.values()
    }


def test_the_study_file_holds_metrics_against_the_raters(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    export_campaign(studio, researcher, "tales", tmp_path)
    file = read_study(tmp_path / "study.toml")
    assert (file.title, file.report, file.study.aspects) == ("Tales", "report", ASPECTS)
    assert file.dataset == str(tmp_path / ".") and "rouge(n=1).recall" in file.metrics
    dataset = add_baselines(DatasetSource(file.dataset).load())
    study = replace(file.study, resamples=20, levels=("pooled",), coefficients=("spearman",))
    assert len(study.run(dataset).of(metric="words")) == 6


def test_a_scorer_stands_beside_the_raters_and_is_no_person(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    scores = [Score(f"tale-{i}", "judge:robot", "empathy", float(i)) for i in range(6)]
    assert add_scorer(studio, researcher, "tales", scores) == {"judge:robot": 6}
    missing = Score("tale-5", "judge:robot", "empathy", status="failed", note="no answer")
    assert add_scorer(studio, researcher, "tales", [*scores[:5], missing]) == {"judge:robot": 6}
    export_campaign(studio, researcher, "tales", tmp_path)
    dataset = DatasetSource(str(tmp_path)).load()
    assert dataset.scores.scorers == ["judge:robot"]
    assert [str(score.status) for score in dataset.scores] == ["ok"] * 5 + ["failed"]
    assert agree(dataset, resamples=20).line("empathy", "alpha").raters == 3
    asked = json.loads((tmp_path / "campaign.json").read_text("utf-8"))
    assert asked["scorers"] == ["judge:robot"]


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (Score("tale-0", "human:eve", value=1.0), "would be a person"),
        (Score("tale-9", "robot", value=1.0), "has no story 'tale-9'"),
        (Score("tale-1", "robot", value=1.0), "scores story 'tale-1' twice"),
    ],
)
def test_a_score_that_will_not_do_stops_them_all(studio, researcher, score, message):
    put_work(studio, researcher, hanna_work())
    good = Score("tale-1", "robot", value=2.0)
    with pytest.raises(InputError, match=message):
        add_scorer(studio, researcher, "tales", [good, score])
    assert read_work(studio, researcher, "tales").scores == ()


def test_only_researchers_export_and_files_of_others_are_kept(studio, researcher, tmp_path):
    put_work(studio, researcher, hanna_work())
    with pytest.raises(NotAllowed):
        export_campaign(studio, put_person(studio, "ann"), "tales", tmp_path / "out")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "raters.csv").write_text("mine")
    with pytest.raises(UserError, match="not by Fabula"):
        export_campaign(studio, researcher, "tales", folder)
    assert [path.name for path in folder.iterdir()] == ["raters.csv"]
    export_campaign(studio, researcher, "tales", folder, overwrite=True)
    export_campaign(studio, researcher, "tales", folder)
