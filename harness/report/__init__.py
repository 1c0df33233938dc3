"""Results as one self-contained page: tables, plots and pictures that need neither network nor script.

`contents` works out what the page states, `plots` draws it, `svg` makes drawings fit for a page, `page` writes it.
"""

from nonobot.harness.report.contents import Report
from nonobot.harness.report.page import STEPS, check_extra, page_of

__all__ = ["STEPS", "Report", "check_extra", "page_of"]
