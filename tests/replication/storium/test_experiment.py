"""STORIUM's experiment from figures of trainings: every value by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError, UnknownName
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.training.author_figures import AuthorFigures, EntryLosses
from fabula.meta.resampling import Estimate
from fabula.replication.analyses import read_analyses, run_analyses
from fabula.replication.findings import StudyFinding
from fabula.replication.storium.experiment import PRINTED, Experiment, RatedMachines
from fabula.replication.storium.study import StoriumStudy, open_experiment
from fabula.studio.database import open_studio
from fabula.studio.export import export_studio
from fabula.studio.migrations import migrate
from fakes.studio_content import fill_studio

REPO = Path(__file__).resolve().parents[3]
GAMES = 12
# Nats a token by packing and history.
NATS = {("none", 0): 3.0, ("none", 1): 2.8, ("cassowary", 0): 2.9, ("cassowary", 1): 2.5}


def make_losses(nats: float, *, cut: bool = False) -> EntryLosses:
    """Two entries a game, of 10 and 20 tokens; games are harder and easier in turn."""
    games = [f"g{number}" for number in range(GAMES) for _ in range(2)]
    tokens = [10, 20] * GAMES
    harder = [0.1 * (-1) ** int(game[1:]) for game in games]
    losses = [size * (nats + more) for size, more in zip(tokens, harder, strict=True)]
    whole = [not (cut and row == 0) for row in range(len(games))]
    entries = [str(2 + row % 2) for row in range(len(games))]
    return EntryLosses(tuple(games), tuple(entries), tuple(tokens), tuple(losses), tuple(whole))


def make_figures(packing: str, history: int, seed: int = 1) -> AuthorFigures:
    nats = NATS[packing, history] + 0.01 * (seed - 2)
    return AuthorFigures(
        packing, history, 1024, seed, "entry", "tokens", "tiny",
        before={"test": make_losses(5.0)}, parts={"test": make_losses(nats)},
    )  # fmt: skip


def write_all(folder: Path, seeds: int = 3) -> Path:
    for packing, history in NATS:
        for seed in range(1, seeds + 1):
            figures = make_figures(packing, history, seed)
            figures.save(folder / f"{packing}-{history}-{seed}" / "figures.json")
    (folder / "training.json").write_text('{"recipe": {"packing": "none"}}')
    return folder


def run(*paths: Path, ratings: RatedMachines | None = None) -> dict[str, StudyFinding]:
    study = StoriumStudy("T", ratings=ratings or RatedMachines())
    experiment = Experiment(paths, resamples=200)
    return {finding.analysis: finding for finding in run_analyses(study, experiment)}


def cell(finding: StudyFinding, row: str, column: str) -> Any:
    (table,) = finding.tables
    (found,) = [each for each in table.rows if each[0] == row]
    return found[list(table.columns).index(column)]


def test_perplexity_is_that_of_the_mean_loss_with_games_drawn_again(tmp_path: Path) -> None:
    found = run(write_all(tmp_path))["perplexity"]
    for (packing, history), nats in NATS.items():
        value = cell(found, f"{packing}, history {history}", "perplexity")
        # Seeds lie 0.01 above and below, games 0.1.
        assert value.value == pytest.approx(math.exp(nats))
        assert math.exp(nats - 0.1) < value.low < value.value < value.high < math.exp(nats + 0.1)
        assert value.n == GAMES
    assert cell(found, "none, history 0", "by seed") == "19.89, 20.09, 20.29"
    assert cell(found, "none, history 0", "untrained") == pytest.approx(math.exp(5))
    assert cell(found, "cassowary, history 1", "printed") == 21.0
    assert [row[0] for row in found.tables[0].rows] == [
        "none, history 0", "none, history 1", "cassowary, history 0", "cassowary, history 1",
    ]  # fmt: skip


def test_changes_are_paired_by_game_and_leave_nothing_of_what_games_share(tmp_path: Path) -> None:
    found = run(write_all(tmp_path, seeds=1))["effects"]
    # exp of the difference of the nats, in per cent; all games say the same.
    expected = {
        "cassowary over none, history 0": -0.1,
        "cassowary over none, history 1": -0.3,
        "history 1 over 0, none": -0.2,
        "history 1 over 0, cassowary": -0.4,
        "both over neither": -0.5,
        "both, beyond each alone": -0.2,
    }
    assert [row[0] for row in found.tables[0].rows] == list(expected)
    for name, nats in expected.items():
        change = cell(found, name, "per cent")
        percent = 100 * (math.exp(nats) - 1)
        assert (change.value, change.low, change.high) == pytest.approx((percent,) * 3)
        assert cell(found, name, "shown") == "better"


def test_every_seed_tells_the_changes_by_itself(tmp_path: Path) -> None:
    """Where seeds differ, the reader sees it: the interval holds games and no trainings."""
    write_all(tmp_path, seeds=2)
    lucky = make_figures("cassowary", 1, 2)
    # 2.3 nats where the seed before has 2.49 and the other variants differ by .01 from theirs.
    replace(lucky, parts={"test": make_losses(2.3)}).save(
        tmp_path / "cassowary-1-2" / "figures.json"
    )
    make_figures("none", 0, 3).save(tmp_path / "none-0-3" / "figures.json")
    found = run(tmp_path)["effects"]
    seeds = [f"{100 * (math.exp(nats) - 1):.1f}".replace("-", "−") for nats in (-0.5, -0.7)]
    assert cell(found, "both over neither", "by seed") == ", ".join(seeds)
    other = f"{100 * (math.exp(-0.1) - 1):.1f}".replace("-", "−")
    assert cell(found, "cassowary over none, history 0", "by seed") == f"{other}, {other}"


# Nats a token by which tokens are learned from and where marks are kept.
LEARNED = {
    ("story", "own"): 2.5,
    ("all", "own"): 2.6,
    ("story", "tokens"): 2.4,
    ("all", "tokens"): 2.7,
}


def test_ways_of_learning_are_compared_where_trainings_differ_in_them(tmp_path: Path) -> None:
    for (loss, segments), nats in LEARNED.items():
        figures = make_figures("cassowary", 1)
        figures = replace(figures, loss=loss, segments=segments)
        figures = replace(figures, parts={"test": make_losses(nats)})
        figures.save(tmp_path / f"{loss}-{segments}" / "figures.json")
    found = run(tmp_path)
    assert [row[0] for row in found["perplexity"].tables[0].rows] == [
        "cassowary, history 1, loss of the entry, marks in a table of their own",
        "cassowary, history 1, loss of the entry, marks among the tokens",
        "cassowary, history 1, loss of all tokens, marks in a table of their own",
        "cassowary, history 1, loss of all tokens, marks among the tokens",
    ]
    assert "loss of" not in found["perplexity"].words[0]
    assert "printed" not in found["perplexity"].tables[0].columns  # the paper did not vary these
    all_over, among_over = (
        "loss of all tokens over loss of the entry",
        "marks among the tokens over",
    )
    expected = {
        f"{all_over}, marks in a table of their own": 0.1,
        f"{all_over}, marks among the tokens": 0.3,
        f"{among_over} marks in a table of their own, loss of the entry": -0.1,
        f"{among_over} marks in a table of their own, loss of all tokens": 0.1,
        "both as released over neither": 0.2,
    }
    assert [row[0] for row in found["effects"].tables[0].rows] == list(expected)
    for name, nats in expected.items():
        change = cell(found["effects"], name, "per cent")
        assert change.value == pytest.approx(100 * (math.exp(nats) - 1))
        assert cell(found["effects"], name, "shown") == ("better" if nats < 0 else "worse")


def test_packing_is_compared_within_each_way_of_learning(tmp_path: Path) -> None:
    for packing, history in (("none", 1), ("cassowary", 1)):
        for loss in ("story", "all"):
            figures = replace(make_figures(packing, history), loss=loss)
            figures.save(tmp_path / f"{packing}-{loss}.json")
    names = [row[0] for row in run(tmp_path)["effects"].tables[0].rows]
    among = "marks among the tokens"
    assert names == [
        f"cassowary over none, history 1, loss of the entry, {among}",
        f"cassowary over none, history 1, loss of all tokens, {among}",
        f"loss of all tokens over loss of the entry, {among}, none, history 1",
        f"loss of all tokens over loss of the entry, {among}, cassowary, history 1",
    ]


def test_what_games_do_not_agree_on_is_no_difference(tmp_path: Path) -> None:
    even = make_losses(3.0)
    # Better in half of the games, worse in the others.
    swayed = replace(even, losses=tuple(3.0 * size for size in even.tokens))
    for name, losses in (("none", even), ("greedy", swayed)):
        figures = AuthorFigures(name, 0, 64, 1, "all", "own", "tiny", parts={"test": losses})
        figures.save(tmp_path / f"{name}.json")
    found = run(tmp_path)
    assert cell(found["effects"], "greedy over none, history 0", "shown") == "no difference"
    assert cell(found["perplexity"], "none, history 0", "untrained") is None


def test_variants_are_compared_on_entries_that_all_showed_whole(tmp_path: Path) -> None:
    cut = make_figures("none", 0)
    cut = replace(cut, parts={"test": make_losses(3.0, cut=True)})
    cut.save(tmp_path / "cut.json")
    make_figures("none", 1).save(tmp_path / "whole.json")
    found = run(tmp_path)["perplexity"]
    assert cell(found, "none, history 0", "shown whole") == "23 of 24"
    assert "23 entries of 12 games" in found.words[0]
    # So are seeds and the untrained model, also of a variant that showed the other one whole: 350
    # of 360 tokens are left, without ten that are harder by .1.
    assert cell(found, "none, history 1", "shown whole") == "24 of 24"
    seed = math.exp(2.79 - 1 / 350)
    assert cell(found, "none, history 1", "perplexity").value == pytest.approx(seed)
    assert cell(found, "none, history 1", "by seed") == f"{seed:.2f}" != f"{math.exp(2.79):.2f}"
    untrained = cell(found, "none, history 1", "untrained")
    assert untrained == pytest.approx(math.exp(5 - 1 / 350))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"model": "huge", "seed": 2}, "has model 'tiny'"), ({}, "are both none, history 0, seed 1")],
    ids=["model", "twice"],
)
def test_figures_of_two_experiments_are_refused(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    one = make_figures("none", 0)
    one.save(tmp_path / "a.json")
    replace(one, **changes).save(tmp_path / "b.json")
    found = run(tmp_path)
    assert words in found["perplexity"].needs and words in found["effects"].needs
    assert not found["printed"].needs


def test_without_figures_it_is_said_what_to_do(tmp_path: Path) -> None:
    assert "fabula train author --format storium" in run(tmp_path)["perplexity"].needs
    assert "is not there" in run(tmp_path / "no")["perplexity"].needs
    assert "--data" in run()["perplexity"].needs
    (tmp_path / "odd.json").write_text('{"packing": 1, "history": "x", "parts": []}')
    assert "odd.json" in run(tmp_path)["perplexity"].needs


def test_ratings_of_a_studio_are_means_by_variant_with_n(tmp_path: Path) -> None:
    stories = [
        Story(f"{name}{number}", "text", system=name, item=f"game{number}:1")
        for name in ("packed", "plain")
        for number in range(6)
    ]
    scores = [
        Score(story.id, rater, "fluency", value)
        for story in stories
        for rater, value in (("human:a", 4.0 if story.system == "packed" else 2.0), ("human:b", 3))
    ]
    scores += [Score("packed0", "user", "fluency", 9.0)]
    ScoreTable(stories, scores).save(tmp_path / "export")
    machines = {"packed": "cassowary, history 1", "plain": "none, history 0"}
    found = run(ratings=RatedMachines(str(tmp_path / "export"), machines))["ratings"]
    fluency = cell(found, "cassowary, history 1", "fluency")
    assert (fluency.value, fluency.low, fluency.high, fluency.n) == (3.5, 3.5, 3.5, 6)
    assert cell(found, "none, history 0", "fluency").value == 2.5
    assert cell(found, "none, history 0", "n") == 6
    assert cell(found, "none, history 0, printed", "fluency") == 3.4
    assert cell(found, "cassowary, history 1, printed", "n") == 85
    coherence = cell(found, "none, history 0", "coherence")
    assert isinstance(coherence, Estimate) and math.isnan(coherence.value)
    wrong = run(ratings=RatedMachines(str(tmp_path / "export"), {"packt": "none, history 0"}))
    assert "no machine is called 'packt'" in wrong["ratings"].needs
    assert "set export" in run()["ratings"].needs


def test_table_4_is_as_printed() -> None:
    assert {key: row.perplexity for key, row in PRINTED.items()} == {
        (False, False): 25.1, (False, True): 22.4, (True, False): 22.9, (True, True): 21.0,
    }  # fmt: skip
    assert sum(row.n for row in PRINTED.values()) == 314
    found = run()["printed"]
    assert cell(found, "packing, history", "relevance") == 2.7


def test_the_file_that_comes_with_fabula_is_read_and_data_stand_in_for_its_figures(
    tmp_path: Path,
) -> None:
    file = REPO / "studies" / "storium.toml"
    study = read_analyses(StoriumStudy, file)
    assert study.analyses == ("trainings", "perplexity", "effects", "ratings", "printed")
    assert open_experiment(study, file, data=tmp_path).paths == (tmp_path,)
    own = tmp_path / "own.toml"
    own.write_text('kind = "storium"\ntitle = "T"\nfigures = ["runs"]\n')
    read = read_analyses(StoriumStudy, own)
    assert open_experiment(read, own).paths == (tmp_path / "runs",)
    own.write_text('kind = "storium"\ntitle = "T"\npert = "test"\n')
    with pytest.raises(SettingError, match="pert"):
        read_analyses(StoriumStudy, own)
    own.write_text('kind = "storium"\ntitle = "T"\nanalyses = ["perplexities"]\n')
    with pytest.raises(UnknownName, match="perplexities"):
        read_analyses(StoriumStudy, own)


def test_a_part_that_was_not_measured_is_named(tmp_path: Path) -> None:
    make_figures("none", 0).save(tmp_path / "figures.json")
    experiment = Experiment((tmp_path,), part="validation")
    with pytest.raises(InputError, match="no losses of the part 'validation'"):
        experiment.losses  # noqa: B018


def test_a_studio_exports_what_the_study_reads(tmp_path: Path) -> None:
    studio = open_studio(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    migrate(studio)
    filled = fill_studio(studio, suggestions=8)
    export_studio(studio, filled.reader, tmp_path / "export")
    studio.close()
    rows = {
        name: json.loads((tmp_path / "export" / f"{name}.json").read_text())
        for name in ("suggestions", "ratings")
    }
    own = {row["suggestion"] for row in rows["suggestions"] if row["machine"] == "lorem"}
    fluency = [
        row["value"]
        for row in rows["ratings"]
        if row["aspect"] == "fluency" and row["suggestion"] in own
    ]
    found = run(ratings=RatedMachines(str(tmp_path / "export"), {"lorem": "none, history 0"}))
    told = cell(found["ratings"], "none, history 0", "fluency")
    # One game: a mean, and no interval.
    assert told.value == pytest.approx(sum(fluency) / len(fluency)) and math.isnan(told.low)
    assert cell(found["ratings"], "none, history 0", "n") == len(fluency) > 3
