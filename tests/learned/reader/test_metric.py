"""What all metrics that load weights do alike, and what each makes of its scales."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from fabula.learned.writers import Writers
from fabula.models import _load
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import METRICS, choose_metrics
from fabula.scoring.evaluate import evaluate
from fakes.contract_specs import full_story

NAMES = [
    "aspects", "coherence", "criteria", "manplts", "rovist_c", "storyer", "union", "writers",
]  # fmt: skip
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
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
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
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
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
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
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
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
    with pytest.raises(SettingError, match="the weights bare have no scale 'union'"):
        Union().score(STORIES[:1])


def _with_records(fake: Reader, changed: dict[str, dict[str, Any]]) -> Reader:
    """A reader whose record says that aspects agree well on 200 stories, but for those changed."""
    scales, record = dict(fake.config.scales), {}
    for name in ASPECTS:
        for scale in (f"aspects.{name}", f"confidence.{name}"):
            record[scale] = {scale: {"figure": "spearman", "value": 0.5, "n": 200}}
    for name, change in changed.items():
        change = dict(change)
        if (value := change.pop("value", None)) is not None:
            record[name] = {name: {"figure": "spearman", "value": value, "n": 200}}
        scales[name] = replace(scales[name], **change)
    training = {"validation": {"scales": record}}
    return Reader(replace(fake.config, scales=scales, training=training), "known", fake.source)


def test_an_aspect_that_cannot_be_told_from_the_prior_is_missing_and_says_why(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = {"terms": fake.config.scales["aspects.sad"].terms}
    changed = {
        "aspects.ending": {"slope": 0.0},
        "aspects.novelty": {"value": 0.05},
        "aspects.horror": same,
    }
    reader = _with_records(fake, changed)
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
    by_aspect = {score.aspect: score for score in Aspects().score(STORIES[:1])}
    missing = {name: score.note for name, score in by_aspect.items() if not score.ok}
    assert missing == {
        "ending": "it is the same for nearly every story",
        "novelty": "its agreement with readers may be chance (0.05 on 200 stories that it had not "
        "seen)",
        "sad": "it would be the same number as horror",
        "horror": "it would be the same number as sad",
    }
    assert all(by_aspect[name].status is Status.UNDEFINED for name in missing)
    values = [score.value for score in by_aspect.values() if score.ok]
    assert len(values) == 6 == len(set(values))
    assert all(score.ok and not score.note for score in Aspects(guesses=True).score(STORIES[:1]))


def test_shares_that_hardly_move_are_missing_and_the_others_stay_as_they_were(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = _with_records(fake, {f"confidence.{name}": {"slope": 0.0} for name in ASPECTS[1:]})
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: reader)
    first, *others = Aspects(confidence=True).score(STORIES[:1])
    assert first.ok and {score.status for score in others} == {Status.UNDEFINED}
    assert first.value == Aspects(confidence=True, guesses=True).score(STORIES[:1])[0].value


@pytest.mark.assets
def test_our_weights_have_no_aspect_to_tell_and_the_table_holds_no_number() -> None:
    scores = Aspects().score(STORIES[:1])
    told = {aspect for aspect, why in Aspects().doubts().items() if not why}
    assert {score.aspect for score in scores if score.ok} == told
    assert all(score.note for score in scores if not score.ok)


def _reader_of(fake: Reader, name: str, **scales: dict[str, Any]) -> Reader:
    """A reader that says what the fake one says, with some scales changed."""
    changed = {key: replace(fake.config.scales[key], **change) for key, change in scales.items()}
    return Reader(replace(fake.config, scales=fake.config.scales | changed), name, fake.source)


def _use(monkeypatch: pytest.MonkeyPatch, **readers: Reader) -> None:
    monkeypatch.setattr(learned_metric, "load_reader", lambda name, **_: readers[name])


def test_writers_score_from_one_to_ten_and_have_a_percentile(fake: Reader) -> None:
    scores = Writers("fake").score(STORIES)
    values = [score.value for score in scores if not score.aspect]
    assert all(3 <= value <= 7 for value in values) and len(set(values)) > 30
    [raw] = fake.raw("writers", [STORIES[0].text])
    assert values[0] == raw + 5
    assert scores[1].value == fake.scale("writers").percentile(raw)


def test_weights_that_no_writer_taught_have_no_value_and_the_note_says_why(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    scales = {name: scale for name, scale in fake.config.scales.items() if name != "writers"}
    _use(monkeypatch, permissive=Reader(replace(fake.config, scales=scales), "lay", fake.source))
    for score in Writers(interval=True).score(STORIES[:2]):
        assert score.status is Status.MISSING_MODEL
        assert score.note.startswith("the weights permissive have not learned it; they tell: ")
        assert score.note.endswith("name weights with a scale `writers`")


def test_both_weights_give_the_mean_and_say_where_they_disagree(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The large reader's raw preference is 1.5 lower: 37.5 percentiles, where none is at an end.
    points = tuple(point + 1.5 for point in fake.config.scales["preference"].percentiles or ())
    empathy = {"shift": 4.2}
    large = _reader_of(
        fake, "large", preference={"percentiles": points}, **{"criteria.empathy": empathy}
    )
    small = {"preference": fake, "reader": fake, "coherence": fake}
    _use(monkeypatch, **small, large=large, coherence_mpnet=large)
    apart = 0
    for story in STORIES:
        value, percentile = Storyer("both").score([story])
        [raw] = fake.raw("preference", [story.text])
        places = fake.scale("preference").percentile(raw), large.scale("preference").percentile(raw)
        assert percentile.value == pytest.approx(np.mean(places))
        assert value.value == fake.scale("preference").value(raw)
        much = abs(places[0] - places[1]) > 30
        words = f"disagree (percentile {places[0]:.3g} and {places[1]:.3g})"
        assert percentile.note == (f"the small and the large weights {words}" if much else "")
        apart += much
    assert 0 < apart < len(STORIES)
    ratings = {score.aspect: score for score in Criteria("both").score(STORIES[:1])}
    alone = {score.aspect: score.value for score in Criteria("reader").score(STORIES[:1])}
    high = min(alone["empathy"] + 1.2, 5)
    assert ratings["empathy"].value == pytest.approx((alone["empathy"] + high) / 2)
    assert ratings["surprise"].value == alone["surprise"]
    assert ratings["surprise"].note == (
        f"the small and the large weights disagree (empathy {alone['empathy']:.3g} and {high:.3g})"
    )
    assert "|reader:fake,features=1+large|" in Criteria("both").signature()
    assert all(score.ok and not score.note for score in Coherence("both").score(STORIES))


def test_by_large_every_metric_means_its_own_large_weights(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, large=fake, coherence_mpnet=replace(fake, signature="mpnet"))
    assert "|reader:mpnet|" in Coherence("large").signature()
    assert "|reader:fake,features=1|" in Storyer("large").signature()
    assert Coherence("large").spec == "coherence(weights='large')"


def test_of_both_weights_those_that_have_not_learned_it_are_not_asked(
    fake: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    scales = {"preference": fake.config.scales["preference"]}
    large = Reader(replace(fake.config, scales=scales), "large", fake.source)
    _use(monkeypatch, coherence=fake, coherence_mpnet=large)
    [score] = Coherence("both").score(STORIES[:1])
    assert score.value == Coherence("coherence").score(STORIES[:1])[0].value
    assert score.note == "of both weights only coherence have learned it"
    _use(monkeypatch, permissive=large, large=fake)
    assert not Writers("both").absence and Writers("permissive").absence
    assert (
        Writers("both").score(STORIES[:1])[0].note == "of both weights only large have learned it"
    )


def test_both_weights_are_refused_where_there_are_no_two() -> None:
    for metric in (Union, Manplts, Aspects):
        with pytest.raises(SettingError, match="weights='both' is not for it; name one of them"):
            metric(weights="both")
