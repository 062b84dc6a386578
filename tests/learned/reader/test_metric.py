"""What all metrics that load weights do alike, and what each makes of its scales."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.model import TokenCount
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.aspects import Aspects
from fabula.learned.coherence import Coherence
from fabula.learned.criteria import Criteria
from fabula.learned.manplts import Manplts
from fabula.learned.reader import inference
from fabula.learned.reader import metric as learned_metric
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.storyer import Storyer
from fabula.learned.union import Union
from fabula.models import _load
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import METRICS, choose_metrics
from fabula.scoring.evaluate import evaluate
from fakes.contract_specs import full_story

NAMES = ["aspects", "coherence", "criteria", "manplts", "rovist_c", "storyer", "union"]
STORIES = [full_story(f"Tale {number} goes on. It ends.", id=f"{number}") for number in range(40)]


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where nothing was pulled, a machine without a network, and nothing loaded."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    monkeypatch.setenv("FABULA_ASSETS", "")
    monkeypatch.setattr(_load, "_loaded", {})
    monkeypatch.setattr(inference, "_loaded", {})
    monkeypatch.setattr("fabula.models.store.folder.ours_folder", lambda wanted: None)
    return tmp_path


@pytest.fixture
def fake() -> Reader:
    return load_reader("fake")


@pytest.mark.parametrize("name", NAMES)
def test_weights_that_are_not_here_are_a_reason_and_not_kept(bare: Path, name: str) -> None:
    metric = METRICS.build(name)
    scores = list(evaluate(STORIES[:2], name, cache=bare / "scores.sqlite"))
    assert {score.status for score in scores} == {Status.MISSING_MODEL}
    [note] = {score.note for score in scores}
    assert repr(metric.card.assets[1]) in note
    assert "\n" not in note
    assert "|reader:missing|" in metric.signature()
    with ScoreCache(bare / "scores.sqlite") as cache:
        assert len(cache) == 0


def test_the_set_of_learned_metrics_is_among_all() -> None:
    learned = {metric.name for metric in choose_metrics("learned")}
    assert set(NAMES) <= learned <= {metric.name for metric in choose_metrics("all")}
    assert {METRICS.get(name).card.family for name in learned} == {"learned"}


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_weights_without_a_name_are_refused_when_the_metric_is_made(name: str) -> None:
    with pytest.raises(SettingError, match="names no weights"):
        Union(weights=name)


def test_weights_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no asset is called 'raeder'"):
        Union(weights="raeder").score(STORIES[:1])
    with pytest.raises(SettingError, match="there is no folder"):
        Union(weights=str(tmp_path / "gone")).score(STORIES[:1])
    broken = Union(weights=str(tmp_path))
    assert "holds no reader" in broken.score(STORIES[:1])[0].note
    with pytest.raises(UserError, match="holds no reader"):
        _ = broken.model


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_travels_without_its_reader_and_says_whose_numbers_it_gives(name: str) -> None:
    metric = METRICS.build(f"{name}(weights='fake')")
    first = metric.score(STORIES[:3])
    assert "|reader:fake,features=1|" in metric.signature()
    again = pickle.loads(pickle.dumps(metric))
    assert set(vars(again)) == set(metric.__getstate__()) < set(vars(metric))
    assert again.score(STORIES[:3]) == first
    assert all(score.ok for score in first)


def test_two_processes_find_what_one_finds() -> None:
    specs = [f"{name}(weights='fake')" for name in NAMES]
    alone = list(evaluate(STORIES, specs, cache=None))
    assert alone == list(evaluate(STORIES, specs, cache=None, jobs=2))


def test_one_pass_serves_all_metrics(fake: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(texts: list[str]) -> object:
        asked.extend(texts)
        return fake.source.window_outputs(texts)

    count = fake.source.count_unknown
    methods = {"window_outputs": staticmethod(ask), "count_unknown": staticmethod(count)}
    source = type("Asked", (), methods)()
    reader = Reader(fake.config, "once", source)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name: reader)
    for metric in (Storyer(), Storyer(negatives=True), Aspects(), Criteria(), Coherence(), Union()):
        assert all(score.ok for score in metric.score(STORIES))
    assert asked == [story.text for story in STORIES]


def test_an_unfamiliar_story_has_a_value_and_a_warning(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference, "describe_oddities", lambda text, domain: ("odd", "short"))
    # Warnings are kept by text: this one no other test has read.
    text = "Umbrellas migrate in autumn. Nobody at the harbour had told them."
    story = Story("odd", text, prompt="Umbrellas.")
    for name in NAMES:
        scores = METRICS.build(f"{name}(weights='fake')").score([story])
        assert {(score.status, score.note) for score in scores} == {(Status.OK, "odd; short")}


def test_without_a_prompt_relevance_alone_is_missing_and_says_why(fake: Reader) -> None:
    text = "The tram stopped. Nobody got on."
    for prompt in (None, "  "):
        scores = Criteria(weights="fake").score([Story("bare", text, prompt=prompt)])
        by_aspect = {score.aspect: score for score in scores}
        relevance = by_aspect.pop("relevance")
        assert relevance.status is Status.MISSING_PROMPT
        assert relevance.note == "give the story a prompt"
        assert math.isnan(relevance.value)
        assert all(score.ok and not score.note for score in by_aspect.values())
    scores = Criteria(weights="fake").score([Story("bare", text, prompt="A tram.")])
    assert all(score.ok for score in scores)


def test_a_text_in_which_the_reader_sees_no_token_has_no_value(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {name: np.zeros((0, len(head.outputs))) for name, head in fake.config.heads.items()}
    methods = {
        "window_outputs": staticmethod(lambda texts: [nothing]),
        "count_unknown": staticmethod(lambda texts: [TokenCount(0, 0)]),
    }
    source = type("Blind", (), methods)()
    reader = Reader(fake.config, "blind", source)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name: reader)
    for metric in (Storyer(), Aspects(), Aspects(confidence=True), Criteria(), Manplts()):
        for score in metric.score(STORIES[:1]):
            assert (score.status, score.note) == (
                Status.UNDEFINED,
                "the reader sees no token in the text",
            )


def test_preference_and_its_percentile_are_of_the_same_raw_value(fake: Reader) -> None:
    for metric, name in ((Storyer("fake"), "preference"), (Storyer("fake", True), "preference_n")):
        scale, [raw] = fake.config.scales[name], fake.raw(name, [STORIES[3].text])
        value, percentile = metric.score(STORIES[3:4])
        assert (value.aspect, percentile.aspect) == ("", "percentile")
        assert value.value == scale.value(raw)
        assert percentile.value == scale.percentile(raw)
        assert 0 <= percentile.value <= 100


def test_with_an_interval_the_table_says_how_sure_the_preference_is(fake: Reader) -> None:
    plain = [score.value for score in Storyer("fake").score(STORIES[3:4])]
    scores = Storyer("fake", interval=True).score(STORIES[3:4])
    assert [score.aspect for score in scores] == ["", "percentile", "low", "high", "error"]
    [raw] = fake.raw("preference", [STORIES[3].text])
    # The fake reader's scales have a slope of 1 and a standard error of 0.2.
    wanted = [*plain, *fake.scale("preference").interval(float(raw)), 0.2]
    assert [score.value for score in scores] == wanted
    assert scores[2].value < scores[1].value < scores[3].value


def test_weights_without_percentiles_say_so(fake: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    scales = {name: replace(one, percentiles=None) for name, one in fake.config.scales.items()}
    reader = Reader(replace(fake.config, scales=scales), "plain", fake.source)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name: reader)
    value, percentile = Storyer().score(STORIES[:1])
    assert value.ok
    assert percentile.status is Status.UNDEFINED
    assert percentile.note == "the weights tell no percentiles"


def test_aspects_are_those_of_the_data_and_shares_sum_to_one(fake: Reader) -> None:
    ratings = Aspects("fake").score(STORIES[:1])
    assert tuple(score.aspect for score in ratings) == ASPECTS
    assert all(1 <= score.value <= 5 for score in ratings)
    shares = [score.value for score in Aspects("fake", True).score(STORIES[:1])]
    raws = [fake.raw(f"confidence.{name}", [STORIES[0].text])[0] for name in ASPECTS]
    total = sum(map(math.exp, raws))
    assert shares == pytest.approx([math.exp(raw) / total for raw in raws])


def test_a_scale_that_the_weights_lack_is_for_the_user_to_mend(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(replace(fake.config, scales={}), "bare", fake.source)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name: reader)
    with pytest.raises(SettingError, match="the weights bare have no scale 'union'"):
        Union().score(STORIES[:1])
