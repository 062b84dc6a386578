from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.score import Status
from fabula.core.table import COLUMNS, ScoreTable
from fakes.factories import make_score, make_story

STORIES = [
    make_story("one", id="a1", item="1", system="A"),
    make_story("two", id="b1", item="1", system="B"),
    make_story("three", id="a2", item="2", system="A"),
]
LOST = make_score("b1", status=Status.TOO_LONG, coverage=0.0, note='too "long", really\nyes')
TABLE = ScoreTable(STORIES, [make_score("a1", value=0.5), LOST, make_score("a2", value=2.0)])


def test_a_table_knows_its_stories_scorers_and_size():
    assert TABLE.stories == STORIES
    assert TABLE.scorers == ["toy"]
    assert len(TABLE) == len(list(TABLE)) == 3


def test_a_look_at_a_table_shows_its_means():
    assert repr(TABLE).splitlines() == [
        "ScoreTable: 3 stories, 2 systems, 1 scorer, 3 scores (1 missing); means",
        "     A     B",
        "toy  1.25  nan",
    ]
    assert repr(ScoreTable()) == "ScoreTable: empty"
    assert TABLE.means() == {"toy": 1.25} == TABLE.means("A")
    assert math.isnan(TABLE.means("B")["toy"])


def test_a_notebook_and_a_terminal_show_names_and_run_nothing():
    story = make_story("one", id="a", system="<script>\x1b[2J")
    table = ScoreTable([story], [make_score("a", value=0.5)])
    assert "&lt;script&gt;" in table._repr_html_() and "<script>" not in table._repr_html_()
    assert "\x1b" not in repr(table)


def test_a_look_at_many_systems_and_scorers_stays_small():
    stories = [make_story("one", id=str(i), system=f"s{i}") for i in range(7)]
    scores = [make_score(str(i), f"m{j}", value=1.0) for i in range(7) for j in range(40)]
    lines = repr(ScoreTable(stories, scores)).splitlines()
    assert len(lines) == 1 + 30 + 1 and lines[-1] == "… 10 more in means()"


def test_tables_add_up_and_shared_stories_are_there_once():
    other = ScoreTable(STORIES[:1], [make_score("a1", "human:x", 4.0, aspect="coherence")])
    both = TABLE + other
    assert both.stories == STORIES
    assert both.scorers == ["toy", "human:x"]
    assert len(both) == 4
    assert len(TABLE) == 3


def test_two_stories_cannot_share_an_id():
    with pytest.raises(InputError, match="two stories share the id 'a1'"):
        TABLE + ScoreTable([make_story("another text", id="a1")])


@pytest.mark.parametrize("wrong", [5, None, "run", ["text"]])
def test_what_is_no_story_and_no_folder_is_refused(wrong):
    with pytest.raises(InputError, match="a table is made of stories and scores"):
        ScoreTable(wrong)
    if not isinstance(wrong, str):
        with pytest.raises(InputError, match="is no folder; pass the path of a run"):
            ScoreTable.load(wrong)


def test_the_same_story_may_come_twice():
    assert ScoreTable([STORIES[0], STORIES[0]]).stories == [STORIES[0]]


def test_a_score_about_no_story_is_refused():
    with pytest.raises(InputError, match="'nobody', which is not a story here"):
        ScoreTable(STORIES, [make_score("nobody")])


def test_a_part_can_be_taken_by_scorer_and_aspect():
    scores = [make_score("a1", "x", aspect="f"), make_score("a1", "x", aspect="recall")]
    table = ScoreTable(STORIES, [*scores, make_score("a1", "y")])
    assert list(table.of("x")) == scores
    assert list(table.of("x", "recall")) == scores[1:]
    assert list(table.of("y", "f")) == []
    assert table.of("x").stories == STORIES


def test_a_pivot_has_items_in_rows_and_systems_in_columns():
    items, systems, values = TABLE.pivot("toy")
    assert (items, systems) == (["1", "2"], ["A", "B"])
    np.testing.assert_array_equal(values, [[0.5, math.nan], [2.0, math.nan]])


def test_a_pivot_of_an_unknown_scorer_is_empty():
    assert np.isnan(TABLE.pivot("nobody")[2]).all()


def test_two_scores_for_one_cell_are_refused():
    table = TABLE + ScoreTable(STORIES, [make_score("a1", value=0.7)])
    with pytest.raises(InputError, match="two scores of 'toy' for item '1' and system 'A'"):
        table.pivot("toy")


def test_rows_have_the_columns_in_order():
    assert [tuple(row) for row in TABLE.rows()] == [COLUMNS] * 3


def test_rows_make_the_same_table_again():
    again = ScoreTable.from_rows(TABLE.rows())
    assert str(list(again.rows())) == str(list(TABLE.rows()))
    assert again.pivot("toy")[:2] == TABLE.pivot("toy")[:2]


def test_rows_of_a_query_may_leave_out_what_has_a_default():
    [score] = ScoreTable.from_rows([{"story": "a", "scorer": "toy", "value": 1}])
    assert score == make_score("a", value=1.0)


def test_a_data_frame_has_exactly_the_nine_columns():
    frame = TABLE.to_pandas()
    assert list(frame.columns) == [
        "story", "item", "system", "scorer", "aspect", "value", "status", "coverage", "note",
    ]  # fmt: skip
    assert list(frame["status"]) == ["ok", "too_long", "ok"]
    assert frame["value"].dtype == float
    assert math.isnan(frame["value"][1])


def test_an_empty_table_is_an_empty_data_frame():
    frame = ScoreTable().to_pandas()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 0


def test_an_arrow_table_has_the_same_columns():
    table = TABLE.to_arrow()
    assert tuple(table.column_names) == COLUMNS
    assert table.num_rows == 3


def test_a_missing_value_is_an_empty_cell_of_csv(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row["value"] for row in rows] == ["0.5", "", "2.0"]
    assert rows[1]["note"] == LOST.note


def test_a_missing_value_is_null_in_json(tmp_path):
    TABLE.to_jsonl(tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [row["value"] for row in rows] == [0.5, None, 2.0]
    assert rows[1]["status"] == "too_long"


def test_a_table_comes_back_from_json(tmp_path):
    TABLE.to_jsonl(tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    again = ScoreTable.from_rows(map(json.loads, lines))
    assert str(list(again.rows())) == str(list(TABLE.rows()))


def test_a_table_comes_back_from_csv(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        again = ScoreTable.from_rows(csv.DictReader(file))
    assert str(list(again.rows())) == str(list(TABLE.rows()))


def test_a_story_that_is_not_unicode_can_still_be_written(tmp_path):
    story = make_story(id="\ud800")
    table = ScoreTable([story], [make_score("\ud800")])
    table.to_jsonl(tmp_path / "t.jsonl")
    table.to_csv(tmp_path / "t.csv")
    assert json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8"))["value"] == 1.0
