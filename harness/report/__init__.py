"""Results as one self-contained page: tables, plots and pictures that need neither network nor script.

`contents` computes the figures and lists, `plots` draws them in the frame
of `plot_frame`, `gallery` has the pictures of answers, `report_page` writes it.
"""

from nonobot.harness.report.contents import Report
from nonobot.harness.report.report_page import STEPS, page_of

__all__ = ["STEPS", "Report", "page_of"]
