from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets.tables.choices import open_choices
from fabula.datasets.tables.text_file import FileForm

Write = Callable[[str, "str | bytes"], Path]
IDS = {"s1", "s2", "s3", "7"}


def find(name: str) -> str | None:
    return name if name in IDS else None


def read(path: Path, columns: dict[str, str] | None = None, **form: object) -> list[Preference]:
    choices = open_choices(path, columns or {}, FileForm(**form))  # type: ignore[arg-type]
    assert choices is not None
    return list(choices.read(find))


def test_a_row_names_the_better_and_the_worse_story(write: Write) -> None:
    path = write("p.csv", "better,worse,rater,aspect,tie\ns1,s2,ann,plot,no\ns3,s1,bob,plot,yes\n")
    assert read(path) == [
        Preference("s1", "s2", "ann", "plot"),
        Preference("s3", "s1", "bob", "plot", is_tie=True),
    ]


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("left", Preference("s1", "s2")),
        ("B", Preference("s2", "s1")),
        ("2", Preference("s2", "s1")),
        ("s2", Preference("s2", "s1")),
        ("Tie", Preference("s1", "s2", is_tie=True)),
    ],
)
def test_a_row_names_two_stories_and_which_was_chosen(
    write: Write, choice: str, wanted: Preference
) -> None:
    assert read(write("p.csv", f"story_a,story_b,winner\ns1,s2,{choice}\n")) == [wanted]


def test_columns_of_other_names_can_be_told(write: Write) -> None:
    path = write("p.csv", "oben,unten\ns1,7\n")
    assert open_choices(path, {}) is None
    assert read(path, {"better": "oben", "worse": "unten"}) == [Preference("s1", "7")]
    with pytest.raises(InputError, match="no column 'obn'"):
        open_choices(path, {"better": "obn"})


def test_a_table_of_ratings_is_none_of_choices(write: Write) -> None:
    assert open_choices(write("r.csv", "id,fun\ns1,3\n"), {}) is None


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("s1,s9,left", "line 2, column 'right': no story 's9' here"),
        ("s1,,left", "line 2, column 'right': empty"),
        ("s1,s1,left", "line 2: story 's1' beside itself"),
        ("s1,s2,perhaps", "line 2, column 'choice': 'perhaps' is no choice"),
    ],
)
def test_a_bad_row_is_named_and_can_be_left_out(write: Write, rows: str, problem: str) -> None:
    path = write("p.csv", f"left,right,choice\n{rows}\ns1,s3,right\n")
    with pytest.raises(InputError, match=problem):
        read(path)
    said: list[str] = []
    assert read(path, skip_bad=True, say=said.append) == [Preference("s3", "s1")]
    assert "1 left out by --skip-bad" in said[0]


def test_a_rater_who_chooses_twice_is_refused_and_rows_without_raters_are_people(
    write: Write,
) -> None:
    twice = "ann,s1,s2\nann,s2,s1\n"
    with pytest.raises(InputError, match="line 3: 'ann' chose between these two before, at"):
        read(write("p.csv", f"rater,better,worse\n{twice}"))
    assert len(read(write("q.csv", "better,worse\ns1,s2\ns1,s2\n"))) == 2
