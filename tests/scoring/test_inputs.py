"""What people have in Python: each kind of it gives stories, or words that say what to pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula import Story, UserError, as_evaluate, assert_story, evaluate, load_dataset, spec
from fabula.core.errors import SettingError, SpecError

TEXTS = ["The lamp went out.", "Rain fell."]
REFERENCES = ["The lamp failed.", ["It rained.", "Rain fell."]]
ROWS = [{"text": text, "references": refs} for text, refs in zip(TEXTS, REFERENCES, strict=True)]
# By hand: "the lamp" of 4 words in 3, and every word of the second reference.
RECALLS = [2 / 3, 1.0]


def recalls(stories: Any, **given: Any) -> list[float]:
    return [
        score.value for score in evaluate(stories, "rouge(n=1)", **given).of("rouge(n=1)", "recall")
    ]


def test_texts_and_references_are_enough() -> None:
    table = evaluate(TEXTS, "rouge(n=1)", references=REFERENCES)
    assert [story.id for story in table.stories] == ["1", "2"]
    assert table.means()["rouge(n=1).recall"] == pytest.approx(5 / 6)


def test_one_text_is_one_story_and_may_have_several_references() -> None:
    assert evaluate("The lamp went out.", "words").means() == {"words": 4.0}
    for references in ("Rain fell.", ["Sun.", "Rain fell."], [["Sun.", "Rain fell."]]):
        assert recalls("Rain fell.", references=references) == [1.0]
    assert evaluate("Rain fell.").scorers == evaluate("Rain fell.", "strings").scorers


def frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(ROWS)


def hub_rows() -> Any:
    datasets = pytest.importorskip("datasets")
    several = [[REFERENCES[0]], REFERENCES[1]]
    return datasets.Dataset.from_dict({"text": TEXTS, "references": several})


def arrow() -> Any:
    several = [[REFERENCES[0]], REFERENCES[1]]
    return pytest.importorskip("pyarrow").table({"text": TEXTS, "references": several})


class Polars:
    """As much of a polars data frame as is asked for."""

    columns = ("text", "references")

    def to_dicts(self) -> list[dict[str, Any]]:
        return ROWS

    def __getitem__(self, name: str) -> Any:
        return type("Series", (), {"to_list": lambda _: [row[name] for row in ROWS]})()


@pytest.mark.parametrize(
    "make",
    [
        frame,
        hub_rows,
        arrow,
        Polars,
        lambda: ROWS,
        lambda: iter(ROWS),
        lambda: {"text": TEXTS, "references": REFERENCES},
        lambda: {"text": np.array(TEXTS), "references": REFERENCES},
    ],
    ids=[
        "pandas",
        "datasets",
        "arrow",
        "polars",
        "dicts",
        "iterator",
        "lists",
        "array",
    ],
)
def test_rows_of_every_kind_are_stories(make: Any) -> None:
    assert recalls(make()) == pytest.approx(RECALLS)


@pytest.mark.parametrize("kind", [tuple, iter, np.array, lambda texts: (text for text in texts)])
def test_texts_may_come_in_anything_with_an_order(kind: Any) -> None:
    assert recalls(kind(TEXTS), references=REFERENCES) == pytest.approx(RECALLS)


def test_one_row_is_one_story() -> None:
    assert recalls({"story": "Rain fell.", "ref": ["Sun.", "Rain fell."]}) == [1.0]


def test_columns_are_guessed_as_for_files_and_can_be_said() -> None:
    rows = [{"tale": "Rain fell.", "gold": "Rain fell.", "model": "owl", "key": np.int64(7)}]
    with pytest.raises(
        UserError, match=r"stories: no column for the text .*columns=\{'text': NAME\}"
    ):
        evaluate(rows, "words")
    table = evaluate(rows, "rouge", columns={"text": "tale"})
    [story] = table.stories
    assert (story.id, story.system, story.references) == ("7", "owl", ("Rain fell.",))


def test_columns_of_a_data_frame_may_be_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    table = evaluate(pandas.DataFrame([["Rain fell."]]), "words", columns={"text": "0"})
    assert table.means() == {"words": 2.0}


def test_a_path_is_a_file_and_a_string_never_is(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"text": "Rain fell."}\n{"text": "Sun."}\n', encoding="utf-8")
    assert evaluate(path, "words").means() == {"words": 1.5}
    for name in (str(path), "absent.csv"):
        with pytest.raises(UserError, match=r"a string is read as a text; pass Path\("):
            evaluate(name, "words")
    assert evaluate(["absent.csv"], "words").means() == {"words": 2.0}


def test_stories_data_sets_and_tables_are_taken_as_they_are() -> None:
    story = Story("a", "Rain fell.", references=("Sun.",))
    for given in (story, (story,), iter([story]), evaluate([story], "words")):
        assert evaluate(given, "words").stories == [story]
    examples = load_dataset("examples")
    assert evaluate(examples, "words").stories == list(examples.stories)


def test_parts_take_the_place_of_what_stories_have() -> None:
    stories = [Story("a", "Rain fell.", references=("Sun.",)), Story("b", "Sun.")]
    table = evaluate(
        stories,
        "rouge",
        references=["Rain fell.", math.nan],
        prompts=["Rain.", None],
        ids=[1, 2],
        systems=["owl", "elk"],
        items=np.array([5, 5]),
    )
    assert table.stories == [
        Story("1", "Rain fell.", "Rain.", ("Rain fell.",), (), "owl", "5"),
        Story("2", "Sun.", None, (), (), "elk", "5"),
    ]
    assert table.scores[-1].status == "missing_reference"


def test_a_missing_cell_of_a_data_frame_is_no_reference() -> None:
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"text": TEXTS, "ref": ["The lamp.", pandas.NA]})
    assert [str(score.status) for score in evaluate(data, "bleu")] == ["ok", "missing_reference"]
    series = pandas.Series(["The lamp.", None], dtype="string")
    assert [score.ok for score in evaluate(TEXTS, "bleu", references=series)] == [True, False]


def numbers() -> Iterator[int]:
    yield 5


@pytest.mark.parametrize(
    ("stories", "words"),
    [
        (5, r"stories is an int \(5\); pass a text, a list of texts"),
        (None, "stories is None; pass"),
        (np.array("x"), "stories is an? ndarray; pass"),
        (str, "stories is the class str"),
        (b"bytes", "stories is bytes; decode"),
        ({"a", "b"}, "stories is a set, which has no order"),
        ([], "there are no stories"),
        ([None], r"stories\[0\] is None; write \"\" for an empty story"),
        (["a", math.nan], r"stories\[1\] is NaN"),
        (["a", 5], r"stories\[1\] is an int \(5\)"),
        (numbers(), r"stories\[0\] is an int \(5\)"),
        ([["a"]], r"stories\[0\] is a list"),
        (["a", Story("1", "b")], r"stories\[1\] is a Story, stories\[0\] a str; .* one kind"),
        ([{"text": "a"}, {"text": None}], r"stories\[1\]: field 'text' \(the text\) is missing"),
        ([{"text": "a", "ref": ["b", None]}], r"stories\[0\]: field 'ref' is no string or list"),
        ({}, "no column for the text"),
        ({"text": ["a", "b"], "prompt": ["p"]}, "'text' has 2, 'prompt' has 1"),
        ({"text": ["a"], "prompt": 5}, r"column 'prompt' is an int \(5\)"),
    ],
)
def test_what_is_no_story_is_named(stories: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        evaluate(stories, "words")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"references": ["a"]}, "references has 1 entries for 2 stories; pass one for each"),
        ({"references": [["a", "b"]] * 3}, r"3 entries for 2 stories; .*list\(zip\(\*references"),
        ({"references": "a"}, "references is one text for 2 stories"),
        ({"references": 5}, r"references is an int \(5\)"),
        ({"references": {"a": 1}}, "references is a dict"),
        ({"references": ["a", 5]}, r"references\[1\] is an int"),
        ({"references": ["a", ["b", None]]}, r"references\[1\]\[1\] is None"),
        ({"prompts": ["a", 5]}, r"prompts\[1\] is an int \(5\); pass a text"),
        ({"ids": ["a", None]}, r"ids\[1\] is None"),
        ({"ids": ["a", "a"]}, "story 2 has the id 'a' of story 1"),
        ({"columns": {"text": "a"}}, "columns are for rows"),
        ({"columns": {"tekst": "a"}}, "a story has no 'tekst'"),
        ({"jobs": "2"}, "jobs='2'"),
    ],
)
def test_what_does_not_go_with_the_stories_is_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        evaluate(["one", "two"], "words", **given)


def test_a_data_frame_is_told_its_row_and_its_column() -> None:
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"text": ["a", None], "gold": ["b", "c"]})
    with pytest.raises(UserError, match=r"the DataFrame, row 1 \(from 0\): field 'text'"):
        evaluate(data, "words")
    with pytest.raises(UserError, match=r"write columns=\{'references': 'gold'\}"):
        evaluate(data.fillna(""), "bleu", references="gold")
    doubled = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(UserError, match="column 'text' stands twice"):
        evaluate(doubled, "words")


def test_of_several_splits_one_must_be_meant() -> None:
    datasets = pytest.importorskip("datasets")
    with pytest.raises(UserError, match=r"a dict of tables: train; pass one: …\['train'\]"):
        evaluate(datasets.DatasetDict(train=hub_rows()), "words")


@pytest.mark.parametrize("metrics", [5, None, ["words", None]])
def test_what_is_no_metric_is_named(metrics: Any) -> None:
    with pytest.raises(UserError, match="is no metric; name one"):
        evaluate("Rain fell.", metrics)


def test_the_other_front_doors_are_as_careful() -> None:
    for wrong in (5, None, ["rouge"], Path("rouge")):
        with pytest.raises(SpecError, match="is no spec"):
            spec(wrong)  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="is no spec"):
            as_evaluate(wrong)  # type: ignore[arg-type]
        with pytest.raises(SettingError, match="is no data set's name"):
            load_dataset(wrong)  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="is no condition"):
            assert_story("Rain fell.", wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"'my.csv' is no data set's name; evaluate\(Path"):
        load_dataset("my.csv")
    with pytest.raises(UserError, match=r"references is an int \(5\)"):
        assert_story("Rain fell.", "words > 1", references=5)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"references\[0\] is an int \(5\)"):
        as_evaluate("rouge").compute(predictions=["Rain."], references=[5])
    with pytest.raises(SettingError, match="path=5 is no path"):
        load_dataset("examples", 5)  # type: ignore[arg-type]
