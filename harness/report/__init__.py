"""Results as one self-contained page: tables, plots and pictures that need neither network nor script.

`contents` works out what the page states, `plots` draws it, `svg` makes drawings fit into a page, `page` writes it.
"""

from harness.report.contents import Report
from harness.report.page import page_of

__all__ = ["Report", "page_of"]
