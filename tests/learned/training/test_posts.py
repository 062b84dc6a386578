from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.posts import Period, Post, read_posts


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"votes": "12"}, "votes are '12'"),
        ({"votes": float("nan")}, "nan"),
        ({"text": None}, "text"),
    ],
)
def test_a_post_with_a_wrong_field_is_refused_by_name(fields, problem):
    with pytest.raises(InputError, match=f"post 'a': .*{problem}"):
        Post(**({"id": "a", "prompt": "p", "text": "t", "votes": 1} | fields))


def test_a_table_of_posts_is_read_by_its_usual_names(tmp_path):
    file = tmp_path / "posts.csv"
    file.write_text('id,prompt_id,text,score\na,7,"It rained,\nall day.",12\nb,7,It snowed.,-1\n')
    assert read_posts(file) == [
        Post("a", "7", "It rained,\nall day.", 12.0),
        Post("b", "7", "It snowed.", -1.0),
    ]


def test_columns_of_other_names_are_named(tmp_path):
    file = tmp_path / "posts.jsonl"
    file.write_text('{"name": "a", "thread": 7.0, "body": "It rained.", "points": 3}\n')
    columns = {"id": "name", "text": "body", "votes": "points", "prompt": "thread"}
    assert read_posts(file, columns=columns) == [Post("a", "7", "It rained.", 3.0)]


@pytest.mark.parametrize("columns", ["story", "text"])
def test_posts_without_ids_are_called_by_the_numbers_of_their_rows(tmp_path, columns):
    file = tmp_path / "posts.csv"
    file.write_text(f"prompt,{columns},votes,model\n7,It rained.,12,a\n7,It snowed.,-1,a\n")
    assert read_posts(file) == [
        Post("1", "7", "It rained.", 12.0),
        Post("2", "7", "It snowed.", -1.0),
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("a,7,It rained.,many", r"line 2, column 'votes': 'many' is no number"),
        ("a,7,It rained.,", r"line 2, column 'votes': the cell is empty"),
        ("a,,It rained.,1", r"line 2, column 'prompt': the cell is empty"),
        (",7,It rained.,1", r"line 2: no story id"),
        ("a,7,,1\nb,7,It snowed.,1", r"line 2, column 'text': the cell is empty"),
        ("a,7,It rained.,1\na,7,It snowed.,1", r"line 3: id 'a' was used before"),
    ],
)
def test_a_fault_in_a_table_names_row_and_field(tmp_path, rows, problem):
    file = tmp_path / "posts.csv"
    file.write_text(f"id,prompt,text,votes\n{rows}\n")
    with pytest.raises(InputError, match=problem):
        read_posts(file)


def test_a_table_without_votes_is_refused(tmp_path):
    file = tmp_path / "posts.csv"
    file.write_text("id,prompt,text\na,7,It rained.\n")
    with pytest.raises(InputError, match="votes are not all among the columns id, prompt, text"):
        read_posts(file)
    with pytest.raises(InputError, match="no column 'point'"):
        read_posts(file, columns={"votes": "point"})


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("2020-03-01", datetime(2020, 3, 1, tzinfo=UTC)),
        ("2020-03-01T12:30:00+00:00", datetime(2020, 3, 1, 12, 30, tzinfo=UTC)),
        ("1583020800", datetime(2020, 3, 1, tzinfo=UTC)),
        ("1583020800000", datetime(2020, 3, 1, tzinfo=UTC)),
        ("False", None),
        ("", None),
    ],
)
def test_dates_are_read_as_people_and_as_forums_write_them(tmp_path, cell, wanted):
    file = tmp_path / "posts.csv"
    file.write_text(f"id,prompt,text,votes,edited\na,7,It rained.,1,{cell}\nb,7,It hailed.,1,\n")
    assert read_posts(file)[0].updated == wanted


def test_what_is_no_date_is_named(tmp_path):
    file = tmp_path / "posts.csv"
    file.write_text("id,prompt,text,votes,created\na,7,It rained.,1,lately\n")
    with pytest.raises(InputError, match="line 2, column 'created': 'lately' is no date"):
        read_posts(file)


def test_a_period_leaves_out_what_is_late_was_updated_in_between_or_has_no_date():
    day = datetime(2020, 3, 1, tzinfo=UTC)
    winter = datetime(2019, 12, 1, tzinfo=UTC)
    posts = [
        Post("old", "p", "t", 1, written=winter),
        Post("late", "p", "t", 1, written=day),
        Post("touched", "p", "t", 1, written=datetime(2018, 1, 1, tzinfo=UTC), updated=winter),
        Post("undated", "p", "t", 1),
    ]
    chosen, left_out = Period(before=day, not_updated=(winter, day)).choose(posts)
    assert [post.id for post in chosen] == ["old"]
    assert left_out == {"too late": 1, "updated in between": 1, "without a date": 1}
    assert len(Period().choose(posts)[0]) == 4
    with pytest.raises(SettingError, match="nothing is between"):
        Period(not_updated=(day, winter))
