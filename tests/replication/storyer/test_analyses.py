from __future__ import annotations

import html
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.reader.fake import fake_config
from fabula.meta.resampling import Estimate
from fabula.replication.analyses import run_analyses, run_analysis
from fabula.replication.findings import (
    StudyFinding,
    StudyTable,
    analyses_markdown,
    analyses_text,
    write_analyses,
)
from fabula.replication.storyer.comment_classifiers import ClassifierSettings
from fabula.replication.storyer.comments import CommentSettings
from fabula.replication.storyer.distributions import DistributionSettings
from fabula.replication.storyer.material import Material
from fabula.replication.storyer.study import ANALYSES, StoryerStudy
from fabula.replication.storyer.unseen_ratings import (
    AspectSettings,
    PreferenceSettings,
    log_shares_left_out,
)
from fabula.replication.storyer.variants import Training
from fabula.replication.unseen import UnseenValues
from fakes.storyer_material import PROMPTS, SmallEncoder, kept_values, story, write_storyer

QUICK = {"folds": 2, "seeds": 1, "steps": 25, "hidden": 8, "rate": 0.02, "dropout": 0.0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own StoryER, which holds less than the release."""
    monkeypatch.setattr("fabula.datasets.check_counts", lambda dataset: dataset)
    return write_storyer(tmp_path / "data")


@pytest.fixture
def material(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Material:
    where = "fabula.models.networks.encoder.load_pooled_bert"
    monkeypatch.setattr(where, lambda name: SmallEncoder())
    return Material(folder, resamples=50, _unseen={"made up": kept_values()})


def cell(finding: StudyFinding, table: str, row: str, column: str) -> Any:
    [found] = [one for one in finding.tables if one.name == table]
    [line] = [one for one in found.rows if one[0] == row]
    return line[list(found.columns).index(column)]


def test_every_loss_learns_which_metal_is_liked(material: Material) -> None:
    found = run_analysis(ANALYSES, "losses", Training(**QUICK), material)
    for loss in ("ranking, logistic", "cross-entropy"):
        right = cell(found, "losses", loss, "accuracy")
        assert right.value > 0.9
    assert cell(found, "losses", "ranking, logistic", "pairs") == 2 * PROMPTS
    # Stories of a pair have as many words: a tie is wrong.
    assert cell(found, "losses", "baseline: words", "accuracy").value == 0


def test_an_ablation_says_what_a_variant_does_not_learn(material: Material) -> None:
    settings = Training(**QUICK, negatives=10)
    found = run_analysis(ANALYSES, "ablation", settings, material)
    name = "ablation_aspects"
    assert math.isnan(cell(found, name, "without aspects", "rating ρ").value)
    assert cell(found, name, "all", "ratings") == 3 * PROMPTS
    assert cell(found, name, "all", "negatives") == 10
    assert cell(found, "ablation_preference", "all", "less than all") is None
    assert "hidden comments" in found.words[1]


def test_a_rating_that_is_known_has_the_correlation_1(material: Material) -> None:
    found = run_analysis(ANALYSES, "confidence", AspectSettings("made up"), material)
    name = "confidence_ratings"
    assert cell(found, name, "ending", "Spearman ρ").value == pytest.approx(1)
    assert cell(found, name, "ending", "stories") == PROMPTS
    assert cell(found, name, "novelty", "stories") == 0
    # All speak of the same three aspects, which the prior knows.
    assert cell(found, "confidence_recall", "recall@3", "prior").value == 1


def test_a_story_does_not_tell_its_own_shares() -> None:
    shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    _, prior = log_shares_left_out(np.zeros((3, 2)), shares)
    # The first story is told by the two others, the second by the first and the third.
    assert np.exp(prior[0]).tolist() == pytest.approx([0.001, 1.0])
    assert np.exp(prior[1]).tolist() == pytest.approx([0.5, 0.5])


def test_comments_whose_words_tell_the_aspect_are_told(material: Material) -> None:
    found = run_analysis(ANALYSES, "aspect_classifier", ClassifierSettings(3), material)
    assert cell(found, "classifier_accuracy", "right", "share").value == 1
    assert cell(found, "classifier_confusion", "ending", "ending") == PROMPTS
    assert cell(found, "figure_6", "ending", "accuracy").value == 1
    assert cell(found, "figure_6", "ending", "printed") == "not about .80"
    assert cell(found, "figure_6", "opening", "right where guessed") == 1
    assert cell(found, "figure_6", "horror", "comments") == 0
    polar = run_analysis(ANALYSES, "sentiment", ClassifierSettings(3), material)
    assert cell(polar, "sentiment", "negative", "accuracy").value == 1
    assert cell(polar, "sentiment", "neutral", "published") == pytest.approx(0.509)


def test_comments_are_held_against_those_of_raters(material: Material) -> None:
    settings = CommentSettings(model="fake", likelihood=4)
    found = run_analysis(ANALYSES, "comments", settings, material)
    name = "comments_overlap"
    assert cell(found, name, "composed", "aspects of stories") == 3 * PROMPTS
    borrowed = cell(found, name, "baseline: another comment on the aspect", "ROUGE-L")
    assert borrowed.value > cell(found, name, "composed", "ROUGE-L").value > 0
    assert cell(found, "comments_perplexity", "nothing", "comments") == 4


def people(name: str, texts: list[str], **more: Any) -> Dataset:
    stories = tuple(
        Story(str(at), text, item=f"{more.get('item', '')}{at // 2}", system=more.get("system"))
        for at, text in enumerate(texts)
    )
    ratings = [
        Score(one.id, "human:1", "engagement", float(1 + at % 5)) for at, one in enumerate(stories)
    ]
    return Dataset(name, DatasetCard(name, name, "ours"), stories, ScoreTable(stories, ratings))


def test_preference_is_held_against_ratings(material: Material) -> None:
    hanna = people("hanna", [story(at, at % 2 == 0) for at in range(10)])
    values = kept_values()
    engagement = np.array([[1 + at % 5 for at in range(10)]], dtype=float)
    kept = {"ids/criteria": np.array([f"hanna:{at}" for at in range(10)])}
    kept["preference/criteria"] = engagement
    unseen = UnseenValues(values.config, {**values.arrays, **kept})
    material = Material(material.data, resamples=50, _sets={"hanna": hanna},
                        _unseen={"made up": unseen})  # fmt: skip
    found = run_analysis(ANALYSES, "correlations", PreferenceSettings("made up"), material)
    column = "Spearman ρ of the preference"
    assert cell(found, "preference_criteria", "engagement", column).value == pytest.approx(1)
    assert cell(found, "preference_criteria", "empathy", "stories") == 0
    assert cell(found, "preference_aspects", "upvotes", "stories") == PROMPTS
    # Upvotes rise from story to story; the ending's ratings go round: 3, 5, 1, 3, …
    upvotes = cell(found, "figure_5", "ending", "upvotes × people's rating")
    ratings = [(1, 3, 5)[(number + 1) % 3] for number in range(PROMPTS)]
    rho = scipy.stats.spearmanr(range(PROMPTS), ratings).statistic  # scipy 1.17.1
    assert upvotes.value == pytest.approx(rho)
    assert math.isnan(cell(found, "figure_5", "novelty", "upvotes × people's rating").value)
    predicted = cell(found, "figure_5", "novelty", "preference × predicted rating")
    assert predicted.n == PROMPTS  # a model rates what nobody spoke of, too


def test_figure_5_needs_no_other_data_than_storyers(
    material: Material, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    kept = Material(material.data, resamples=20, _unseen={"made up": kept_values()})
    found = run_analysis(ANALYSES, "correlations", PreferenceSettings("made up"), kept)
    names = [table.name for table in found.tables]
    assert names == ["figure_5", "preference_aspects"] and not found.needs
    assert "No criteria of HANNA: " in found.words[-1]


def test_a_table_that_is_to_be_drawn_has_a_figure_on_the_page(tmp_path: Path) -> None:
    rows = [["ending", Estimate(0.8, 0.7, 0.9)], ["opening", Estimate(0.5)]]
    table = StudyTable("shares", "Shares", ("aspect", "share"), rows, drawn="share")
    finding = StudyFinding("one", "One", ["Some words."], [table])
    path = write_analyses(StoryerStudy("Ours", analyses=("sentiment",)), [finding], tmp_path / "o")
    assert (path.parent / "figures" / "shares_figure.svg").is_file()
    assert path.read_text(encoding="utf-8").count("<svg") >= 1


def free_text(number: int) -> str:
    """Five sentences of drawn words: no two of these texts are alike."""
    rng = random.Random(number)
    things = "kettle garden ladder window river stone feather candle mirror button".split()
    deeds = "carried painted followed dropped mended counted buried traded hid washed".split()
    lines = [
        f"The {rng.choice(things)} of {number} {rng.choice(deeds)} a {rng.choice(things)} by "
        f"the {rng.choice(things)}."
        for _ in range(5)
    ]
    return " ".join(lines)


def test_corrupted_stories_stand_beside_their_originals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [story(at, at % 2 == 0, at) for at in range(16)]
    sets = {name: people(name, texts) for name in ("storyer_ratings", "hanna")}
    # One story of the corpus is rated, too: it is left out, and nine of ten are left.
    corpus = [*(free_text(at) for at in range(9)), texts[0]]
    sets |= {name: people(name, corpus) for name in ("writingprompts", "rocstories")}
    sets["mans"] = people("mans", texts, item="roc:", system="gpt")
    vist = people("vist", texts, system="BART")
    sets["vist"] = Dataset("vist", vist.card, tuple(
        Story(one.id, one.text, item=one.item, system="BART", references=(one.text,))
        for one in vist.stories
    ))  # fmt: skip
    plain = people("storyer", texts)
    sets["storyer"] = Dataset(
        "storyer", plain.card, plain.stories, preferences=(Preference("0", "1", "upvotes"),)
    )
    for room in ("replication.storyer.distributions", "learned.training.stories"):
        monkeypatch.setattr(f"fabula.{room}.is_kept_back", lambda text: True)
    ids = np.array([str(at) for at in range(16)])
    arrays = {
        f"{one}/{one}": np.arange(16.0)[None] / 16 for one in ("preference", "preference_n")
    } | {"ids/preference": ids, "ids/preference_n": ids}
    unseen = UnseenValues(fake_config(), arrays)
    material = Material(resamples=20, _sets=sets, _unseen={"fake": unseen})
    settings = DistributionSettings(12, 4, reader="fake", coherence="fake")
    found = run_analysis(ANALYSES, "distributions", settings, material)
    name = "distribution_preference"
    assert cell(found, name, "human, liked", "mean").value == 0
    assert cell(found, name, "human, disliked", "stories") == 1
    assert cell(found, name, "ROC stories", "stories") == 4
    assert cell(found, name, "human, unseen", "stories") == 9
    below = cell(found, name, "corrupted: UNION shuffle", "below its original")
    assert isinstance(below, Estimate) and 0 <= below.value <= 1
    assert cell(found, name, "human, unseen", "below its original") is None
    assert {one.name for one in found.tables} == {
        "distribution_preference", "distribution_preference_n", "distribution_coherence",
    }  # fmt: skip


def test_sets_of_a_users_are_domains_by_genre_though_nothing_else_is_there(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    rows = [f"{free_text(at)},{('horror', 'romance')[at % 2]}" for at in range(6)]
    table.write_text("\n".join(["text,genre", *rows]), encoding="utf-8")
    settings = DistributionSettings(
        2, 4, reader="fake", coherence="fake", sets=(str(table),), by="genre"
    )
    found = run_analysis(ANALYSES, "distributions", settings, Material(tmp_path, resamples=20))
    assert not found.needs
    rows_there = [row[0] for row in found.tables[0].rows]
    assert rows_there == ["mine, horror", "mine, romance"]
    assert cell(found, "distribution_preference", "mine, horror", "stories") == 3
    assert any(line.startswith("Without ROC stories: ") for line in found.words)


def test_what_an_analysis_lacks_is_said_and_the_others_run(folder: Path, tmp_path: Path) -> None:
    names = ("correlations", "sentiment")
    study = StoryerStudy(
        "Ours",
        about=("Made up.",),
        analyses=names,
        resamples=20,
        correlations=PreferenceSettings("nowhere"),
        sentiment=ClassifierSettings(3),
    )
    lines: list[str] = []
    material = Material(folder, resamples=20, report=lines.append)
    first, second = run_analyses(study, material)
    assert "no weights are called 'nowhere'" in first.needs and not first.tables
    assert not second.needs and second.tables
    assert lines[0] == "correlations: begins"
    path = write_analyses(study, [first, second], tmp_path / "out")
    plain = json.loads((path.parent / "study.json").read_text(encoding="utf-8"))
    assert plain["analyses"][0]["needs"] == first.needs
    assert plain["analyses"][1]["tables"][0]["rows"][0]["accuracy"]["value"] == 1
    page = path.read_text(encoding="utf-8")
    assert f"Not run: {html.escape(first.needs)}" in page and "polarity" in page
    assert f"not run: {first.needs}" in analyses_text([first])
    table = (path.parent / "tables" / "sentiment.csv").read_text(encoding="utf-8")
    assert "accuracy,accuracy_low,accuracy_high" in table and "1.0,1.0,1.0" in table
    marked = analyses_markdown(study, [first, second])
    assert "| negative | 1.000 [1.000, 1.000] |" in marked


def test_an_undefined_figure_is_a_dash() -> None:
    table = StudyTable(
        "t", "T", ("a", "b"), [["x", Estimate(math.nan)], ["y", Estimate(-0.5, -1, 0)]]
    )
    text = analyses_text([StudyFinding("t", "T", (), [table])])
    assert "–" in text and "−0.500 [−1.000, 0.000]" in text
