from __future__ import annotations

import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest

from fabula.core.errors import SettingError, SpecError, UnknownName, UserError
from fabula.core.model import Embedder, Generator, Likelihood
from fabula.models import MODELS, _load, load_model, model_spec, need
from fabula.models.fake import FakeModel
from fakes.watching import watched


class Mute:
    """A model that offers nothing."""

    signature = "mute"


@pytest.fixture
def parrot(monkeypatch: Any) -> list[dict[str, Any]]:
    """A backend of another package, and what it was loaded with."""
    calls: list[dict[str, Any]] = []

    def load(name: str, *, loud: bool = False) -> FakeModel:
        calls.append({"name": name, "loud": loud})
        return FakeModel()

    module = ModuleType("parrots.parrot")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "parrots", ModuleType("parrots"))
    monkeypatch.setitem(sys.modules, "parrots.parrot", module)
    entry = EntryPoint("parrot", "parrots.parrot", "fabula.models")
    monkeypatch.setitem(MODELS.__dict__, "_plugins", {"parrot": entry})
    monkeypatch.setattr(MODELS, "_entries", {})
    monkeypatch.setattr(_load, "_loaded", {})
    return calls


def test_every_backend_is_in_the_catalogue() -> None:
    assert {"api", "fake", "huggingface"} <= set(MODELS.names())


def test_a_model_is_loaded_once_however_it_is_spelled() -> None:
    assert load_model("fake") is load_model("fake()") is load_model("fake( width = 16 )")
    assert load_model("fake(seed=1)") is not load_model("fake")


def test_a_backend_of_another_package_is_found(parrot: list[dict[str, Any]]) -> None:
    assert load_model("parrot('polly', loud=True)") is load_model("parrot(loud=True, name='polly')")
    assert parrot == [{"name": "polly", "loud": True}]


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("fake()", "fake"),
        ("fake(seed = 2, width=16)", "fake(seed=2)"),
        ('parrot("polly")', "parrot('polly')"),
        ("parrot(name='polly', loud=False)", "parrot('polly')"),
        ("parrot('it\\'s', loud=True)", "parrot('it\\'s', loud=True)"),
    ],
)
def test_specs_are_canonical_and_spell_the_same_model(
    parrot: list[dict[str, Any]], spelled: str, canonical: str
) -> None:
    assert model_spec(spelled) == model_spec(canonical) == canonical
    assert parrot == []


def test_threads_that_come_together_load_one_model(parrot: list[dict[str, Any]]) -> None:
    threads = [threading.Thread(target=load_model, args=("parrot('polly')",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(parrot) == 1


@pytest.mark.parametrize(
    ("bare", "full"),
    [
        ("minilm", "embedded('minilm')"),
        ("roberta-large", "huggingface('roberta-large')"),
        ("ann/gpt-small", "huggingface('ann/gpt-small')"),
        ("fake", "fake"),
    ],
)
def test_a_name_alone_is_an_asset_or_a_model_of_a_hub(bare: str, full: str) -> None:
    assert model_spec(bare) == full


@pytest.mark.parametrize(
    ("spelled", "error", "words"),
    [
        ("fak()", UnknownName, "no backend is called 'fak'; did you mean 'fake'?"),
        ("fake(widht=3)", SettingError, "fake has no setting 'widht'; did you mean 'width'?"),
        ("fake(width=True)", SettingError, "width=True will not do; give a whole number"),
        ("parrot", SettingError, "parrot needs name; write parrot(name=…)"),
        ("parrot(3)", SettingError, "name=3 will not do; give a string"),
        ("fake(width=open('x'))", SpecError, "cannot read"),
    ],
)
def test_what_cannot_be_loaded_says_why(
    parrot: list[dict[str, Any]], spelled: str, error: type[UserError], words: str
) -> None:
    with pytest.raises(error) as caught:
        load_model(spelled)
    assert words in str(caught.value)


def test_a_backend_that_failed_is_tried_again(parrot: list[dict[str, Any]]) -> None:
    module = sys.modules["parrots.parrot"]
    good = module.load

    def fail(name: str) -> FakeModel:
        raise UserError("no parrot is here")

    module.load = fail  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="no parrot is here"):
        load_model("parrot('polly')")
    module.load = good  # type: ignore[attr-defined]
    MODELS._entries.clear()
    assert load_model("parrot('polly')") is not None


def test_whoever_watches_is_told_that_a_model_loads_once(parrot: list[dict[str, Any]]) -> None:
    with watched() as watching:
        load_model("parrot('polly')")
        load_model("parrot('polly')")
    assert watching.told == ["loading parrot('polly')"]


def test_a_module_without_load_is_no_backend(parrot: list[dict[str, Any]]) -> None:
    del sys.modules["parrots.parrot"].load
    with pytest.raises(UserError, match=r"parrots\.parrot defines no function 'load'"):
        load_model("parrot('polly')")


def test_a_model_that_does_not_offer_what_is_needed_is_refused() -> None:
    model = FakeModel()
    assert need(model, Embedder) is model
    with pytest.raises(SettingError, match="mute is no likelihood; take another model"):
        need(Mute(), Likelihood)


def test_a_refusal_says_what_the_model_is() -> None:
    class Writer(Mute):
        def generate(self, prompts: list[str], **settings: Any) -> list[str]:
            return prompts

    assert need(Writer(), Generator)
    with pytest.raises(SettingError, match="this one is: generator"):
        need(Writer(), Embedder)


def test_the_room_is_light() -> None:
    code = "import sys, fabula.models as m; m.MODELS.names(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
