"""What all metrics that ask a model do alike, whichever model it is."""

from __future__ import annotations

import pickle
import sys

import pytest

from fabula.core.errors import SettingError, UserError
from fabula.core.score import Status
from fabula.metrics.perplexity import Perplexity
from fabula.models import _load, get_asset
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.contract_specs import WITH_WEIGHTS, faked, full_story

STORIES = [
    full_story(f"Tale {number} goes on. It ends.", "It went on to Paris.", id=f"{number}")
    for number in range(40)
]


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A home where nothing was pulled, a machine without a network, and nothing loaded."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    monkeypatch.setenv("FABULA_ASSETS", "")
    monkeypatch.setattr(_load, "_loaded", {})
    monkeypatch.setattr("fabula.models.store.folder.ours_folder", lambda wanted: None)
    return tmp_path


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_a_model_that_is_not_here_is_a_reason_that_names_the_command(bare, name):
    metric = METRICS.build(name)
    scores = metric.score(STORIES[:2])
    assert {score.status for score in scores} == {Status.MISSING_MODEL}
    [note] = {score.note for score in scores}
    asset = next((one for one in metric.card.assets if one in metric.model), None)
    command = f"fabula models pull {asset}" if asset else "hf download"
    if asset and get_asset(asset).is_ours:
        command = "pip install ./weights"
    assert command in note
    assert "\n" not in note
    assert "|model:missing|" in metric.signature()


def test_a_package_that_is_not_here_is_a_reason_that_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    metric = METRICS.build("moverscore(model='fake()', layer=1)")
    [score] = metric.score(STORIES[:1])
    assert score.status is Status.MISSING_MODEL
    assert score.note == "POT is not installed; run: pip install -e '.[models]'"


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_the_score_of_a_missing_model_is_not_kept(bare, name):
    path = bare / "scores.sqlite"
    scores = list(evaluate(STORIES[:2], name, cache=path))
    assert {score.status for score in scores} == {Status.MISSING_MODEL}
    with ScoreCache(path) as cache:
        assert len(cache) == 0


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_an_empty_text_says_so_before_any_model_is_asked(bare, name):
    [status] = {score.status for score in METRICS.build(name).score([full_story(" ", "A.")])}
    assert status is Status.EMPTY_TEXT


@pytest.mark.assets
def test_a_model_that_does_not_offer_what_is_needed_is_one_line():
    with pytest.raises(SettingError, match="is no likelihood; take another model") as caught:
        Perplexity(model="embedded('minilm')").score(STORIES[:1])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("fak()", "did you mean 'fake'"),
        ("fake(size=3)", "fake has no setting 'size'"),
        ("fake(window=2)", "window"),
        ("fake(", "fake"),
    ],
)
def test_a_model_that_is_not_spelled_right_is_refused_when_the_metric_is_made(model, message):
    with pytest.raises(UserError, match=message) as caught:
        Perplexity(model=model)
    assert "\n" not in str(caught.value)


def test_a_model_is_spelled_in_full_and_so_is_the_spec():
    assert Perplexity(model="smollm2") == Perplexity(model="embedded('smollm2')") == Perplexity()
    assert Perplexity(model="smollm2").spec == "perplexity"


def test_an_asset_that_does_not_exist_is_refused_with_the_closest():
    with pytest.raises(UserError, match="did you mean 'smollm2'"):
        Perplexity(model="embedded('smollm')").score(STORIES[:1])


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_the_signature_holds_the_model_s(name):
    metric = faked(METRICS.build(name))
    assert "|model:fake,width=16,layers=3,window=None,seed=0|" in metric.signature()


def test_models_of_other_settings_have_other_signatures_and_values():
    one, other = Perplexity(model="fake()"), Perplexity(model="fake(seed=1)")
    assert one.signature() != other.signature()
    assert one.score(STORIES[:1])[0].value != other.score(STORIES[:1])[0].value


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_a_metric_travels_without_its_model(name):
    metric = faked(METRICS.build(name))
    first = metric.score(STORIES[:3])
    again = pickle.loads(pickle.dumps(metric))
    assert set(vars(again)) == set(metric.__getstate__()) < set(vars(metric))
    assert again.score(STORIES[:3]) == first


def test_two_processes_find_what_one_finds():
    specs = [faked(METRICS.build(name)).spec for name in WITH_WEIGHTS]
    alone = list(evaluate(STORIES, specs, cache=None))
    shared = list(evaluate(STORIES, specs, cache=None, jobs=2))
    assert alone == shared
    assert all(score.ok for score in alone)
