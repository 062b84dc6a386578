"""A home of its own for every test, and metrics and stories made for tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabula.core.metric import Metric
from fabula.core.story import Story
from fakes.factories import forget_assets

HERE = Path(__file__).parent
TOYS = ("buggy", "counted", "fussy", "slow", "spread")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty `FABULA_HOME`, so that nobody's own cache is touched."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    forget_assets()
    yield tmp_path / "home"
    forget_assets()


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Metric]:
    """Makes a metric of `toys` by its name; worker processes find it too."""
    monkeypatch.syspath_prepend(str(HERE))
    from toys.buggy import Buggy
    from toys.counted import Counted
    from toys.fussy import Fussy
    from toys.slow import Slow
    from toys.spread import Spread

    Counted.asked.clear()
    made = {"buggy": Buggy, "counted": Counted, "fussy": Fussy, "slow": Slow, "spread": Spread}
    return lambda name, **settings: made[name](**settings)


@pytest.fixture
def toy_environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command line knows the toys, as an installed package's."""
    info = tmp_path / "installed" / "toys-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    entries = "".join(f"{name} = toys.{name}\n" for name in TOYS)
    (info / "entry_points.txt").write_text(f"[fabula.metrics]\n{entries}")
    paths = [str(HERE), str(info.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def stories() -> list[Story]:
    """Seventy stories by three systems, so that they fill more than two chunks; some are odd."""
    return [
        Story(
            f"s{number}",
            "" if number == 5 else f"Story {number} " + "goes on and on. " * (number % 7),
            references=() if number % 11 == 3 else (f"Story {number} goes on.",),
            system="abc"[number % 3],
            item=str(number // 3),
        )
        for number in range(70)
    ]
