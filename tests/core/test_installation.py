"""Commands that messages name have to run where the user is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fabula.core import installation
from fabula.core.errors import PackageMissing, UserError
from fabula.core.installation import (
    spell_command,
    spell_commands,
    spell_install,
    spell_studio,
    spell_way,
    spell_weights_install,
)

SOURCE = Path(installation.__file__).resolve().parents[1]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an environment that is not activated, as `make demo` leaves it."""
    root = tmp_path / "fabula"
    for folder in ("src/fabula", ".venv/bin", "weights"):
        (root / folder).mkdir(parents=True)
    for name in ("pyproject.toml", ".venv/bin/python", ".venv/bin/pip", ".venv/bin/fabula"):
        (root / name).touch(mode=0o755)
    monkeypatch.setattr(installation, "_SOURCE", root / "src")
    monkeypatch.setattr(sys, "executable", str(root / ".venv/bin/python"))
    monkeypatch.setattr(sys, "argv", [str(root / ".venv/bin/fabula")])
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    monkeypatch.setenv("PATH", "/no/such/folder")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def installed(clone: Path, monkeypatch: pytest.MonkeyPatch):
    """The same environment, with Fabula installed from elsewhere: say from where."""
    monkeypatch.setattr(installation, "_SOURCE", clone / ".venv/lib/site-packages")

    def note(**origin: object) -> None:
        monkeypatch.setattr(installation, "_read_origin", lambda: origin)

    note()
    return note


def test_in_a_clone_that_is_not_activated_commands_are_named_by_their_paths(clone):
    assert spell_command("doctor") == ".venv/bin/fabula doctor"
    assert spell_install("meta") == ".venv/bin/pip install -e '.[meta]'"
    assert spell_install("nlp", "models") == ".venv/bin/pip install -e '.[nlp,models]'"
    assert spell_weights_install() == ".venv/bin/pip install ./weights"


def test_where_the_environment_is_activated_names_are_enough(clone, monkeypatch):
    monkeypatch.setenv("PATH", str(clone / ".venv/bin"))
    assert spell_command("doctor") == "fabula doctor"
    assert spell_install("meta") == "pip install -e '.[meta]'"
    assert spell_way() == ""


def test_another_fabula_on_the_path_is_not_taken_for_this_one(clone, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("fabula", "pip"):
        (other / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))
    assert spell_command("doctor") == ".venv/bin/fabula doctor"
    assert spell_install("meta").startswith(".venv/bin/pip ")


def test_outside_the_clone_paths_are_whole(clone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spell_command("doctor") == "fabula/.venv/bin/fabula doctor"
    assert spell_install("meta") == "fabula/.venv/bin/pip install -e './fabula[meta]'"
    monkeypatch.chdir("/")
    monkeypatch.setattr(installation, "_SOURCE", Path("/home/ann/fa bula/src"))
    monkeypatch.setattr(Path, "is_file", lambda self: True)
    assert spell_install("meta").endswith("install -e '/home/ann/fa bula[meta]'")


def test_without_scripts_the_interpreter_is_asked(clone):
    for name in ("pip", "fabula"):
        (clone / ".venv/bin" / name).unlink()
    assert spell_command("doctor") == ".venv/bin/python -m fabula doctor"
    assert spell_install("meta") == ".venv/bin/python -m pip install -e '.[meta]'"


def test_an_environment_of_uv_without_pip_gets_uv(clone, monkeypatch):
    (clone / ".venv/bin/pip").unlink()
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    monkeypatch.setattr(
        installation.shutil, "which", lambda name: "/bin/uv" if name == "uv" else None
    )
    expected = "uv pip install --python .venv/bin/python -e '.[meta]'"
    assert spell_install("meta") == expected


def test_from_a_folder_or_a_wheel_that_is_named_again(installed, tmp_path):
    wheel = tmp_path / "fabula-0.1.0-py3-none-any.whl"
    wheel.touch()
    installed(url=wheel.as_uri(), archive_info={})
    assert spell_install("meta") == f".venv/bin/pip install '{wheel}[meta]'"
    folder = tmp_path / "copy"
    (folder / "weights").mkdir(parents=True)
    installed(url=folder.as_uri(), dir_info={})
    assert spell_install("meta") == f".venv/bin/pip install '{folder}[meta]'"
    assert spell_weights_install() == f".venv/bin/pip install {folder}/weights"


def test_from_a_repository_or_an_address_that_is_named_again(installed):
    url = "https://example.org/fabula.git"
    installed(url=url, vcs_info={"vcs": "git", "requested_revision": "v1"})
    assert spell_install("meta") == f".venv/bin/pip install 'fabula[meta] @ git+{url}@v1'"
    expected = f".venv/bin/pip install 'fabula-weights @ git+{url}@v1#subdirectory=weights'"
    assert spell_weights_install() == expected
    installed(url="https://example.org/fabula.whl", archive_info={})
    expected = ".venv/bin/pip install 'fabula[meta] @ https://example.org/fabula.whl'"
    assert spell_install("meta") == expected


def test_where_nobody_knows_the_packages_are_named(installed, tmp_path, monkeypatch):
    lines = [
        "numpy>=1.26",
        'scipy>=1.11; extra == "meta"',
        'fabula[meta]; extra == "train"',
        'scikit-learn>=1.4; extra == "train"',
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: lines)
    for origin in ({}, {"url": (tmp_path / "gone.whl").as_uri()}):
        installed(**origin)
        assert spell_install("meta") == ".venv/bin/pip install 'scipy>=1.11'"
        expected = ".venv/bin/pip install 'scikit-learn>=1.4' 'scipy>=1.11'"
        assert spell_install("train") == expected
    assert spell_weights_install() == ".venv/bin/pip install ./weights, in a clone of Fabula"


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"url": 1}', json.dumps({"x": 1})])
def test_a_note_of_pip_that_cannot_be_read_is_as_none(text, monkeypatch):
    noted = SimpleNamespace(read_text=lambda name: text)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: noted)
    installation._read_origin.cache_clear()
    assert installation._read_origin() == {}
    installation._read_origin.cache_clear()


def test_a_remedy_names_commands_as_they_run_here(clone):
    error = UserError("asset 'x' is not here", "run: fabula models pull x && fabula doctor")
    assert str(error) == (
        "asset 'x' is not here; run: .venv/bin/fabula models pull x && .venv/bin/fabula doctor"
    )
    assert str(PackageMissing("scipy", "meta")) == (
        "scipy is not installed; run: .venv/bin/pip install -e '.[meta]'"
    )


def test_only_commands_are_spelled_out(clone):
    for text in ("the fabula was told", "~/fabula doctor", "Fabula 1", "fabula-weights is", ""):
        spelled = spell_commands(text)
        assert spelled == text or text.startswith("the fabula")


def test_the_way_to_go_on_is_one_text_in_readme_demo_and_doctor(clone):
    way = spell_way()
    assert way == (
        "Here the command is .venv/bin/fabula; to write fabula alone, run: . .venv/bin/activate"
    )
    root = Path(__file__).resolve().parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8").replace("`", "")
    assert way in " ".join(readme.split())
    assert "spell_way()" in (root / "Makefile").read_text(encoding="utf-8")


def test_the_demo_ends_with_the_way_to_an_example_game(clone, monkeypatch):
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    assert spell_studio().splitlines()[1:] == [
        "  .venv/bin/pip install -e '.[web,models]'",
        "  .venv/bin/fabula models pull smollm2",
        "  .venv/bin/fabula serve --local --open",
    ]
    monkeypatch.setattr(installation, "find_spec", lambda name: name)
    assert "pip install" not in spell_studio()
    root = Path(__file__).resolve().parents[2]
    assert "spell_studio()" in (root / "Makefile").read_text(encoding="utf-8")
    # The words of the button are those of the page.
    library = root / "src/fabula/web/templates/library.html"
    assert "Open an example game" in library.read_text(encoding="utf-8")
    assert "Open an example game" in spell_studio()


def test_no_message_of_ours_sends_anybody_to_an_index():
    for path in SOURCE.rglob("*.py"):
        if path.name != "installation.py":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"pip install '?fabula", text), path
            assert not re.search(r"pip install \{", text), path


def test_the_module_runs_as_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "fabula", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("fabula")
