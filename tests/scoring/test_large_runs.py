"""Large runs compared and held against gold where they lie: the numbers of runs held in memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.meta.compare import Procedure, compare_several
from fabula.meta.study import Study
from fabula.scoring import large_dataset
from fabula.scoring.evaluate import add_baselines
from fabula.scoring.large_dataset import LazyScores
from fabula.scoring.large_pairing import LargePairs, open_pairs
from fabula.scoring.pairing import ItemPage, PairedRuns
from fabula.scoring.sources import DatasetSource
from fakes.large_runs import make_rows, take_for_large, write_in_parts, write_scored

HOW = Procedure(resamples=500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("large")
    return write_in_parts(write_scored(home / "run", make_rows(20)), home / "parts")


def both(folders: list[Path], monkeypatch: pytest.MonkeyPatch, ask) -> tuple:
    """Ask the same of runs that are held in memory and of runs that are not."""
    with open_pairs(folders) as paired:
        assert isinstance(paired, PairedRuns)
        held = ask(paired)
    with monkeypatch.context() as patch:
        take_for_large(patch)
        with open_pairs(folders) as paired:
            assert isinstance(paired, LargePairs)
            return held, ask(paired)


def compare_all(paired: PairedRuns | LargePairs) -> tuple:
    first, *others = paired.systems
    directions = {entry["spec"]: entry["direction"] for entry in paired.metrics}
    source = paired.select({scorer for scorer, _ in paired.keys})
    compared = compare_several(source, first, others, directions=directions, procedure=HOW)
    lines = [json.dumps(row) for comparison in compared for row in comparison.rows()]
    return paired.systems, paired.remarks, [c.shared for c in compared], lines


def test_systems_of_a_run_compare_alike_to_the_last_bit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, lazy = both([folder], monkeypatch, compare_all)
    assert held == lazy
    assert held[2] == [20, 20] and len(held[3]) == 12


def strip(rows: list[dict], *names: str) -> list[dict]:
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


@pytest.mark.parametrize(
    ("dropped", "matched"),
    [
        (("system",), "id"),
        (("system", "id"), "item"),
        (("system", "item"), "prompt"),
        (("system", "item", "prompt"), "reference"),
    ],
)
def test_runs_are_matched_by_the_same_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dropped: tuple[str, ...], matched: str
) -> None:
    rows = make_rows(9)
    rows[5]["references"] = ["The pier was cold."]
    own = {system: [row for row in rows if row["system"] == system] for system in ("ash", "cedar")}
    for place, row in enumerate(own["cedar"]):
        row["references"] = own["ash"][place]["references"]
    if matched == "id":
        for place, row in enumerate(own["cedar"]):
            row["id"] = own["ash"][place]["id"]
    own["cedar"].reverse()
    del own["cedar"][3]
    folders = [
        write_scored(tmp_path / name, strip(own[name], *dropped), "words, mattr") for name in own
    ]
    held, lazy = both(folders, monkeypatch, compare_all)
    assert held == lazy
    assert held[1][0].startswith(f"stories are matched by {matched}: 8 items")


def test_runs_that_share_nothing_are_refused_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_rows(3)
    halves = [strip(rows[:4], "item", "prompt", "references"),
              strip(rows[5:], "item", "prompt", "references")]  # fmt: skip
    folders = [write_scored(tmp_path / str(n), half, "words") for n, half in enumerate(halves)]
    take_for_large(monkeypatch)
    refused = pytest.raises(InputError, match="cannot be matched by id, item, prompt")
    with refused, open_pairs(folders):
        pass


def test_two_stories_of_a_system_for_one_item_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_rows(4)
    rows[3]["item"] = rows[0]["item"]
    folder = write_scored(tmp_path / "run", rows, "words")
    take_for_large(monkeypatch)
    with open_pairs([folder]) as paired, pytest.raises(InputError, match="two stories for item"):
        compare_all(paired)


@pytest.mark.parametrize("order", ["first", "second", "close", "item"])
def test_items_come_in_the_same_order_page_by_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    def ask(paired: PairedRuns | LargePairs) -> list:
        page = ItemPage(order, offset=5, step=6, sign=-1.0)
        count, pairs = paired.page_items(("ash", "cedar"), ("rouge(n=1)", "f"), page)
        return [count, *(repr(asdict(pair)) for pair in pairs)]

    held, lazy = both([folder], monkeypatch, ask)
    assert held == lazy and held[0] == 20 and len(held) == 7


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    lines = [
        f"{system}-{item},{(7 * item + 3 * place) % 5 + 1}"
        for item in range(20)
        for place, system in enumerate(("ash", "birch", "cedar"))
    ]
    path.write_text("\n".join(["story,overall", *lines, ""]), encoding="utf-8")
    return path


def run_study(folder: Path, gold: str, **columns: str) -> list[str]:
    dataset = add_baselines(DatasetSource(str(folder), gold=gold, columns=columns).load())
    result = Study(resamples=50).run(dataset)
    return [repr(line) for line in result.correlations]


def test_a_run_all_of_whose_stories_are_rated_gives_the_same_figures(
    folder: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = run_study(folder, str(gold))
    take_for_large(monkeypatch)
    assert run_study(folder, str(gold)) == held
    assert len(held) > 60


def test_very_many_rated_stories_are_not_held(
    folder: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> tuple[object, list[str]]:
        dataset = DatasetSource(str(folder), gold=str(gold)).load()
        return dataset.scores, [
            repr(line) for line in Study(resamples=50).run(dataset).correlations
        ]

    _, held = ask()
    take_for_large(monkeypatch)
    monkeypatch.setattr(large_dataset, "MOST_STORIES", 1)
    scores, lazy = ask()
    assert isinstance(scores, LazyScores) and len(scores) == len(list(scores)) == 360
    assert lazy == held


def test_of_a_large_run_only_what_is_rated_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.csv"
    path.write_text("story,overall\nash-1,3\nbirch-1,2\nash-2,5\nbirch-2,1\n", encoding="utf-8")
    take_for_large(monkeypatch)
    dataset = DatasetSource(str(folder), gold=str(path)).load()
    assert [story.id for story in dataset.stories] == ["ash-1", "birch-1", "ash-2", "birch-2"]
    assert len(dataset.scores) == 4 * 6 and len(dataset.ratings) == 4
    path.write_text("story,overall\nash-1,3\nnobody,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"story ids that are not in.*'nobody'"):
        DatasetSource(str(folder), gold=str(path)).load()
    path.write_text("story,overall\nnobody,2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"none of the 60 stories.*ids there are like 'ash-0'"):
        DatasetSource(str(folder), gold=str(path)).load()


def test_choices_name_stories_of_a_large_run_by_id_or_text(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = make_rows(20)[3]["text"]
    path = tmp_path / "choices.csv"
    path.write_text(f"better,worse\nash-2,birch-2\n{text},cedar-5\n", encoding="utf-8")
    held = DatasetSource(str(folder), gold=str(path)).load()
    take_for_large(monkeypatch)
    lazy = DatasetSource(str(folder), gold=str(path)).load()
    assert lazy.preferences == held.preferences and lazy.preferences[1].better == "ash-1"
    assert {story.id for story in lazy.stories} == {"ash-1", "ash-2", "birch-2", "cedar-5"}
