"""First thing in every page that computes: go to the scratch folder, set up pictures."""

import os
import sys
import warnings
from pathlib import Path

import matplotlib_inline.backend_inline
import pandas as pd

os.chdir(
    next(
        p / "_build" / "work"
        for p in (Path.cwd(), *Path.cwd().parents)
        if (p / "_build" / "work").exists()
    )
)
sys.path.insert(0, str(Path.cwd().parents[1]))  # figures.py
matplotlib_inline.backend_inline.set_matplotlib_formats("svg")
pd.set_option("display.max_rows", 40, "display.float_format", "{:.4g}".format)
for kind in (UserWarning, RuntimeWarning, FutureWarning):
    warnings.simplefilter("error", kind)
