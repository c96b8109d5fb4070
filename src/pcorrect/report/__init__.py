"""Reports: one HTML file that needs no network, and rich display of results in notebooks."""

from pcorrect.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]
