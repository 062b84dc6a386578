from __future__ import annotations

import importlib
import importlib.metadata
import sys
from importlib.metadata import EntryPoint

import pytest

from fabula.core.catalogue import Catalogue, MetricCatalogue, pick_subclass
from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric

METRIC = """
from dataclasses import dataclass
from fabula.core.card import Card
from fabula.core.metric import StoryMetric

@dataclass(frozen=True)
class Toy(StoryMetric):
    card = Card(title="Toy", family="string", direction="higher", paper="None.", formula="1")
    n: int = 1

    def value(self, story):
        return float(self.n)
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A package with two entries and a module that is none."""
    folder = tmp_path / "toyroom"
    folder.mkdir()
    for name in ("__init__", "_hidden", "alpha", "beta"):
        (folder / f"{name}.py").write_text("WORD = __name__\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "toyroom"]:
        del sys.modules[name]


def words(package: str = "toyroom") -> Catalogue[str]:
    return Catalogue("word", (package,), lambda module: module.WORD)


def offer(monkeypatch, *entries: EntryPoint) -> None:
    """Pretend that other packages are installed which offer these entries."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [entry for entry in entries if entry.group == group]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_names_are_those_of_the_public_files(room):
    catalogue = words()
    assert catalogue.names() == ["alpha", "beta"]
    assert "alpha" in catalogue
    assert "_hidden" not in catalogue


def test_listing_names_imports_nothing(room):
    words().names()
    assert "toyroom.alpha" not in sys.modules


def test_an_entry_is_imported_when_asked_for(room):
    assert words().get("beta") == "toyroom.beta"
    assert "toyroom.alpha" not in sys.modules


def test_a_package_within_is_no_entry(room):
    (room / "shared").mkdir()
    (room / "shared" / "__init__.py").touch()
    assert "shared" not in words()


def test_a_package_that_is_not_there_holds_nothing():
    assert words("no_such_room").names() == []


@pytest.mark.parametrize("wanted", ["alhpa", "alpa", "alphas"])
def test_an_unknown_name_suggests_the_closest(room, wanted):
    with pytest.raises(UnknownName, match=f"no word is called {wanted!r}; did you mean 'alpha'"):
        words().get(wanted)


def test_an_unknown_name_like_none_lists_them_all(room):
    with pytest.raises(UnknownName, match="known: alpha, beta"):
        words().get("zzz")


@pytest.mark.parametrize("wanted", ["_hidden", "__init__", "os", "alpha.x", "../alpha", ""])
def test_only_public_files_can_be_asked_for(room, wanted):
    with pytest.raises(UnknownName):
        words().get(wanted)


def test_other_packages_add_entries(room, tmp_path, monkeypatch):
    (tmp_path / "gamma.py").write_text("WORD = 'from elsewhere'\n")
    offer(monkeypatch, EntryPoint("gamma", "gamma", "toyroom"), EntryPoint("x", "x", "other"))
    catalogue = words()
    assert catalogue.names() == ["alpha", "beta", "gamma"]
    assert catalogue.get("gamma") == "from elsewhere"


def test_other_packages_cannot_replace_our_entries(room, tmp_path, monkeypatch):
    (tmp_path / "thief.py").write_text("WORD = 'stolen'\n")
    offer(monkeypatch, EntryPoint("alpha", "thief", "toyroom"))
    assert words().get("alpha") == "toyroom.alpha"


@pytest.mark.parametrize("source", ["import no_such_module", "from os import no_such_name"])
def test_a_plugin_that_cannot_be_imported_is_one_line_for_the_user(
    room, tmp_path, monkeypatch, source
):
    (tmp_path / "broken.py").write_text(source)
    offer(monkeypatch, EntryPoint("gamma", "broken", "toyroom"))
    with pytest.raises(UserError, match="word 'gamma' of package 'broken' cannot be imported") as e:
        words().get("gamma")
    assert "\n" not in str(e.value)
    assert "mend or uninstall broken" in str(e.value)


def test_a_plugin_whose_module_is_gone_is_one_line_for_the_user(room, monkeypatch):
    offer(monkeypatch, EntryPoint("gamma", "no_such_module_at_all", "toyroom"))
    with pytest.raises(UserError, match="cannot be imported"):
        words().get("gamma")


def test_a_broken_plugin_does_not_keep_the_others_from_working(room, monkeypatch):
    offer(monkeypatch, EntryPoint("gamma", "no_such_module_at_all", "toyroom"))
    catalogue = words()
    assert "gamma" in catalogue.names()
    assert catalogue.get("alpha") == "toyroom.alpha"


@pytest.fixture
def metrics(room):
    (room / "toy.py").write_text(METRIC)
    return MetricCatalogue("metric", ("toyroom",), lambda module: pick_subclass(module, Metric))


def test_a_metric_is_named_after_its_file(metrics):
    assert metrics.get("toy").name == "toy"


def test_a_metric_is_built_from_its_spec(metrics):
    assert metrics.build("toy(3)") == metrics.get("toy")(n=3)
    assert metrics.build("toy(n=3)").spec == "toy(n=3)"


def test_a_spec_with_bad_settings_is_refused(metrics):
    with pytest.raises(SettingError, match="toy has no setting 'm'"):
        metrics.build("toy(m=1)")
    with pytest.raises(SettingError, match="toy: n='x' will not do"):
        metrics.build("toy(n='x')")


@pytest.mark.parametrize("source", ["", METRIC + "\n\nclass Other(Toy):\n    pass\n"])
def test_a_file_holds_one_metric(room, source):
    (room / "odd.py").write_text(source)
    catalogue = MetricCatalogue("metric", ("toyroom",), lambda m: pick_subclass(m, Metric))
    with pytest.raises(UserError, match=r"toyroom.odd must define one public Metric, not [02]"):
        catalogue.get("odd")


def test_classes_a_file_imports_are_not_its_own(room, metrics):
    (room / "user.py").write_text(
        "from toyroom.toy import Toy\n" + METRIC.replace("class Toy", "class User")
    )
    assert metrics.get("user").__name__ == "User"
