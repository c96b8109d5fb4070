"""Sphinx configuration: `uv run --group docs sphinx-build -W docs docs/_build/html`.

Pages are MyST Markdown. Python cells are executed by MyST-NB and shell commands by the directive
`run` (`_ext/run.py`), both in one scratch folder (`_ext/scratch.py`) that holds the SmolLM2 results
of `examples/`; an error in any of them fails the build. The pages of the statistical models and of
the API are written from the sources (`_ext/cards.py`, `_ext/api_pages.py`).
"""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import api_pages  # noqa: E402
import cards  # noqa: E402
import scratch  # noqa: E402

import pcorrect  # noqa: E402

project = "pcorrect"
author = "The pcorrect developers"
copyright = "The pcorrect developers, Apache-2.0"
release = version = pcorrect.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "run",
]
exclude_patterns = ["_build", "_ext", "_setup.py"]
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}

scratch.make(DOCS.parent, DOCS / "_build" / "work")
os.environ["IPYTHONDIR"] = str(DOCS / "_build" / "work" / ".ipython")
cards.write(DOCS.parent / "models", DOCS / "models")
api_pages.write(DOCS / "api")

nb_execution_mode = "force"
nb_execution_raise_on_error = False  # `run` stops the build, and shows all tracebacks at once
nb_execution_timeout = 180
nb_merge_streams = True
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the numpydoc sections say types, shapes and ranges
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"

html_theme = "furo"
html_title = f"pcorrect {release}"
html_static_path = ["_static"]
html_css_files = ["pcorrect.css"]
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5394",
        "color-brand-content": "#0b5394",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fb8e6",
        "color-brand-content": "#7fb8e6",
    },
}
pygments_style = "tango"
pygments_dark_style = "native"
