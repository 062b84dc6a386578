"""Assets that are read where they lie: the user's own folders and the project's own weights."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from fabula.models._asset import Asset, AssetError, OursPlace
from fabula.models._manifest import is_whole

SOURCE = Path(__file__).resolve().parents[2]


def own_candidate(wanted: Asset) -> Path | None:
    """First folder of that name in the user's `FABULA_ASSETS`, its content unchecked."""
    roots = os.environ.get("FABULA_ASSETS", "").split(os.pathsep)
    folders = (Path(root).expanduser().absolute() / wanted.name for root in roots if root)
    return next((folder for folder in folders if folder.is_dir()), None)


def own_folder(wanted: Asset) -> Path | None:
    """The user's own folder of an asset; one with other content is an error."""
    return _checked(
        own_candidate(wanted), wanted, "mend that folder or take it out of FABULA_ASSETS"
    )


def ours_candidate(wanted: Asset) -> Path | None:
    """Folder of an asset among the project's own weights, its content unchecked."""
    places = (place for place in wanted.places if isinstance(place, OursPlace))
    folders = (folder for place in places for folder in _lies_in(place))
    return next((folder for folder in folders if folder.is_dir()), None)


def ours_folder(wanted: Asset) -> Path | None:
    """Folder of an asset among the project's own weights; other content is an error."""
    place = next((one for one in wanted.places if isinstance(one, OursPlace)), None)
    remedy = f"run: pip install --upgrade {place.distribution}" if place else ""
    return _checked(ours_candidate(wanted), wanted, remedy)


def _lies_in(place: OursPlace) -> list[Path]:
    """Where the project's own weights may be: in the clone that we run from, or installed."""
    clone = SOURCE.parent / "weights"
    roots = [clone / place.package, clone / "src" / place.package] if SOURCE.name == "src" else []
    if (installed := find_spec(place.package)) is not None:
        roots += map(Path, installed.submodule_search_locations or ())
    return [root / place.folder for root in roots]


def _checked(folder: Path | None, wanted: Asset, remedy: str) -> Path | None:
    if folder is None or is_whole(folder, wanted, fresh=False):
        return folder
    reason = "and its manifest do not agree" if wanted.convert else "has another digest"
    raise AssetError(f"{folder} is not the asset {wanted.name!r}: its content {reason}", remedy)
