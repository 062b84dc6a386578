"""Floor 2: models, one backend per file, and the files they need.

The asset store and the catalogue need only the standard library; a backend loads what it needs.
"""

from fabula.models._load import MODELS, load_model, model_spec, need
from fabula.models._runtime import one_thread, thread_limit
from fabula.models.reading.pictures import PictureError, PictureReader, choose_best, crop
from fabula.models.reading.state_cache import clear_vectors, vectors_folder, vectors_size
from fabula.models.store.archive import export_assets, import_assets
from fabula.models.store.asset import Asset, AssetError, asset_names, get_asset
from fabula.models.store.convert import missing_package
from fabula.models.store.folder import (
    Check,
    add,
    find,
    format_size,
    path_of,
    pull,
    remove,
    repull_command,
    store_folder,
    verify,
)

__all__ = [
    "MODELS",
    "Asset",
    "AssetError",
    "Check",
    "PictureError",
    "PictureReader",
    "add",
    "asset_names",
    "choose_best",
    "clear_vectors",
    "crop",
    "export_assets",
    "find",
    "format_size",
    "get_asset",
    "import_assets",
    "load_model",
    "missing_package",
    "model_spec",
    "need",
    "one_thread",
    "path_of",
    "pull",
    "remove",
    "repull_command",
    "store_folder",
    "thread_limit",
    "vectors_folder",
    "vectors_size",
    "verify",
]
