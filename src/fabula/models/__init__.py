"""Models and the files they need; the asset store needs only the standard library."""

from fabula.models._archive import export_assets, import_assets
from fabula.models._asset import Asset, AssetError, asset, asset_names
from fabula.models._store import (
    Check,
    find,
    megabytes,
    path_of,
    pull,
    remove,
    replacing,
    store,
    verify,
)

__all__ = [
    "Asset",
    "AssetError",
    "Check",
    "asset",
    "asset_names",
    "export_assets",
    "find",
    "import_assets",
    "megabytes",
    "path_of",
    "pull",
    "remove",
    "replacing",
    "store",
    "verify",
]
