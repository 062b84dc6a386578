"""What trainings on games leave behind: losses of entries, read again and compared."""

from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError
from fabula.learned.training.author_figures import (
    FIGURES,
    AuthorFigures,
    EntryLosses,
    estimate_perplexity,
    estimate_ratio,
    pair_entries,
    read_figures,
)

LOG_2, LOG_8 = math.log(2), math.log(8)


def losses_of(*rows: tuple[str, str, int, float], whole: bool = True) -> EntryLosses:
    games, entries, tokens, losses = zip(*rows, strict=True)
    return EntryLosses(games, entries, tokens, losses, (whole,) * len(rows))


def figures_of(losses: EntryLosses, **changes) -> AuthorFigures:
    settings = {"packing": "cassowary", "history": 1, "budget": 1024, "seed": 3, "loss": "story"}
    settings |= {"segments": "own", "model": "tiny", "parts": {"test": losses}}
    return AuthorFigures(**(settings | changes))


def test_perplexity_is_that_of_a_token_not_of_an_entry():
    losses = losses_of(("a", "1", 3, 3 * LOG_2), ("b", "1", 1, LOG_8))
    # (3 log 2 + log 8) / 4 = 6/4 log 2
    assert estimate_perplexity(losses).value == pytest.approx(2**1.5)
    assert estimate_perplexity(losses).n == 2


def test_few_games_have_no_interval_and_alike_ones_none_of_any_width():
    few = losses_of(*((f"g{n}", "1", 2, 2 * LOG_2) for n in range(4)))
    assert math.isnan(estimate_perplexity(few).low)
    alike = losses_of(*((f"g{n}", "1", 2, 2 * LOG_2) for n in range(9)))
    found = estimate_perplexity(alike)
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))
    assert math.isnan(estimate_perplexity(EntryLosses()).value)


def test_trainings_are_compared_on_entries_that_both_showed_whole():
    one = losses_of(*((f"g{n}", "1", 2, 2 * LOG_2) for n in range(6)))
    cut = EntryLosses(("g0",), ("2",), (9,), (9.0,), (False,))
    both = EntryLosses(
        one.games + cut.games, one.entries + cut.entries, one.tokens + cut.tokens,
        one.losses + cut.losses, one.whole + cut.whole,
    )  # fmt: skip
    other = losses_of(*((f"g{n}", "1", 2, 2 * LOG_8) for n in reversed(range(6))), ("z", "1", 1, 1))
    first, second = pair_entries(both, other)
    assert first.games == second.games == tuple(f"g{n}" for n in range(6))
    ratio = estimate_ratio(both, other)
    assert (ratio.value, ratio.high, ratio.n) == (pytest.approx(0.25), pytest.approx(0.25), 6)


def test_other_tokens_of_the_same_entry_are_another_model_s():
    with pytest.raises(InputError, match="other tokens"):
        pair_entries(losses_of(("a", "1", 3, 1.0)), losses_of(("a", "1", 4, 1.0)))


def test_figures_are_read_as_they_were_written(tmp_path):
    figures = figures_of(losses_of(("a", "1", 3, 1.5)), data={"train": {"stories": 2}})
    figures.save(tmp_path / FIGURES)
    assert read_figures(tmp_path) == read_figures(tmp_path / FIGURES) == figures
    assert figures.variant == "cassowary, history 1"


def test_other_files_are_refused(tmp_path):
    file = tmp_path / "other.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="no figures of a training on games"):
        read_figures(file)
    with pytest.raises(InputError, match="differ in length"):
        EntryLosses(("a",), (), (), (), ())
