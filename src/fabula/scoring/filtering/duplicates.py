"""Stories that are nearly others: MinHash, and bands that bring likely pairs together.

Broder (1997): two sets' least hashes are equal as often as the sets overlap, |A ∩ B| / |A ∪ B|. A
story is the set of its runs of five words. Signatures of 128 numbers are cut into bands; only
stories that share a band are compared (Leskovec, Rajaraman and Ullman, Mining of Massive Datasets,
section 3.4), and bands that one story alone has are forgotten on disk, so that memory does not
grow with the run. The overlap is estimated: at .8 its standard error is .035.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.core.protocols import Progress
from fabula.text.words import bare_words

if TYPE_CHECKING:
    from fabula.scoring.lazy_run import LazyRun

Array = np.ndarray[Any, np.dtype[Any]]

SIGNATURE = 128
RUN_WORDS = 5
# So many of the pairs that overlap just enough are to be compared.
_RECALL = 0.999
_BYTES = 4 * SIGNATURE
_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Deduplicated:
    """Places of the stories that stay, and which of them each of the others is nearly."""

    stay: Array
    near: dict[int, int]


def find_duplicates(
    run: LazyRun,
    places: Array,
    *,
    threshold: float,
    ranks: Array,
    seed: int = 0,
    progress: Progress | None = None,
) -> Deduplicated:
    """Go through stories, the best first, and leave out each that is nearly one that stays.

    `places` are those of the stories to look at, ascending; `ranks` say in which order they are
    gone through, the least first. No two that stay overlap by `threshold` or more, and each that
    goes overlaps so with one that stays, as far as signatures tell.
    """
    with TemporaryFile() as signatures:
        bands = _write_signatures(run, places, signatures, threshold, seed, progress)
        near = dict(_compare_suspects(run, bands, signatures, ranks, threshold))
        run.query(f"DROP TABLE {bands}")
    stay = np.array([place not in near for place in range(len(places))], dtype=bool)
    return Deduplicated(
        places[stay], {int(places[one]): int(places[other]) for one, other in near.items()}
    )


def choose_bands(threshold: float) -> tuple[int, int]:
    """Say how many bands of how many numbers a signature is cut into.

    As long as may be, so that few stories are compared in vain, and short enough that pairs that
    overlap by the threshold share one: 1 - (1 - t^rows)^bands.
    """
    chosen = SIGNATURE, 1
    for rows in range(1, SIGNATURE + 1):
        bands = SIGNATURE // rows
        if 1 - (1 - threshold**rows) ** bands < _RECALL:
            break
        chosen = bands, rows
    return chosen


def make_signatures(texts: Iterable[str], seed: int = 0) -> Array:
    """Give the signatures of texts: (texts, 128)."""
    try:
        import rensa
    except ImportError:
        raise PackageMissing("rensa", "large") from None
    sets = [list(list_runs(text)) for text in texts]
    matrix = rensa.RMinHash.digest_matrix_from_token_sets(sets, SIGNATURE, seed)
    return np.array(matrix.to_rows(), dtype=np.uint32).reshape(len(sets), SIGNATURE)


def list_runs(text: str) -> set[str]:
    """Runs of five words of a text; a shorter one is a run by itself."""
    words = bare_words(text)
    last = max(1, len(words) - RUN_WORDS + 1)
    return {" ".join(words[start : start + RUN_WORDS]) for start in range(last)}


def _write_signatures(
    run: LazyRun,
    places: Array,
    file: IO[bytes],
    threshold: float,
    seed: int,
    progress: Progress | None,
) -> str:
    """Write signatures to a file, and their bands into a table: the place among `places`."""
    import pyarrow as pa

    bands, rows = choose_bands(threshold)
    table = "bands"
    run.query(f"CREATE OR REPLACE TABLE {table} (band UBIGINT, n INTEGER)")
    wanted = np.zeros(run.count, dtype=bool)
    wanted[places] = True
    if progress:
        progress.start(len(places))
    done = 0
    for start, texts in run.scan_texts():
        own = [
            text for text, ok in zip(texts, wanted[start : start + len(texts)], strict=True) if ok
        ]
        if not own:
            continue
        signatures = make_signatures(own, seed)
        file.write(signatures.astype("<u4").tobytes())
        keys = _mix_bands(signatures, bands, rows)  # (stories, bands)
        numbers = np.repeat(np.arange(done, done + len(own), dtype=np.int32), bands)
        rows_of = pa.table({"band": keys.ravel(), "n": numbers})
        run.insert(table, rows_of)
        done += len(own)
        if progress:
            progress.advance(len(own))
    if progress:
        progress.finish()
    return table


def _mix_bands(signatures: Array, bands: int, rows: int) -> Array:
    """Make one number of every band, other bands giving others: (stories, bands)."""
    parts = signatures[:, : bands * rows].reshape(-1, bands, rows).astype(np.uint64)
    keys = np.broadcast_to(np.arange(1, bands + 1, dtype=np.uint64), parts.shape[:2]).copy()
    for place in range(rows):
        # One step of splitmix64 (Steele, Lea and Flood, 2014) a number.
        keys = (keys ^ parts[:, :, place]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
        keys ^= keys >> np.uint64(27)
    return keys


def _compare_suspects(
    run: LazyRun, bands: str, file: IO[bytes], ranks: Array, threshold: float
) -> Iterator[tuple[int, int]]:
    """Give every story that is nearly one that stays, with that one, the best first."""
    staying: dict[int, list[int]] = {}
    for number, keys in _list_suspects(run, bands, ranks):
        rivals = list(dict.fromkeys(n for key in keys for n in staying.get(key, ())))
        own = _read_signature(file, number)
        best, overlap = -1, threshold
        for rival in rivals:
            shared = float((_read_signature(file, rival) == own).mean())
            if shared >= overlap and (best < 0 or shared > overlap):
                best, overlap = rival, shared
        if best >= 0:
            yield number, best
            continue
        for key in keys:
            staying.setdefault(key, []).append(number)


def _read_signature(file: IO[bytes], number: int) -> Array:
    file.seek(number * _BYTES)
    return np.frombuffer(file.read(_BYTES), dtype="<u4")


def _list_suspects(run: LazyRun, bands: str, ranks: Array) -> Iterator[tuple[int, list[int]]]:
    """Go through the stories that share a band with another, in their order, with these bands."""
    import pyarrow as pa

    order = pa.table({"n": np.arange(len(ranks), dtype=np.int32), "r": ranks})
    run.query("CREATE OR REPLACE TABLE ranks (n INTEGER, r BIGINT)")
    run.insert("ranks", order)
    cursor = run.query(
        f"WITH shared AS (SELECT band FROM {bands} GROUP BY band HAVING count(*) > 1)"
        f" SELECT n, list(band ORDER BY band) FROM {bands} JOIN shared USING (band)"
        " JOIN ranks USING (n) GROUP BY n, r ORDER BY r"
    )
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        yield from rows
