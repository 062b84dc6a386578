from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.models.asking.journal import (
    Journal,
    clear_journals,
    journal_folder,
    journal_path,
    journal_size,
)
from fabula.models.asking.question import Question, Response, Spot

ANSWER = Response(
    "k",
    "4 – good, \ud83d",
    probabilities={"4": 0.75},
    tokens_in=0,
    tokens_out=7,
    cost=0.25,
    model="m-1",
    spots=(Spot(0, "4", {"4": 0.75}),),
)


def test_an_answer_comes_back_as_it_was_and_says_that_it_is_from_before(tmp_path: Path) -> None:
    Journal(tmp_path / "j.jsonl").add("d1", ANSWER)
    again = Journal(tmp_path / "j.jsonl")
    again.refresh()
    found = again.find("d1")
    assert found is not None
    assert vars(found) == {**vars(ANSWER), "key": "", "is_recalled": True}
    assert again.find("d2") is None
    assert again.mean_written == 7


def test_refusals_and_cut_answers_are_kept_and_failures_are_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.add("a", Response("", status="refused"))
    journal.add("b", Response("", "4", status="cut"))
    journal.add("c", Response("", status="failed", problem="no answer"))
    assert [journal.find(each) is not None for each in "abc"] == [True, True, False]


def test_a_line_that_was_cut_off_is_passed_over_and_hurts_no_other(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    Journal(path).add("a", ANSWER)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    Journal(path).add("b", ANSWER)
    journal = Journal(path)
    journal.refresh()
    assert journal.find("a") and journal.find("b")
    assert len(journal) == 2


def test_what_another_process_adds_is_found_after_a_look(tmp_path: Path) -> None:
    one, other = Journal(tmp_path / "j.jsonl"), Journal(tmp_path / "j.jsonl")
    one.add("a", ANSWER)
    other.add("b", ANSWER)
    assert one.find("b") is None
    one.refresh()
    assert one.find("b") and one.find("a")


def test_batches_are_open_until_they_are_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.add_batch("b1", ("x", "y"))
    journal.add_batch("b2", ("z",))
    journal.end_batch("b1")
    again = Journal(tmp_path / "j.jsonl")
    again.refresh()
    assert again.open_batches == {"b2": ("z",)}


def test_a_journal_is_its_owners_alone_and_named_after_the_model(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    path = journal_path("api,openai,gpt-x", "http://a/v1")
    assert path.name.startswith("api-openai-gpt-x-")
    assert path != journal_path("api,openai,gpt-x", "http://b/v1")
    Journal(path).add("a", ANSWER)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert journal_size() == path.stat().st_size > 0
    assert clear_journals() > 0
    assert journal_size() == 0
    assert list(journal_folder().iterdir()) == []


def test_a_journal_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        Journal(tmp_path / "file" / "j.jsonl").add("a", ANSWER)


def test_a_question_is_known_by_all_that_changes_its_answer_and_not_by_its_key() -> None:
    question = Question("a", "How good?", choices=("1", "2"), schema={"type": "object"})
    same = Question("b", "How good?", choices=("1", "2"), schema={"type": "object"})
    assert question.digest("m") == same.digest("m")
    others = [
        question.digest("n"),
        Question("a", "How good?", choices=("1",), schema={"type": "object"}).digest("m"),
        Question("a", "How good?", "You rate.", choices=("1", "2")).digest("m"),
        Question("a", "How bad?", choices=("1", "2"), schema={"type": "object"}).digest("m"),
    ]
    assert len({question.digest("m"), *others}) == 5
