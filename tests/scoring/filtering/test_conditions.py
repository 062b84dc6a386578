"""Conditions on scores: what they mean, what is missing, and what they never do."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, UnknownName, UserError
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.filtering.conditions import parse_conditions
from fabula.scoring.filtering.steps import FilterPlan, filter_run
from fabula.scoring.lazy_run import LazyRun, open_lazily
from fakes.large_runs import make_rows, write_in_parts, write_scored

KEYS = [
    ("words", ""), ("rouge(n=2)", "recall"), ("rouge(n=2)", "f"), ("rouge", "f"),
    ("criteria", "coherence"), ("criteria", "empathy"), ("distinct(n=3)", ""),
    ("mine.own(x=1)", "y"),
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    home = tmp_path_factory.mktemp("conditions")
    folder = write_in_parts(write_scored(home / "run", make_rows()), home / "parts")
    with open_lazily(folder) as opened:
        yield opened


def keep(run: LazyRun, text: str, missing: str = "drop") -> set[int]:
    return set(filter_run(run, FilterPlan(keep=text, missing=missing)).places.tolist())


def column(run: LazyRun, name: str) -> np.ndarray:
    return run.values(ColumnNames(run.keys).find(name))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("words", KEYS[0]),
        ("Words", KEYS[0]),
        ("rouge(n=2).f", KEYS[2]),
        ("rouge( n = 2 ).f", KEYS[2]),
        ("rouge(n=2) f", KEYS[2]),
        ("ROUGE-2 F1", KEYS[2]),
        ("rouge(n='L')", KEYS[3]),
        ('rouge(n="L").f', KEYS[3]),
        ("criteria.empathy", KEYS[5]),
        ("distinct", KEYS[6]),
        ("mine.own(x=1).y", KEYS[7]),
    ],
)
def test_a_column_has_the_names_that_tables_give_it(name: str, key: tuple[str, str]) -> None:
    assert KEYS[ColumnNames(KEYS).find(name)] == key


def test_a_misspelt_column_is_told_the_nearest(run: LazyRun) -> None:
    with pytest.raises(UnknownName, match=r"no column 'rouge\(n=1\)\.ff'.*did you mean.*\.f'"):
        keep(run, "rouge(n=1).ff > 1")
    with pytest.raises(InputError, match=r"may be several columns: rouge\(n=2\)\.recall, rouge"):
        ColumnNames(KEYS).find("rouge(n=2)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("words > 25", lambda v: v["words"] > 25),
        ("25 < words <= 30", lambda v: 25 < v["words"] <= 30),
        ("not words > 25", lambda v: not v["words"] > 25),
        ("words / 2 - 1 >= 12.5", lambda v: v["words"] / 2 - 1 >= 12.5),
        ("-words < -28 or mattr == 1", lambda v: -v["words"] < -28 or v["mattr"] == 1),
        ("words * mattr != 20 and mattr < +.9",
         lambda v: v["words"] * v["mattr"] != 20 and v["mattr"] < 0.9),
        ("(words > 25) and (mattr > 0.5 or repetition < 0.1)",
         lambda v: v["words"] > 25 and (v["mattr"] > 0.5 or v["repetition"] < 0.1)),
    ],
)  # fmt: skip
def test_conditions_mean_what_they_mean_in_python(run: LazyRun, text: str, expected) -> None:
    names = ("words", "mattr", "repetition")
    values = {name: column(run, name) for name in names}
    wanted = {
        place
        for place in range(run.count)
        if not any(math.isnan(values[name][place]) for name in names)
        and expected({name: values[name][place] for name in names})
    }
    there = {p for p in range(run.count) if not any(np.isnan(values[n][p]) for n in names)}
    assert keep(run, text) & there == wanted
    assert 0 < len(wanted) < run.count


def test_systems_items_and_ids_are_texts(run: LazyRun) -> None:
    stories = run.read_stories(range(run.count))
    birch = {place for place, story in enumerate(stories) if story.system == "birch"}
    assert keep(run, "system == 'birch'") == birch
    assert keep(run, "system in ('ash', \"cedar\")") == set(range(run.count)) - birch
    assert keep(run, "system not in ['ash', 'cedar'] and item != 'item 3'") < birch
    assert keep(run, "id == 'ash-2'") == {6}
    assert keep(run, 'item == "\'; DROP TABLE stories; --"') == set()
    assert run.query("SELECT count(*) FROM stories").fetchall() == [(36,)]


def test_a_quoted_name_is_a_column_beside_numbers(run: LazyRun) -> None:
    assert keep(run, "'ROUGE-1 F1' > 0.4") == keep(run, "rouge(n=1).f > 0.4") != set()


def test_what_is_missing_is_undecided_and_never_kept_in_silence(run: LazyRun) -> None:
    missing = set(np.flatnonzero(np.isnan(column(run, "rouge(n=1).f"))).tolist())
    assert missing == {4, 5}  # no text, no reference
    dropped = filter_run(run, FilterPlan(keep="rouge(n=1).f > 0.4"))
    [step] = dropped.steps
    assert step.no_value == 2 and not missing & set(dropped.places.tolist())
    assert step.after + step.no_value + step.details["false"] == step.before == 36
    # Neither does `not` make something of nothing, and what is decided without it is decided.
    assert not missing & keep(run, "not rouge(n=1).f > 0.4")
    assert missing <= keep(run, "rouge(n=1).f > 0.4", missing="keep")
    assert 5 in keep(run, "rouge(n=1).f > 0.4 or words > 0")
    assert 5 not in keep(run, "rouge(n=1).f > 0.4 and words > 0")
    assert 5 not in keep(run, "rouge(n=1).f > 0.4 and words < 0", missing="keep")


def test_what_is_divided_by_nothing_has_no_value(run: LazyRun) -> None:
    [step] = filter_run(run, FilterPlan(keep="1 / (words - words) > 0")).steps
    assert step.after == 0 and step.no_value == 36


@pytest.mark.parametrize(
    "text",
    [
        "", "words", "words >", "words > 'x' > 2 3", "words > words > True", "3", "'words'",
        "words if words else words", "words ** 2 > 3", "words[0] > 3", "lambda: 1",
        "f'{words}' > 3",
        "(words := 3) > 2", "words > 1j", "words > 1e999", "words > 10 ** 400", "words is None",
        "words > None", "system > 3", "system == words", "words in (1, 2)", "system in ()",
        "words > 3; words < 9", "import os", "await words", "words > ...", "~words > 3",
        "system in 'ash'", "not 3 > 'nobody'", "not system", "a" * 20_000,
        "(" * 300 + "1" + ")" * 300,
        "not " * 200 + "words > 1", "[words for words in words] > 3", "words > '\x00'",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(run: LazyRun, text: str) -> None:
    with pytest.raises(UserError):
        parse_conditions(text, ColumnNames(run.keys))


def test_nothing_of_a_condition_is_executed(run: LazyRun, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for text in (
        f"__import__('os').mkdir({str(trap)!r}) > 3",
        f"words > open({str(trap)!r}, 'w').write('x')",
        f"().__class__.__base__.__subclasses__() > {str(trap)!r}",
        "words > (SELECT 1)",
        f"'words > 1 OR (COPY stories TO {trap})' > 3",
    ):
        with pytest.raises(UserError):
            keep(run, text)
    assert not trap.exists()


def test_conditions_that_and_joins_are_counted_one_by_one(run: LazyRun) -> None:
    filtered = filter_run(run, FilterPlan(keep="words > 22 and (mattr > 0.5 and words < 30)"))
    texts = [step.details["condition"] for step in filtered.steps]
    assert texts == ["words > 22", "mattr > 0.5", "words < 30"]
    assert [step.before for step in filtered.steps[1:]] == [s.after for s in filtered.steps[:-1]]
    assert filtered.steps[-1].after == len(filtered.places)
