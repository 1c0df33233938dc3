"""The report in a real browser: everything is drawn, nothing is fetched, nothing is reported."""

from functools import cache
from pathlib import Path

import pytest

from nonobot.harness.report.contents import Report
from nonobot.harness.report.plot_frame import DARK_COLOURS, LIGHT_COLOURS
from nonobot.harness.report.report_page import page_of
from tests.helpers import report_samples as samples
from tests.helpers.ranked import match_of

pytestmark = pytest.mark.slow

# Every plot that is shown, with its marks: where they are relative to its frame, and whether its words are cut.
PLOTS = """
[...document.querySelectorAll('.plot svg')].filter(svg => svg.checkVisibility()).map(svg => {
  const frame = svg.getBoundingClientRect(), box = svg.closest('.plot').getBoundingClientRect();
  const inside = (part, outer, room) => {
    const own = part.getBoundingClientRect();
    return own.left >= outer.left - room && own.right <= outer.right + room
        && own.top >= outer.top - room && own.bottom <= outer.bottom + room;
  };
  const parts = kind => [...svg.querySelectorAll(kind)];
  return {
    label: svg.getAttribute('aria-label'),
    width: frame.width, height: frame.height,
    lines: parts('path').filter(path => path.getTotalLength() > 50).map(path => getComputedStyle(path).stroke),
    marks: parts('use').filter(mark => mark.getBoundingClientRect().width > 0).length,
    outside: parts('use').filter(mark => !inside(mark, frame, 2)).length,
    cut: parts('text').filter(text => !inside(text, box, 0)).map(text => text.textContent),
  };
})
"""

PICTURES = "[...document.querySelectorAll('.picture svg')].map(svg => svg.getBoundingClientRect().width)"
SWATCH_COLOUR = "getComputedStyle(document.querySelector('#swatch-0 path')).stroke"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    @cache
    def written(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        report = Report(samples.read_back(folder, *getattr(samples, name)()))
        path = folder / f"{name}.html"
        path.write_text(page_of(report, f"Sample: {name}", "1.0", lambda done, note: None), encoding="utf-8")
        return path

    return written


def rgb(colour: str) -> str:
    return f"rgb({', '.join(map(str, bytes.fromhex(colour[1:])))})"


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_plot_is_drawn_and_nothing_is_fetched_or_reported(chromium, page, name):
    path = page(name)
    for theme, width, dark in (("light", 1280, False), ("dark", 1280, True), ("narrow", 360, False)):
        chromium.shape(width, dark)
        chromium.open(path)
        colours = set(map(rgb, DARK_COLOURS if dark else LIGHT_COLOURS))
        plots = chromium.value(PLOTS)
        assert plots
        for plot in plots:
            assert plot["width"] > 250
            assert plot["height"] > 100
            assert plot["marks"] > 10
            assert (plot["outside"], plot["cut"]) == (0, []), plot["label"]
            if "Sorted times" in plot["label"]:
                assert len(set(plot["lines"]) & colours) == min(len(colours), plot["label"].count("median"))
        assert all(width > 100 for width in chromium.value(PICTURES))
        assert chromium.value(SWATCH_COLOUR) == rgb((DARK_COLOURS if dark else LIGHT_COLOURS)[0])
        chromium.keep(f"report-{name}-{theme}")
        assert [request.url for request in chromium.requests] == [path.resolve().as_uri()]
        assert chromium.complaints == []


def test_the_page_never_scrolls_sideways_and_prints(chromium, page, tmp_path):
    for width in (320, 390, 600, 768, 1024, 1400, 1920):
        chromium.shape(width)
        chromium.open(page("two_sets"))
        assert chromium.value("document.documentElement.scrollWidth") <= width
    chromium.page.pdf(path=tmp_path / "printed.pdf", prefer_css_page_size=True)
    assert (tmp_path / "printed.pdf").read_bytes().startswith(b"%PDF")


def test_a_page_with_the_reports_policy_runs_no_script_and_fetches_nothing(chromium, page, tmp_path):
    path = tmp_path / "injected.html"
    hostile = "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x.png'></body>"
    path.write_text(page("one_bot").read_text(encoding="utf-8").replace("</body>", hostile), encoding="utf-8")
    chromium.open(path)
    assert chromium.value("document.title") == "Sample: one_bot"
    assert [request.failure for request in chromium.requests] == [None, "csp"]


def test_a_printed_report_splits_no_plot_across_pages(chromium, page):
    chromium.shape(688)  # A4 without its margins, in CSS pixels
    chromium.open(page("twenty_bots"))
    chromium.page.emulate_media(media="print")
    parts = "[...document.querySelectorAll('.plot, .card')]"
    heights = chromium.value(f"{parts}.map(part => part.getBoundingClientRect().height)")
    assert len(heights) > 8
    assert max(heights) < 1016
    # Chromium divides the items of a grid between pages, whatever `break-inside` says.
    assert {*chromium.value(f"{parts}.map(part => getComputedStyle(part).display)")} == {"inline-block"}
    assert chromium.value("document.querySelector('.ranking').getBoundingClientRect().height") < 1016
    for name in ("twenty_bots", "two_sets"):  # or the whole page shrinks
        chromium.open(page(name))
        assert chromium.value("document.documentElement.scrollWidth") <= 688
    chromium.page.emulate_media(media="screen")


LINES_OF_LONG_WORD = """[...document.querySelectorAll('.cross .opponent .name')]
  .filter(name => name.textContent.startsWith('Nonogramsolver_'))
  .map(name => name.getClientRects().length)"""


# Widths are those of A4 without its margins, in CSS pixels.
@pytest.mark.parametrize(
    ("count", "width", "pages"), [(4, 688, "auto"), (5, 1017, "across"), (20, 1017, "across")]
)
def test_a_cross_table_prints_uncut_and_scrolls_separately_on_a_phone(chromium, tmp_path, count, width, pages):
    names = ["Nonogramsolver_of_the_University_of_Applied_Sciences", "a bot with a rather long name, version 2.0"]
    names += [f"entrant-{number} of a university" for number in range(3, count + 1)]
    report = Report(samples.read_back(tmp_path, *match_of(names, puzzles_each=100)))
    report.sets.clear()  # their plots take long
    path = tmp_path / "match.html"
    path.write_text(page_of(report, "Match", "1.0", lambda done, note: None), encoding="utf-8")
    chromium.shape(width)
    chromium.open(path)
    chromium.page.emulate_media(media="print")
    assert chromium.value("document.querySelectorAll('.cross .opponent').length") == count
    assert "(97:100)" in chromium.text_of(".cross")
    assert chromium.value("document.documentElement.scrollWidth") <= width
    parts = "['header', '#match'].map(place => getComputedStyle(document.querySelector(place)).page)"
    assert chromium.value(parts) == [pages] * 2
    chromium.page.emulate_media(media="screen")
    chromium.shape(390)
    assert chromium.value("document.documentElement.scrollWidth") <= 390
    assert chromium.value(LINES_OF_LONG_WORD) == [1]
