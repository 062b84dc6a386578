from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.dataset import Dataset, Preference, ScorerCard
from fabula.core.errors import InputError, SettingError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets import load_dataset
from fabula.datasets.table import read_ratings, read_run_with, read_table

BY_RATER = "story,rater,coherence,fluency\ns1,ann,3,4\ns1,bob,4,\ns2,ann,2,1\n"
WIDE = "id,text,system,item,coherence,bleu,note\n1,A tale.,x,i,3,0.5,hm\n2,Two.,y,i,4,,\n"
LONG = "story,system,scorer,aspect,value\n1,x,human:ann,fun,3\n1,x,bleu,,0.5\n2,y,bleu,,\n"


def values(scores: Any) -> dict[tuple[str, str, str], float]:
    return {(s.story, s.scorer, s.aspect): s.value for s in scores}


def test_rows_by_rater_give_a_rating_for_every_column_of_numbers(write) -> None:
    found = read_table(write("r.csv", BY_RATER))
    assert values(found.ratings) == {
        ("s1", "human:ann", "coherence"): 3,
        ("s1", "human:ann", "fluency"): 4,
        ("s1", "human:bob", "coherence"): 4,
        ("s2", "human:ann", "coherence"): 2,
        ("s2", "human:ann", "fluency"): 1,
    }
    assert [story.id for story in found.stories] == ["s1", "s2"] and len(found.scores) == 0
    assert "5 ratings by 2 raters on coherence, fluency" in found.card.about


def test_by_rater_what_is_not_gold_is_a_metric_said_once_per_story(write) -> None:
    text = "Story ID,Worker ID,Fun,bleu\n7,ann,3,0.5\n7,bob,4,0.5\n8,ann,1,\n"
    found = read_table(write("r.csv", text), gold=["Fun"])
    assert values(found.ratings)["7", "human:bob", "Fun"] == 4
    assert [(s.story, s.scorer) for s in found.scores if s.ok] == [("7", "bleu")]
    other = write("s.csv", text.replace("bob,4,0.5", "bob,4,0.6"))
    with pytest.raises(InputError, match=r"line 3: 'bleu' scores story '7' again, after s\.csv, "):
        read_table(other, gold=["Fun"])


def test_a_wide_table_parts_ratings_from_metrics_and_empty_is_missing(write) -> None:
    found = read_table(write("w.csv", WIDE), gold=["coherence"], lower=["bleu"])
    assert values(found.ratings) == {
        ("1", "human:gold", "coherence"): 3,
        ("2", "human:gold", "coherence"): 4,
    }
    first, second = found.scores
    assert (first.value, first.status) == (0.5, Status.OK)
    assert (second.status, second.note) == (Status.UNDEFINED, "the cell is empty")
    assert found.scorers == {"bleu": ScorerCard("other", "lower")}
    assert found.stories[0] == Story("1", "A tale.", system="x", item="i")
    assert found.card.quirks == ("Columns that were not read: note.",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("fun:ann,fun:bob", {("human:ann", "fun"), ("human:bob", "fun")}),
        ("human:ann:fun,human:bob:fun", {("human:ann", "fun"), ("human:bob", "fun")}),
        ("human:ann,human:bob", {("human:ann", ""), ("human:bob", "")}),
    ],
)
def test_a_column_may_name_its_rater(write, names: str, expected: set[tuple[str, str]]) -> None:
    path = write("w.csv", f"id,{names},bleu\n1,3,4,0.1\n2,1,2,0.2\n")
    gold = ["fun"] if names.startswith("fun") else []
    found = read_table(path, gold=gold)
    assert {(s.scorer, s.aspect) for s in found.ratings} == expected
    assert found.scores.scorers == ["bleu"]


def test_people_who_are_not_the_gold_are_no_metrics(write) -> None:
    path = write("w.csv", "id,fun,human:ann:joy,bleu\n1,3,4,0.1\n")
    found = read_table(path, gold=["fun"])
    assert found.scores.scorers == ["bleu"] and "human:ann:joy" in found.card.quirks[0]


def test_a_column_of_numbers_called_human_holds_ratings_not_references(write) -> None:
    found = read_table(write("w.csv", "id,human,bleu\n1,3,0.1\n2,4,0.2\n"))
    assert values(found.ratings)["2", "human:gold", ""] == 4
    assert found.stories[0].references == ()


def test_a_long_table_parts_people_from_metrics(write) -> None:
    found = read_table(write("l.csv", LONG))
    assert values(found.ratings) == {("1", "human:ann", "fun"): 3}
    assert [s.status for s in found.scores] == [Status.OK, Status.UNDEFINED]
    assert [story.system for story in found.stories] == ["x", "y"]


def test_a_long_table_may_name_raters_or_say_which_scorer_is_gold(write) -> None:
    by_rater = read_table(write("a.csv", "story,annotator,criterion,rating\n1,ann,fun,3\n"))
    assert values(by_rater.ratings) == {("1", "human:ann", "fun"): 3}
    named = read_table(
        write("b.csv", "story,metric,value\n1,expert,3\n1,bleu,1\n"), gold=["expert"]
    )
    assert values(named.ratings) == {("1", "human:expert", ""): 3}
    with pytest.raises(InputError, match="no scorer 'exprt' to be the gold"):
        read_table(tmp := write("c.csv", LONG), gold=["exprt"])
    assert tmp.exists()


def test_columns_may_be_named_against_the_guess(write) -> None:
    path = write("t.csv", "name,who,mark,score\na,ann,3,9\n")
    found = read_table(path, columns={"story": "name", "rater": "who", "value": "mark"})
    assert values(found.ratings) == {("a", "human:ann", ""): 3}
    with pytest.raises(InputError, match="no column 'whoo'; did you mean 'who'"):
        read_table(path, columns={"rater": "whoo"})
    with pytest.raises(SettingError, match="a table has no role 'ratr'; did you mean 'rater'"):
        read_table(path, columns={"ratr": "who"})


def test_a_column_called_story_is_the_text_where_it_holds_one(write) -> None:
    tale = read_table(write("a.csv", "story,fun\nOnce upon a time.,3\n"), gold=["fun"])
    assert tale.stories == (Story("1", "Once upon a time."),)
    name = read_table(write("b.csv", "story,fun\ns9,3\n"), gold=["fun"])
    assert name.stories == (Story("s9", ""),)
    both = read_table(write("c.csv", "story,output,fun\ns9,Once.,3\n"), gold=["fun"])
    assert both.stories == (Story("s9", "Once."),)


def test_item_and_system_together_name_a_story_that_has_no_id(write) -> None:
    found = read_table(write("a.csv", "item,system,rater,fun\n4,x,ann,3\n4,x,bob,2\n"))
    assert found.stories == (Story("x/4", "", system="x", item="4"),)


@pytest.mark.parametrize(
    ("text", "gold", "message"),
    [
        (WIDE, [], "w.csv: no ratings by people; name their columns with --gold; columns of "
         "numbers: coherence, bleu"),
        (WIDE, ["coherense"], "no column 'coherense' to be the gold; did you mean 'coherence'?"),
        (WIDE.replace(",3,", ",good,"), ["coherence"],
         "w.csv, line 2, column 'coherence': 'good' is no number"),
        (WIDE.replace("\n2,", "\n1,"), ["coherence"],
         "line 3: story '1' has a row already, at w.csv, line 2; keep one, or name the column of "
         "the raters"),
        (BY_RATER + "s1,ann,5,5\n", [],
         "line 5: 'human:ann' scores story 's1' on 'coherence' again, after w.csv, line 2"),
        (BY_RATER.replace("bob", ""), [], "line 3: no rater"),
        (BY_RATER.replace("s2", ""), [], "line 4: no story id"),
        (LONG.replace("0.5", "half"), [], "line 3, column 'value': 'half' is no number"),
        (LONG.replace("human:ann", ""), [], "line 2: neither rater nor scorer"),
        (LONG.replace("human:ann", "ann"), [], "no ratings by people; name their columns with "
         "--gold; scorers: ann, bleu"),
        (LONG + "1,x,bleu,,0.7\n", [],
         "line 5: 'bleu' scores story '1' again, after w.csv, line 3"),
        (LONG + "1,z,rouge,,0.7\n", [], "line 5: story '1' differs in system from w.csv, line 2"),
        ("story,value\n1,2\n", [], "no column says whose"),
        ("id,fun\n1,inf\n", ["fun"], "column 'fun': 'inf' is no finite number"),
        ("id,fun\n", [], "holds no rows"),
        ("rater,fun\nann,3\n", [], "w.csv: no column of story ids; name the column with"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_line_and_column(
    write, text: str, gold: list[str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_table(write("w.csv", text), gold=gold)
    assert message in str(caught.value)


def test_a_metric_that_is_not_there_cannot_be_lower(write) -> None:
    with pytest.raises(InputError, match="no metric 'blue'; did you mean 'bleu'"):
        read_table(write("w.csv", WIDE), gold=["coherence"], lower=["blue"])


def test_files_that_are_no_tables_are_refused(write, tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none.csv", "no such file"),
        (tmp_path, "not a table"),
        (write("a.txt", "Once."), "not a table"),
    ):
        with pytest.raises(InputError, match=message):
            read_table(path)
    with pytest.raises(InputError, match="no table given"):
        load_dataset("table")


def test_other_formats_hold_the_same_table(write) -> None:
    rows = [{"id": 1, "fun": 3, "bleu": 0.5}, {"id": 2, "fun": None, "bleu": None}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    found = [
        read_table(write("a.jsonl", lines), gold=["fun"]),
        read_table(write("a.json", json.dumps(rows)), gold=["fun"]),
        read_table(write("a.tsv", "id\tfun\tbleu\n1\t3\t0.5\n2\tNA\t\n"), gold=["fun"]),
    ]
    for one in found:
        assert values(one.ratings) == {("1", "human:gold", "fun"): 3}
        assert [(s.story, s.ok) for s in one.scores] == [("1", True), ("2", False)]


def test_what_a_table_of_scores_writes_is_read_again(tmp_path: Path) -> None:
    stories = [Story("1", "", system="x", item="i"), Story("2", "", system="y", item="i")]
    scores = [
        Score("1", "human:ann", "fun", 3.0),
        Score("1", "rouge(n=2, stem=False)", "recall", 0.25),
        Score("2", "bleu", status=Status.MISSING_REFERENCE, coverage=0.0, note="none given"),
    ]
    ScoreTable(stories, scores).to_csv(tmp_path / "t.csv")
    found = read_table(tmp_path / "t.csv")
    assert found.ratings.scores == scores[:1]
    assert repr(found.scores.scores) == repr(scores[1:])
    assert list(found.stories) == stories


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 3)), st.floats(-9, 9)))
def test_ratings_by_rater_come_back_whatever_they_are(
    tmp_path_factory: pytest.TempPathFactory, ratings: dict[tuple[int, int], float]
) -> None:
    if not ratings:
        return
    path = tmp_path_factory.mktemp("t") / "r.jsonl"
    rows = [{"story": f"s{s}", "rater": f"r{r}", "fun": v} for (s, r), v in ratings.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert values(read_table(path).ratings) == {
        (f"s{s}", f"human:r{r}", "fun"): v for (s, r), v in ratings.items()
    }


@pytest.fixture
def run(tmp_path: Path) -> Path:
    stories = [Story(name, "Once.", system="x", item=name) for name in "abcd"]
    table = ScoreTable(stories, [Score(name, "words", value=1.0) for name in "abcd"])
    table.save(tmp_path / "run")
    return tmp_path / "run"


def test_a_run_is_joined_with_ratings_by_the_ids(write, run: Path) -> None:
    ratings = write("g.csv", "id,fun,joy\na,3,1\nb,4,2\n")
    cards = {"words": ScorerCard("baseline", "descriptive")}
    found: Dataset = read_run_with(run, ratings, scorers=cards)
    assert values(found.ratings)["b", "human:gold", "joy"] == 2 and len(found.ratings) == 4
    assert found.scores.scorers == ["words"] and found.scorers == cards
    assert read_run_with(run).scorers == {"words": ScorerCard("other", "higher")}


def test_ids_that_a_run_does_not_have_are_counted_and_three_named(write, run: Path) -> None:
    rows = "".join(f"{name},3\n" for name in "avwxyz")
    with pytest.raises(InputError) as caught:
        read_run_with(run, write("g.csv", "id,fun\n" + rows))
    assert "not in " in str(caught.value) and ": 5 ('v', 'w', 'x', …)" in str(caught.value)


def test_a_table_of_ratings_without_any_is_refused(write) -> None:
    with pytest.raises(InputError, match="no ratings by people"):
        read_ratings(write("g.csv", "id,note\na,good\n"))


def save_pair(folder: Path, *rows: dict[str, object]) -> Path:
    """A saved table of two stories, and choices between them."""
    ScoreTable([Story("a", "Once.", system="x"), Story("b", "Twice.", system="y")]).save(folder)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "preferences.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_choices_that_lie_beside_a_table_are_read_with_it(tmp_path: Path) -> None:
    won = {"better": "b", "worse": "a", "rater": "r1", "aspect": "best", "is_tie": False}
    found = read_run_with(save_pair(tmp_path, won, won | {"is_tie": True, "rater": "r2"}))
    assert found.preferences == (
        Preference("b", "a", "r1", "best"),
        Preference("b", "a", "r2", "best", is_tie=True),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"better": "c", "worse": "a"}, "line 1: no story 'c'"),
        ({"better": "a"}, "line 1: worse is missing"),
        ({"better": "a", "worse": 7}, "line 1: worse"),
    ],
)
def test_a_choice_that_will_not_do_is_named(
    row: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        read_run_with(save_pair(tmp_path, row))
