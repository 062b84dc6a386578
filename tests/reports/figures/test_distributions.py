from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fabula.reports.figures.distributions import _reach, _tick, draw_distributions
from fabula.reports.run_data import read_report_data


def test_every_column_has_a_panel_with_a_row_per_system(make_run, two_systems) -> None:
    data = read_report_data(make_run(two_systems, "rouge(n=1)", "words"))
    page = ElementTree.fromstring(f"<div>{draw_distributions(data)}</div>")
    panels = page.findall("figure")
    assert len(panels) == len(data.columns)
    for panel in panels:
        names = [text.text for text in panel.findall("svg/text[@class='name']")]
        assert names == ["copy", "loop"]
        assert "medians: copy" in (panel.findtext("svg/title") or "")


def test_many_stories_are_an_outline_and_few_are_dots(make_run, two_systems) -> None:
    data = read_report_data(make_run(two_systems, "words"))
    assert 'class="dots"' in draw_distributions(
        data
    ) and 'class="outline"' not in draw_distributions(data)


def test_the_axis_spans_the_values_and_leaves_out_few_of_many() -> None:
    assert _reach(np.array([3.0, 1.0, 2.0])) == (1.0, 3.0)
    assert _reach(np.array([2.0, 2.0])) == (1.5, 2.5)
    low, high = _reach(np.append(np.arange(1000.0), 1e9))
    assert low < 10 and high < 1000


@pytest.mark.parametrize(
    ("value", "reach", "text"),
    [
        (5.45e-26, (5.45e-26, 0.0684), "0"),
        (0.0684, (5.45e-26, 0.0684), "0.0684"),
        (-1.25, (-1.25, 8.0), "−1.25"),
        (12345.6, (0.0, 12345.6), "1.23e+04"),
        (-1e-9, (-1e-9, 1.0), "0"),
        (1.5e-7, (1.0e-7, 1.5e-7), "1.5e−07"),
    ],
)
def test_ends_of_the_axis_have_the_digits_it_can_tell_apart(value, reach, text: str) -> None:
    assert _tick(value, reach) == text
