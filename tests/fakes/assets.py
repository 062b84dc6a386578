"""Assets of the store that tests marked `assets` read."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.models import AssetError, path_of


def need_asset(name: str) -> Path:
    """Give the folder of an asset; where it is not in the store, skip and say how to get it.

    Whatever else goes wrong fails the test.
    """
    try:
        return path_of(name)
    except AssetError as error:
        pytest.skip(str(error))
