"""The contract of co-authors, over all of the catalogue; those with weights where these are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fabula.authors import AUTHORS, author_spec, load_author
from fabula.core.author import Author
from fabula.core.errors import UserError
from fakes.author_contract import CHECKS

FREE = ["lorem", "lorem(words=5)", "lorem(delay_s=0.0001)"]
WITH_ASSETS = ["embedded"]
# They need a server or a folder of weights: their own tests run the same checks beside one.
ELSEWHERE = {"api", "huggingface", "plan_and_write", "remote", "storium"}

SPECS = [*FREE, *(pytest.param(spec, marks=pytest.mark.assets) for spec in WITH_ASSETS)]


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[[str], Author]]:
    """Start a co-author once for all its checks; all of them end with the last."""
    started: dict[str, Author] = {}

    def start_once(spec: str) -> Author:
        if spec not in started:
            started[spec] = load_author(spec)
            started[spec].startup()
        return started[spec]

    yield start_once
    for author in started.values():
        author.shutdown()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("spec", SPECS)
def test_a_co_author_keeps_the_contract(start, spec, check):
    check(start(spec))


@pytest.mark.parametrize("name", AUTHORS.names())
def test_every_co_author_is_under_contract(name):
    held = {spec.partition("(")[0] for spec in (*FREE, *WITH_ASSETS)} | ELSEWHERE
    assert name in held, "name its spec here, or call its checks where its server is"


@pytest.mark.parametrize("spec", FREE)
def test_a_spec_makes_its_co_author_again(spec):
    assert author_spec(author_spec(spec)) == author_spec(spec)
    assert isinstance(load_author(spec), Author)


@pytest.mark.parametrize("name", AUTHORS.names())
def test_a_setting_that_no_co_author_has_is_refused(name):
    with pytest.raises(UserError):
        load_author(f"{name}(nonsense_setting=1)")
