from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, UnknownName
from fabula.core.story import Story
from fabula.meta.compare import compare
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.pairing import pair_runs
from fakes.runs import make_record, write_record

MakeRun = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> MakeRun:
    """Makes a run of some metrics over stories, of which only what differs is given."""

    def make(name: str, *rows: dict[str, Any], specs: str = "words") -> Path:
        stories = [
            Story(**{"id": str(number), "text": "One." + " Two." * number} | row)
            for number, row in enumerate(rows, 1)
        ]
        evaluate(stories, specs).save(tmp_path / name)
        write_record(tmp_path / name, make_record(choose_metrics(specs), len(stories)))
        return tmp_path / name

    return make


def items(folders: list[Path]) -> dict[str, list[str | None]]:
    paired = pair_runs(folders)
    return {
        system: [story.item for story in paired.table.stories if story.system == system]
        for system in paired.systems
    }


def test_runs_of_nameless_systems_are_called_after_their_folders_and_matched_by_id(
    make: MakeRun,
) -> None:
    runs = [make("one", {}, {}, {}), make("two", {}, {}, {"id": "9"})]
    assert items(runs) == {"one": ["1", "2", "3"], "two": ["1", "2", "9"]}
    paired = pair_runs(runs)
    assert paired.remarks == [
        "stories are matched by id: 2 items of all systems; not matched: 1 of one, 1 of two"
    ]
    found = compare(paired.table, "one", "two", directions={"words": "descriptive"})
    assert found.shared == 2 and found.lines[0].left_out == 2


def test_ids_that_are_numbers_of_rows_do_not_match_other_prompts(make: MakeRun) -> None:
    one = make("one", *({"prompt": prompt} for prompt in "xyz"))
    two = make("two", *({"prompt": prompt} for prompt in "zyx"))
    assert items([one, two]) == {"one": ["x", "y", "z"], "two": ["z", "y", "x"]}
    assert pair_runs([one, two]).remarks[0].startswith("stories are matched by prompt: 3 items")


def test_items_match_where_ids_do_not(make: MakeRun) -> None:
    one = make("one", *({"id": f"a{n}", "item": n, "system": "a"} for n in "12"))
    two = make("two", *({"id": f"b{n}", "item": n, "system": "b"} for n in "21"))
    assert items([one, two]) == {"a": ["1", "2"], "b": ["2", "1"]}


def test_references_match_where_nothing_else_does(make: MakeRun) -> None:
    one = make("one", *({"id": f"a{n}", "references": (n,)} for n in "12"))
    two = make("two", *({"id": f"b{n}", "references": (n,)} for n in "123"))
    assert items([one, two]) == {"one": ["1", "2"], "two": ["1", "2", "3"]}


def test_what_cannot_be_matched_is_a_line(make: MakeRun) -> None:
    with pytest.raises(InputError, match="cannot be matched by id, item, prompt or reference"):
        pair_runs([make("one", {"id": "a"}, {"id": "b"}), make("two", {"id": "c"}, {"id": "d"})])


def test_systems_called_alike_are_told_apart_by_their_runs(make: MakeRun) -> None:
    one = make("one", *({"system": "gpt"} for _ in "12"))
    two = make("two", *({"system": "gpt"} for _ in "12"))
    assert pair_runs([one, two]).systems == {"one": "gpt", "two": "gpt"}
    rows = [{"system": system, "item": n} for system in ("gpt", "human") for n in "12"]
    three, four = make("three", *rows), make("deep/three", *rows)
    paired = pair_runs([three, four])
    parent = three.parent.name
    assert list(paired.systems) == [
        f"{folder}/three/{system}" for folder in (parent, "deep") for system in ("gpt", "human")
    ]
    assert paired.choose_systems(["human"]) == [f"{parent}/three/human", "deep/three/human"]


def test_metrics_that_a_run_lacks_or_has_otherwise_are_left_out_and_said(make: MakeRun) -> None:
    one, two = (
        make("one", {}, {}, specs="words,chrf,type_token_ratio"),
        make("two", {}, {}, specs="words,type_token_ratio"),
    )
    record = json.loads((two / "run.json").read_text())
    record["question"]["metrics"][1] += "|rev:9"
    record["metrics"][1]["signature"] = "type_token_ratio|rev:9"
    (two / "run.json").write_text(json.dumps(record))
    paired = pair_runs([one, two])
    assert [metric["spec"] for metric in paired.metrics] == ["words"]
    assert paired.table.scorers == ["words"]
    assert paired.remarks[1] == "left out, for not every run has it: chrf"
    assert paired.remarks[2].startswith("left out, for the runs differ in it: type_token_ratio|")
    assert paired.remarks[2].endswith(" and type_token_ratio|rev:9")


def test_runs_without_a_metric_in_common_are_refused(make: MakeRun) -> None:
    with pytest.raises(InputError, match=r"the runs share no metric; left out, .*words, chrf"):
        pair_runs([make("one", {}, {}), make("two", {}, {}, specs="chrf")])


def test_a_run_given_twice_is_refused(make: MakeRun) -> None:
    one = make("one", {}, {})
    with pytest.raises(InputError, match="given twice"):
        pair_runs([one, one / ".." / "one"])


def test_a_run_alone_is_matched_by_prompt_where_it_has_no_items(make: MakeRun) -> None:
    rows = [{"system": system, "prompt": prompt} for system in "ab" for prompt in "xy"]
    assert items([make("one", *rows)]) == {"a": ["x", "y"], "b": ["x", "y"]}
    rows = [row | {"item": row["prompt"] * 2} for row in rows]
    assert items([make("two", *rows)]) == {"a": ["xx", "yy"], "b": ["xx", "yy"]}


def test_of_two_systems_none_need_be_named_and_of_three_two_must(make: MakeRun) -> None:
    two = pair_runs([make("two", *({"system": s, "item": "1"} for s in "ab"))])
    assert two.choose_systems([]) == ["a", "b"]
    assert two.choose_systems(["b", "a"]) == ["b", "a"]
    three = pair_runs([make("three", *({"system": s, "item": "1"} for s in "abc"))])
    with pytest.raises(InputError, match="3 systems to compare: a, b, c; name two"):
        three.choose_systems([])
    with pytest.raises(InputError, match="'a' is one system"):
        three.choose_systems(["a"])
    with pytest.raises(UnknownName, match="'d'"):
        three.choose_systems(["a", "d"])


def test_a_run_that_was_altered_is_refused(make: MakeRun) -> None:
    one, two = make("one", {}, {}), make("two", {}, {})
    (two / "scores.jsonl").write_text((two / "scores.jsonl").read_text().replace("3.0", "9.0"))
    with pytest.raises(InputError, match=r"two/scores\.jsonl was altered"):
        pair_runs([one, two])
