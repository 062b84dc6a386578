from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.metrics.bartscore import Bartscore
from fabula.metrics.model_metric import seq2seq
from fabula.models import _load
from fakes.factories import usual_text
from fakes.scripted_model import blind_to, tell, told_logs
from fakes.tiny_models import save_bart, save_t5, torch

STORY = "The old sailor saw a light at sea."
HUMAN = "They went home, and the dog ran away."
OTHER = "she said : never again !"
PROMPT = "A sailor in the winter night."
PAIRS = {
    "SH": (STORY, HUMAN),
    "HS": (HUMAN, STORY),
    "PS": (PROMPT, STORY),
    "SP": (STORY, PROMPT),
}


def make(text: str = STORY, *references: str, prompt: str | None = PROMPT) -> Story:
    return Story("s", text, prompt, references)


def scored(metric: Bartscore, story: Story) -> Score:
    [score] = metric.score([story])
    return score


@pytest.fixture(scope="module", params=["bart", "t5"])
def folder(request: Any, tmp_path_factory: Any) -> Path:
    place = tmp_path_factory.mktemp(request.param)
    return save_t5(place) if request.param == "t5" else save_bart(place, positions=512, begin=True)


def minus_loss(folder: Path, source: str, target: str, *, most: int = 10_000) -> float:
    """Minus the mean loss of transformers, the tokeniser's own signs in source and labels."""
    import transformers

    net = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given, labels = (
        torch().tensor([tokenizer(one, truncation=True, max_length=most)["input_ids"]])
        for one in (source, target)
    )
    with torch().no_grad():
        return -float(net(given, labels=labels).loss)


@pytest.mark.parametrize("use", PAIRS)
def test_a_score_is_minus_the_loss_of_teacher_forcing(folder: Path, use: Any) -> None:
    metric = Bartscore(model=f"huggingface('{folder}')", use=use)
    expected = minus_loss(folder, *PAIRS[use])
    assert scored(metric, make(STORY, HUMAN)).value == pytest.approx(expected, abs=1e-5)


def test_compat_cuts_both_texts_with_their_signs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bartscore, "most_tokens", 12)
    story, human = f"{STORY} {OTHER} {STORY}", f"{HUMAN} {STORY}"
    compat = Bartscore(model=f"huggingface('{folder}')", compat=True)
    found = scored(compat, make(story, human))
    assert found.value == pytest.approx(minus_loss(folder, human, story, most=12), abs=1e-5)
    assert 0 < found.coverage < 1
    whole = scored(Bartscore(model=f"huggingface('{folder}')"), make(story, human))
    assert whole.value == pytest.approx(minus_loss(folder, human, story), abs=1e-5)
    assert whole.coverage == 1.0


def test_signs_count_among_the_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    # (log 0.5 + log 0.25 + log 0.8 + log 0.1) / 4 = log 0.01 / 4.
    logs = told_logs(("a", 0.5), ("b", 0.25), added=(math.log(0.8), math.log(0.1)))
    model = tell(monkeypatch, logs)
    assert scored(Bartscore(), make("a b", "c")).value == pytest.approx(math.log(0.01) / 4)
    assert model.asked == [("c", "a b")]


def test_of_several_references_the_mean_counts_or_the_best() -> None:
    one, other = (
        scored(Bartscore(model="fake()"), make(STORY, text)).value for text in (HUMAN, OTHER)
    )
    assert one != other
    both = make(STORY, HUMAN, " ", OTHER)
    assert scored(Bartscore(model="fake()"), both).value == pytest.approx((one + other) / 2)
    assert scored(Bartscore(model="fake()", several="max"), both).value == max(one, other)


@pytest.mark.parametrize(
    ("use", "status"),
    [(use, "missing_reference") for use in ("HS", "SH")]
    + [(use, "missing_prompt") for use in ("PS", "SP")],
)
def test_what_a_story_needs_depends_on_the_use(use: Any, status: str) -> None:
    metric = Bartscore(model="fake()", use=use)
    lacking = make(STORY, " ") if "H" in use else make(STORY, HUMAN, prompt=" \n")
    found = scored(metric, lacking)
    assert found.status == status
    assert found.note.startswith("give the story a ")
    assert scored(metric, make(" ", HUMAN)).status is Status.EMPTY_TEXT
    serving = make(STORY, HUMAN, prompt=None) if "H" in use else make(STORY)
    assert scored(metric, serving).ok


def test_a_target_without_a_token_is_undefined_but_another_may_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blind_to(monkeypatch, "\u200b")
    metric = Bartscore(model="fake()", use="SH")
    found = scored(metric, make(STORY, "\u200b"))
    assert (found.status, found.note) == (
        Status.UNDEFINED,
        "the model sees no token in the target",
    )
    assert scored(metric, make(STORY, "\u200b", HUMAN)) == scored(metric, make(STORY, HUMAN))


def test_a_source_that_was_read_is_likely_to_come_again() -> None:
    metric = Bartscore(model="fake()")
    same, other = (scored(metric, make(STORY, text)).value for text in (STORY, OTHER))
    assert other < same < 0


def test_texts_over_the_limit_are_too_long_and_shorter_references_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seq2seq, "_MOST_PAIRS", 100_000)
    metric, long = Bartscore(model="fake()"), usual_text(5_000, seed=1)
    found = scored(metric, make(STORY, long))
    assert found.status is Status.TOO_LONG
    # The story has 34 characters.
    assert found.note == ("5,000 × 34 characters of source and target: over the limit of 100,000")
    assert scored(metric, make(STORY, HUMAN, long)) == scored(metric, make(STORY, HUMAN))


@pytest.mark.parametrize("settings", [{"use": "HH"}, {"several": "min"}, {"use": "hs"}], ids=str)
def test_settings_that_will_not_do_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="will not do; give one of"):
        Bartscore(**settings)


class NoHub:
    """The hub's client where nothing was fetched and nothing can be."""

    __spec__ = object()

    @staticmethod
    def snapshot_download(name: str, **settings: Any) -> str:
        raise OSError("no route")


@pytest.mark.parametrize("offline", ["1", "0"])
def test_weights_that_are_not_here_are_a_reason_that_names_the_command(
    offline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_load, "_loaded", {})
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("FABULA_OFFLINE", offline)
    monkeypatch.setitem(sys.modules, "huggingface_hub", NoHub())
    found = scored(Bartscore(), make(STORY, HUMAN))
    assert found.status is Status.MISSING_MODEL
    assert "run: hf download facebook/bart-large-cnn --include" in found.note
    assert "\n" not in found.note
    assert "|model:missing|" in Bartscore().signature()


def test_a_model_reads_as_much_at_once_as_the_original() -> None:
    assert Bartscore().model.endswith("window=1024)")
    assert Bartscore(use="SH", compat=True).spec == "bartscore(use='SH', compat=True)"
