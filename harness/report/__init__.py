"""Results as one self-contained page: tables, plots and pictures that need neither network nor script.

`contents` computes the figures and lists, `plots` draws them in the frame
of `plot_frame`, `report_page` adds the pictures of answers and writes it.
"""

from nonobot.harness.report.contents import Report
from nonobot.harness.report.report_page import STEPS, page_of

__all__ = ["STEPS", "Report", "page_of"]
