"""The metric ruber: what it needs, what it reads, and what it says without weights."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import SettingError, UnknownName
from fabula.core.metric import Metric
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.learned import ruber
from fabula.learned.ruber_model.network import Bounds, cosine, load_ruber, probabilities
from fabula.models.reading.state_cache import LruCache
from fakes.tiny_ruber import write_ruber

PROMPT = "A lighthouse keeper finds a letter."
TALE = "The keeper found a letter in the lamp. He read it twice, and put out the light."
OTHER = "Nobody had asked the baker for bread since the war."


class Blind:
    """The fake encoder, but for a text of a zero-width blank, in which it sees no token."""

    def __init__(self) -> None:
        self.seeing = load_ruber("fake").encoder
        self.width, self.signature = self.seeing.width, "blind"

    def states(self, texts, layers):
        return self.seeing.states([text.replace("\u200b", "") for text in texts], layers)


@pytest.fixture
def blind(monkeypatch):
    model = replace(load_ruber("fake"), encoder=Blind(), _cache=LruCache(9))
    monkeypatch.setattr(ruber, "load_ruber", lambda name: model)


def metric(how: str = "unreferenced", **settings: object) -> Metric:
    return ruber.Ruber(weights="fake", how=how, **settings)  # type: ignore[arg-type]


def score_of(one: Metric, text: str = TALE, prompt: str | None = PROMPT, *references: str) -> Score:
    [score] = one.score([Story("s", text, prompt, references)])
    return score


def test_by_default_it_needs_a_prompt_and_no_reference():
    assert score_of(metric()).status is Status.OK
    assert score_of(metric(), TALE, None).status is Status.MISSING_PROMPT


def test_the_referenced_part_needs_a_reference_and_no_prompt():
    one = metric("referenced")
    assert score_of(one, TALE, None, OTHER).status is Status.OK
    assert score_of(one).status is Status.MISSING_REFERENCE


def test_the_hybrid_needs_both():
    one = metric("hybrid")
    assert score_of(one).status is Status.MISSING_REFERENCE
    assert score_of(one, TALE, None, OTHER).status is Status.MISSING_PROMPT
    assert score_of(one, TALE, PROMPT, OTHER).status is Status.OK


def test_the_unreferenced_part_is_what_the_network_says_of_pooled_states():
    model = load_ruber("fake")
    states = list(model.encoder.states([PROMPT, TALE], [1]))
    q, r = (one.states[0, 1:-1].max(axis=0)[None].astype(np.float32) for one in states)
    assert score_of(metric()).value == pytest.approx(probabilities(model.weights, q, r)[0])


def test_a_story_that_is_its_reference_has_the_cosine_one():
    assert score_of(metric("referenced"), TALE, PROMPT, TALE).value == pytest.approx(1.0)


def test_the_nearest_reference_counts_and_one_without_a_token_does_not(blind):
    one = metric("referenced")
    far, near = (score_of(one, TALE, PROMPT, text).value for text in (OTHER, TALE))
    assert score_of(one, TALE, PROMPT, OTHER, TALE).value == near > far
    assert score_of(one, TALE, PROMPT, "\u200b", OTHER).value == far


def test_the_hybrid_is_the_mean_of_both_parts_between_their_bounds(tmp_path):
    folder = write_ruber(tmp_path, unreferenced=Bounds(0.2, 0.8), referenced=Bounds(0.5, 0.9))
    parts = {
        how: score_of(ruber.Ruber(str(folder), how), TALE, PROMPT, OTHER).value
        for how in ("unreferenced", "referenced", "hybrid")
    }
    first = min(max((parts["unreferenced"] - 0.2) / 0.6, 0.0), 1.0)
    second = min(max((parts["referenced"] - 0.5) / 0.4, 0.0), 1.0)
    assert parts["hybrid"] == pytest.approx((first + second) / 2)


def test_texts_without_a_token_are_undefined(blind):
    for how in ("unreferenced", "referenced", "hybrid"):
        score = score_of(metric(how), "\u200b", PROMPT, OTHER)
        assert score.status is Status.UNDEFINED
        assert "no token" in score.note
    assert score_of(metric(), TALE, "\u200b").status is Status.UNDEFINED
    assert score_of(metric("referenced"), TALE, PROMPT, "\u200b").status is Status.UNDEFINED


def test_compat_reads_500_tokens_and_says_how_much_that_is():
    long = "word " * 996
    whole, cut = score_of(metric(), long), score_of(metric(compat=True), long)
    assert whole.coverage == 1.0
    assert cut.coverage == pytest.approx(0.5, abs=0.002)
    assert score_of(metric(compat=True)).value == score_of(metric()).value


def test_a_story_does_not_change_with_its_neighbours():
    one = metric("hybrid")
    stories = [Story(str(n), TALE[n:], PROMPT[n:], (OTHER[n:],)) for n in range(6)]
    together = [score.value for score in one.score(stories)]
    assert together == [one.score([story])[0].value for story in stories]
    assert pickle.loads(pickle.dumps(one)).score(stories)[0].value == together[0]


def test_weights_that_are_not_here_give_a_status_and_a_command(monkeypatch):
    from fabula.core.errors import UserError

    def absent(name: str) -> None:
        raise UserError("asset 'ruber' is not here", "run: fabula models pull ruber")

    monkeypatch.setattr(ruber, "load_ruber", absent)
    score = score_of(ruber.Ruber())
    assert score.status is Status.MISSING_MODEL
    assert "run: fabula models pull ruber" in score.note
    assert "missing" in ruber.Ruber().identity


def test_weights_that_nobody_knows_are_refused():
    with pytest.raises(UnknownName, match="rubber"):
        score_of(ruber.Ruber("rubber"))
    with pytest.raises(SettingError, match="names no weights"):
        ruber.Ruber(" ")


def test_a_folder_without_a_training_says_which_command_makes_one(tmp_path):
    score = score_of(ruber.Ruber(str(tmp_path)))
    assert score.status is Status.MISSING_MODEL
    assert "fabula train ruber" in score.note


def test_a_story_unlike_those_learned_from_says_so_in_its_note(tmp_path):
    from fabula.learned.reader.domain import describe_domain

    folder = write_ruber(tmp_path, domain=describe_domain(["one two three four five"] * 4))
    assert (
        "the reader learned from stories of 5 to 5 words" in score_of(ruber.Ruber(str(folder))).note
    )


def test_the_signature_holds_the_digest_of_the_weights_and_the_encoder(tmp_path):
    one, other = (write_ruber(tmp_path / str(seed), seed=seed) for seed in (1, 2))
    found = [ruber.Ruber(str(folder)).identity for folder in (one, other)]
    assert "fake,width=16" in found[0]
    assert found[0].split("|")[1] != found[1].split("|")[1]


def test_cosines_and_bounds_by_hand():
    assert cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0])) == pytest.approx(24 / 25)
    assert cosine(np.zeros(2), np.ones(2)) == 0.0
    assert math.isnan(cosine(np.array([math.nan, 1.0]), np.ones(2)))
    assert [Bounds(0.2, 0.6).place(value) for value in (0.0, 0.3, 0.9)] == pytest.approx(
        [0.0, 0.25, 1.0]
    )
