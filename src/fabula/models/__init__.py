"""Floor 2: models, one backend per file, and the files they need.

The asset store and the catalogue need only the standard library; a backend loads what it needs.
"""

from fabula.models._archive import export_assets, import_assets
from fabula.models._asset import Asset, AssetError, asset, asset_names
from fabula.models._load import MODELS, load_model, model_spec, need
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
    "MODELS",
    "Asset",
    "AssetError",
    "Check",
    "asset",
    "asset_names",
    "export_assets",
    "find",
    "import_assets",
    "load_model",
    "megabytes",
    "model_spec",
    "need",
    "path_of",
    "pull",
    "remove",
    "replacing",
    "store",
    "verify",
]
