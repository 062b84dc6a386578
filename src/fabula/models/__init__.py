"""Floor 2: models, one backend per file, and the files they need.

The asset store and the catalogue need only the standard library; a backend loads what it needs.
"""

from fabula.models._archive import export_assets, import_assets
from fabula.models._asset import Asset, AssetError, asset, asset_names
from fabula.models._convert import missing_package
from fabula.models._load import MODELS, load_model, model_spec, need
from fabula.models._pooled import PooledBert, pooled_bert
from fabula.models._store import (
    Check,
    add,
    find,
    megabytes,
    path_of,
    pull,
    remove,
    replacing,
    store,
    verify,
)
from fabula.models._threads import thread_limit
from fabula.models._vector_cache import clear_vectors, vectors_size
from fabula.models._vector_cache import default_folder as vectors_folder

__all__ = [
    "MODELS",
    "Asset",
    "AssetError",
    "Check",
    "PooledBert",
    "add",
    "asset",
    "asset_names",
    "clear_vectors",
    "export_assets",
    "find",
    "import_assets",
    "load_model",
    "megabytes",
    "missing_package",
    "model_spec",
    "need",
    "path_of",
    "pooled_bert",
    "pull",
    "remove",
    "replacing",
    "store",
    "thread_limit",
    "vectors_folder",
    "vectors_size",
    "verify",
]
