"""Corpora as choices, and what holds on the one that was left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.training import choices as choices_module
from fabula.learned.training.choices import CORPORA, Choices, flatten, gather_choices
from fabula.learned.training.left_out import (
    fit_preference,
    join_columns,
    leave_out,
    measure_columns,
    surface_columns,
)

CARD = DatasetCard(title="t", about="a", licence="l")


def make_choices(corpus: str, texts: list[str], pairs: list[tuple[int, int]]) -> Choices:
    return Choices(
        corpus, CORPORA[corpus].question, tuple(texts), np.array(pairs),
        np.arange(len(pairs)), np.ones(len(pairs)), data=CORPORA[corpus].data,
    )  # fmt: skip


def gather(monkeypatch: pytest.MonkeyPatch, name: str, dataset: Dataset) -> Choices:
    monkeypatch.setattr(choices_module, "read_dataset", lambda name, data: dataset)
    [found] = gather_choices(Path("anywhere"), [name])
    return found


def test_of_rated_stories_of_one_prompt_the_higher_mean_is_better(monkeypatch):
    stories = [Story(name, f"text {name}\n\nmore", item=item)
               for name, item in (("a", "1"), ("b", "1"), ("c", "2"), ("d", "1"))]  # fmt: skip
    said = {"a": (1, 2), "b": (4, 5), "c": (5, 5), "d": (1, 2)}
    scores = [Score(story, f"human:{n}", "engagement", float(value))
              for story, values in said.items() for n, value in enumerate(values)]  # fmt: skip
    dataset = Dataset("hanna", CARD, tuple(stories), ScoreTable(stories, scores))
    found = gather(monkeypatch, "hanna engagement", dataset)
    pairs = {tuple(found.texts[place] for place in pair) for pair in found.pairs}
    # c is alone with its prompt, a and d are of one mean; line breaks are no text.
    assert pairs == {("text b more", "text a more"), ("text b more", "text d more")}
    assert set(found.units) == {0}


def test_where_a_suggestion_stood_in_the_list_counts_for_nothing(monkeypatch):
    stories, scores, preferences = [], [], []
    for request in range(9):
        for place in (1, 2):
            name = f"{request}.{place}"
            stories.append(Story(name, f"goes on {name}", "So far.", item=f"s:{request}"))
            scores.append(Score(name, "place", "", float(place)))
        taken = 1 if request < 6 else 2  # the first is taken twice as often
        preferences.append(Preference(f"{request}.{taken}", f"{request}.{3 - taken}"))
    dataset = Dataset(
        "coauthor", CARD, tuple(stories), scores=ScoreTable(stories, scores),
        preferences=tuple(preferences),
    )  # fmt: skip
    found = gather(monkeypatch, "coauthor", dataset)
    assert all(text.startswith("So far. goes on") for text in found.texts)
    first = np.array([[-float(text[-1])] for text in found.texts])
    [held] = measure_columns([found], {"coauthor": first})
    assert held.accuracy.value == pytest.approx(0.5)
    assert found.weights.sum() == pytest.approx(9)


def test_what_all_other_corpora_taught_is_measured_on_the_one_left_out():
    rng = np.random.default_rng(0)
    corpora, columns = [], {}
    for corpus in ("storyer", "hanna engagement", "coauthor"):
        values = rng.normal(size=(80, 3))
        liked = values[:, 0] + 0.3 * rng.normal(size=80)
        if corpus == "coauthor":
            liked = -liked  # people of another taste
        pairs = [(a, a + 40) if liked[a] > liked[a + 40] else (a + 40, a) for a in range(40)]
        corpora.append(make_choices(corpus, [f"word {n}" for n in range(80)], pairs))
        columns[corpus] = values
    found = {one.corpus: one for one in leave_out(corpora, columns, penalty=0.01).held}
    assert found["coauthor"].accuracy.value < 0.2
    assert found["coauthor"].gain.high < 0
    alike = leave_out(corpora[:2], columns, penalty=0.01)
    assert min(one.accuracy.value for one in alike.held) > 0.8
    assert alike.mean_gain.low > 0.1
    # Texts of one length and vocabulary: every trivial baseline is chance.
    assert {one.baseline for one in alike.held} == {0.5}


def test_a_set_that_is_for_testing_alone_teaches_nothing():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(40, 2))
    pairs = [(a, a + 20) if values[a, 0] > values[a + 20, 0] else (a + 20, a) for a in range(20)]
    texts = [f"word {n}" for n in range(40)]
    columns = dict.fromkeys(("coherence_roc300", "union", "mans_roc"), values)
    for_test = make_choices("coherence_roc300", texts, [(b, a) for a, b in pairs])
    union, mans = (make_choices(name, texts, pairs) for name in ("union", "mans_roc"))
    # It says the opposite of the others, and changes nothing for them.
    alone = leave_out([union, mans], columns, penalty=0.1).held
    beside = leave_out([union, mans, for_test], columns, penalty=0.1).held
    assert [one.accuracy.value for one in alone] == [1.0, 1.0]
    assert [one.accuracy for one in beside[:2]] == [one.accuracy for one in alone]
    assert beside[2].accuracy.value == 0.0


def test_columns_are_standardised_over_all_corpora_and_a_penalty_holds_them_down():
    corpora = [make_choices("storyer", ["one two", "one two three four"], [(1, 0)])]
    joined = join_columns((surface_columns(corpora, without=("log_paragraphs",)), 2.0))["storyer"]
    assert np.allclose(joined.mean(0), 0)
    assert np.allclose(np.unique(np.round(np.abs(joined), 6)), [0, 2])
    loose = fit_preference(corpora, {"storyer": joined}, 0.01)
    tight = fit_preference(corpora, {"storyer": joined}, 10.0)
    assert np.abs(tight).sum() < np.abs(loose).sum()


def test_a_reader_reads_one_line():
    assert flatten("He said ``no''.\n\n  Then he\tleft .") == 'He said "no". Then he left.'
