"""`fabula judge`: certificates from the command line."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
# Six items told by three systems; people count words, the judge reads the alphabet backwards.
ROWS = [
    {
        "id": f"{item}{system}",
        "item": str(item),
        "system": system,
        "text": "The dog ran home. " * (1 + (7 * item + 3 * place) % 9) + f"It was {item}{system}.",
        "plot": (7 * item + 3 * place) % 9,
        "judge:mine": (5 * item + 2 * place) % 7,
    }
    for item in range(6)
    for place, system in enumerate("abc")
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def certify(fabula: Run, table: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    fixed = ("--gold", table, "--ratings", "plot", "--no-reader", "--resamples", "50")
    return fabula("judge", "certify", *words, *fixed)


def test_a_judge_is_certified_listed_and_shown(fabula: Run, table: Path, tmp_path: Path) -> None:
    done = certify(fabula, table, "judge:mine")
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 0
    assert "judge:mine on rated: Spearman's ρ, item level" in text
    assert "Verdict: worse on plot." in text
    assert "item level: 6 items; fewer than 20 tell little." in text
    (file,) = (tmp_path / "home" / "certificates").glob("*.json")
    assert json.loads(file.read_text())["verdicts"] == {"plot": "worse"}

    listed = json.loads(fabula("judge", "list", "-f", "json").stdout)["rows"]
    mine = [row for row in listed if row["judge"] == "judge:mine"]
    assert [(row["gold"], row["aspect"], row["verdict"]) for row in mine] == [
        ("rated", "plot", "worse")
    ]
    assert fabula("judge", "show", file).stdout == done.stdout
    assert fabula("judge", "show", "judge:mine").stdout == done.stdout
    shipped = fabula("judge", "show", 'judge( value = "expected" )').stdout.decode()
    assert "judge(value='expected') on hanna" in " ".join(shipped.split())
    missing = fabula("judge", "show", "judge:nine")
    assert missing.returncode == 2
    assert b"judge:nine is no file, and no judge with a certificate" in missing.stderr
    assert b"judge:mine" in missing.stderr


def test_data_have_every_level_and_coefficient(fabula: Run, table: Path, tmp_path: Path) -> None:
    done = certify(fabula, table, "judge:mine", "-f", "json", "-q", "-o", "mine.json")
    record = json.loads(done.stdout)
    kinds = {(row["level"], row["coefficient"]) for row in record["rows"]}
    assert len(kinds) == 9
    assert {row["baseline"] for row in record["rows"] if row["level"] == "item"} == {"words"}
    assert (tmp_path / "mine.json").is_file()
    assert not (tmp_path / "home" / "certificates").exists()


def test_a_judge_that_nobody_knows_is_an_error_of_one_line(fabula: Run, table: Path) -> None:
    done = certify(fabula, table, "no_such_judge")
    assert done.returncode == 2
    assert "no_such_judge" in done.stderr.decode()
    assert done.stderr.decode().count("\n") == 1


FAKE = "judge(model='fake()')"


def test_a_dry_run_says_what_a_certificate_and_its_probe_would_ask(
    fabula: Run, table: Path, tmp_path: Path
) -> None:
    # 18 stories on the five criteria that need no prompt.
    done = certify(fabula, table, FAKE, "--dry-run")
    assert (
        "questions    90, of which 0 were answered before or are asked twice"
        in done.stdout.decode()
    )
    probed = certify(fabula, table, FAKE, "--dry-run", "--probe", "4")
    said = probed.stdout.decode()
    # Four stories as they are (asked already), with four notes, longer, with another seed, with
    # the scale turned: 8 × 4 × 5; and two pairs in both orders.
    assert (
        f"questions    {90 + 8 * 20 + 4}, of which 20 were answered before or are asked twice"
        in said
    )
    assert said.endswith("nothing was asked\n")
    assert not (tmp_path / "home" / "certificates").exists()
    done = fabula("judge", "probe", FAKE, table, "--stories", "4", "--dry-run")
    assert (
        "questions    164, of which 0 were answered before or are asked twice"
        in done.stdout.decode()
    )


def test_without_money_for_all_answers_there_is_no_certificate(
    fabula: Run, table: Path, tmp_path: Path
) -> None:
    model = "api('m', base_url='http://127.0.0.1:9/v1', price_in=1.0, price_out=1.0)"
    done = certify(fabula, table, f'judge(model="{model}")', "--budget", "0", "-q")
    assert done.returncode == 2
    assert b"a budget of 0 does not suffice, 90 questions not asked: no certificate" in done.stderr
    assert not (tmp_path / "home" / "certificates").exists()
    words = ("judge", "probe", f'judge(model="{model}")', table, "--budget", "0", "-q")
    assert b"not asked: no probe" in fabula(*words).stderr


def test_a_judge_that_is_not_asked_needs_no_money(fabula: Run, table: Path) -> None:
    for words in (["--dry-run"], ["--budget", "1"]):
        done = certify(fabula, table, "judge:mine", *words)
        assert done.returncode == 2
        assert b"are for judges that are asked, and judge:mine is not" in done.stderr
