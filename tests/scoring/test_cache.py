from __future__ import annotations

import math
import multiprocessing
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.core.score import Reading, Status
from fabula.scoring import cache
from fabula.scoring.cache import ScoreCache, cache_files, clear_cache, default_path

SPAWN = multiprocessing.get_context("spawn")


def key(number: int) -> bytes:
    return number.to_bytes(20, "big")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "scores.sqlite"


def test_the_usual_cache_lies_in_the_home(home: Path) -> None:
    assert default_path().parent == home / "cache"
    with ScoreCache() as store:
        assert store.path == default_path()


@pytest.mark.parametrize("value", [0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 1 / 3, math.pi])
def test_a_float_comes_back_exactly(path: Path, value: float) -> None:
    with ScoreCache(path) as store:
        store.put({key(1): Reading((value,))})
    with ScoreCache(path) as store:
        found = store.get([key(1)])[key(1)].values[0]
    assert found.hex() == value.hex()


def test_nan_status_coverage_and_note_come_back(path: Path) -> None:
    reading = Reading((math.nan, 0.5), Status.TOO_LONG, 0.25, "read 1,024 words – “no” more\n")
    with ScoreCache(path) as store:
        store.put({key(1): reading})
        found = store.get([key(1)])[key(1)]
    assert math.isnan(found.values[0])
    assert (found.values[1], *rest(found)) == (0.5, *rest(reading))
    assert isinstance(found.status, Status)


def rest(reading: Reading) -> tuple[Status, float, str]:
    return reading.status, reading.coverage, reading.note


@pytest.mark.parametrize("status", list(Status))
def test_what_may_be_otherwise_tomorrow_is_not_kept(path: Path, status: Status) -> None:
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,), status), key(2): Reading((2.0,))})
        passing = ("missing_images", "missing_model", "failed")
        assert (key(1) in store.get([key(1)])) == (status not in passing)
        assert key(2) in store.get([key(2)])


def test_thousands_of_keys_are_found_at_once(path: Path) -> None:
    readings = {key(number): Reading((float(number),)) for number in range(1234)}
    with ScoreCache(path) as store:
        store.put(readings)
        assert store.get([*readings, key(99_999)]) == readings
        assert store.get([]) == {}
        assert len(store) == 1234


def test_a_later_reading_takes_the_place_of_an_earlier(path: Path) -> None:
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
        store.put({key(1): Reading((2.0,))})
        assert store.get([key(1)])[key(1)].values == (2.0,)


@pytest.fixture
def put_together(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], list[int | None]]:
    """Lets processes put a hundred readings each, from one moment on; gives their exit codes."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from toys.putting import put_hundred

    def put(path: Path, processes: int) -> list[int | None]:
        start = SPAWN.Barrier(processes)
        firsts = range(1, 100 * processes, 100)
        runs = [SPAWN.Process(target=put_hundred, args=(path, one, start)) for one in firsts]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        return [run.exitcode for run in runs]

    return put


def test_two_processes_put_at_once_and_nothing_is_lost(
    path: Path, put_together: Callable[[Path, int], list[int | None]]
) -> None:
    with ScoreCache(path):
        assert put_together(path, 2) == [0, 0]
    with ScoreCache(path) as store:
        assert len(store) == 201
        found = store.get([key(number) for number in range(201)])
    assert all(reading.values == (int.from_bytes(own, "big"),) for own, reading in found.items())


def test_a_new_cache_may_be_opened_by_several_processes_at_the_same_moment(
    tmp_path: Path, put_together: Callable[[Path, int], list[int | None]]
) -> None:
    for attempt in range(3):
        assert put_together(tmp_path / f"{attempt}.sqlite", 4) == [0] * 4


def test_opening_waits_while_another_process_is_making_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE readings (key BLOB PRIMARY KEY, reading TEXT NOT NULL)")
        other.execute("BEGIN IMMEDIATE")
        later = threading.Timer(0.3, other.execute, ["COMMIT"])
        later.start()
        try:
            with ScoreCache(path) as store:
                assert len(store) == 0
        finally:
            later.join()


def damage(path: Path, how: str) -> None:
    with ScoreCache(path) as store:
        store.put({key(number): Reading((1.0,), note="x" * 200) for number in range(500)})
    raw = bytearray(path.read_bytes())
    if how == "no database":
        raw[:] = b"Once upon a time " * 500
    elif how == "cut":
        del raw[len(raw) // 2 :]
    else:
        raw[4096:] = b"\x5a" * (len(raw) - 4096)
    path.write_bytes(raw)


@pytest.mark.parametrize("how", ["no database", "cut", "scribbled over"])
def test_a_damaged_file_is_named_in_one_line_and_clear_mends_it(home: Path, how: str) -> None:
    path = default_path()
    damage(path, how)
    with pytest.raises(UserError) as caught, ScoreCache(path) as store:
        store.get([key(number) for number in range(500)])
    line = str(caught.value)
    assert str(path) in line and "fabula cache clear" in line and "\n" not in line
    clear_cache(path)
    with ScoreCache(path) as store:
        store.put({key(1): Reading((3.0,))})
        assert store.get([key(1)])[key(1)].values == (3.0,)
        assert len(store) == 1


@pytest.mark.parametrize("how", ["cut", "scribbled over"])
def test_a_damaged_cache_elsewhere_is_known_by_its_mark_and_the_command_names_it(
    path: Path, how: str
) -> None:
    damage(path, how)
    with (
        pytest.raises(UserError, match=f"fabula cache clear --cache {path}"),
        ScoreCache(path) as c,
    ):
        c.get([key(number) for number in range(500)])
    assert clear_cache(path) == 0 and not path.exists()


def own_text(path: Path) -> None:
    path.write_text("my only copy\n")


def own_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE photos (name TEXT)")
        database.execute("CREATE TABLE readings (key BLOB PRIMARY KEY, reading TEXT NOT NULL)")
        database.execute("INSERT INTO photos VALUES ('cat')")
        database.commit()


def own_broken_database(path: Path) -> None:
    own_database(path)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("make", [own_text, own_database, own_broken_database])
def test_a_file_that_is_no_cache_of_ours_is_neither_cleared_nor_written_to(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "mine"
    make(path)
    before = path.read_bytes()
    with pytest.raises(UserError, match="is no cache of Fabula; nothing was deleted"):
        clear_cache(path)
    with pytest.raises(UserError, match="is no cache of Fabula and is left alone"):
        ScoreCache(path)
    assert path.read_bytes() == before


def test_a_link_in_the_cache_folder_does_not_lead_to_somebody_elses_file(
    home: Path, tmp_path: Path
) -> None:
    own_text(tmp_path / "mine")
    default_path().parent.mkdir(parents=True)
    default_path().symlink_to(tmp_path / "mine")
    clear_cache(default_path())
    assert (tmp_path / "mine").read_text() == "my only copy\n"


def test_an_empty_file_holds_nothing_and_may_become_a_cache(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert clear_cache(path) == 0 and path.read_bytes() == b""
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
    assert clear_cache(path) == 1


def test_a_cache_from_before_there_was_a_mark_is_known_by_its_table(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE readings (key BLOB PRIMARY KEY, reading TEXT NOT NULL) WITHOUT ROWID"
        )
        database.commit()
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
    assert clear_cache(path) == 1


def test_a_row_in_which_any_bit_was_flipped_is_not_found_and_is_made_again(path: Path) -> None:
    with ScoreCache(path) as store:
        store.put({key(1): Reading((0.4375,), note="read once")})
        query = "SELECT CAST(reading AS BLOB) FROM readings"
        whole = store._database.execute(query).fetchone()[0]
        for place in range(8 * len(whole)):
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            text = bytes(flipped).decode("utf-8", "replace")
            store._database.execute("UPDATE readings SET reading = ?", [text])
            assert store.get([key(1)]) == {}
        store.put({key(1): Reading((0.4375,))})
        assert store.get([key(1)])[key(1)].values == (0.4375,)


def test_the_reading_of_another_key_is_not_found(path: Path) -> None:
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
        store._database.execute("UPDATE readings SET key = ?", [key(2)])
        assert store.get([key(1), key(2)]) == {}


def test_rows_of_an_older_version_without_a_checksum_are_made_again(path: Path) -> None:
    with ScoreCache(path) as store:
        old = (key(1), '[[0.5], "ok", 1.0, ""]')
        store._database.execute("INSERT INTO readings VALUES (?, ?)", old)
        assert store.get([key(1)]) == {}
        store.put({key(1): Reading((0.5,))})
        assert store.get([key(1)])[key(1)].values == (0.5,)


def test_clear_says_how_many_readings_it_forgot(path: Path) -> None:
    with ScoreCache(path) as store:
        store.put({key(number): Reading((1.0,)) for number in range(7)})
        before = store.size()
        assert clear_cache(path) == 7
        assert len(store) == 0
        store.put({key(1): Reading((1.0,))})
    assert before > 0


def test_clear_of_a_file_that_is_not_there_forgets_nothing(path: Path) -> None:
    assert clear_cache(path) == 0
    assert not path.exists()


def test_clear_does_not_take_away_a_file_that_another_run_is_writing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_WAIT_S", 0.1)
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
        store._database.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match=r"locked|use"):
            clear_cache(path)
        store._database.execute("ROLLBACK")
    assert path.exists()


def test_a_folder_in_place_of_the_file_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no cache of Fabula"):
        ScoreCache(tmp_path)


def test_a_cache_consists_of_the_files_that_are_there(path: Path) -> None:
    assert cache_files(path) == []
    with ScoreCache(path) as store:
        store.put({key(1): Reading((1.0,))})
        assert cache_files(path)[0] == path
        assert store.size() == sum(file.stat().st_size for file in cache_files(path))


def test_a_put_that_fails_in_the_middle_keeps_nothing(path: Path) -> None:
    with ScoreCache(path) as store:
        store._database.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON readings WHEN new.key = zeroblob(20)"
            " BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
        with pytest.raises(UserError, match="refused"):
            store.put({key(1): Reading((1.0,)), key(0): Reading((0.0,))})
        assert len(store) == 0
        store.put({key(2): Reading((2.0,))})
        assert len(store) == 1


def test_the_file_is_in_write_ahead_mode(path: Path) -> None:
    with ScoreCache(path):
        other = sqlite3.connect(path)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        other.close()
