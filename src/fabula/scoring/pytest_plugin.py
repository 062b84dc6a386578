"""The pytest plug-in: a fixture with which tests of a story generator look at its stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(name="assert_story")
def assert_story_fixture() -> Callable[..., None]:
    """Check a story: `assert_story(text, "distinct(n=2) >= 0.5")`."""
    # pytest imports this file whenever it starts; Fabula comes when a test asks for it.
    from fabula.scoring.assertions import assert_story

    return assert_story
