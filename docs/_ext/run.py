"""The directive `run`: shell commands, executed while the documentation is built; broken cells.

A page writes the command as a reader would type it, and shows what it printed::

    ```{run}
    pcorrect compare examples/smollm2/results.csv.gz
    ```

Options: ``:lines: 12`` shows the first lines of a long output, ``:fails:`` is for commands that
refuse their input, ``:hide:`` runs without showing the output. Any other failure, and a success
where a failure is announced, is an error of the build.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SECONDS = 180
COLOURS = re.compile("\x1b\\[[0-9;]*m")


def execute(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and output (both streams) of a command, with this Python's scripts in the path."""
    scripts = str(Path(sys.executable).parent)
    env = os.environ | {
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "COLUMNS": "100",
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


class Run(SphinxDirective):
    """Run commands and show them with their output."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "lines": directives.positive_int,
        "fails": directives.flag,
        "hide": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Nodes of the commands and of what they print."""
        command = "\n".join(self.content)
        code, text = execute(command, Path(self.env.srcdir) / "_build" / "work")
        if (code != 0) != ("fails" in self.options) or "Traceback (most recent" in text:
            place = f"{self.env.docname}:{self.lineno}"
            raise ExtensionError(f"{place}: exit code {code} of\n{command}\n{text}")
        shown = nodes.literal_block(command, command, language="bash", classes=["command"])
        if "hide" in self.options:
            return [shown]
        lines = text.rstrip().splitlines()
        if len(lines) > self.options.get("lines", len(lines)):
            lines = [*lines[: self.options["lines"]], "…"]
        if not lines:
            return [shown]
        out = "\n".join(lines)
        return [shown, nodes.literal_block(out, out, language="text", classes=["output"])]


def fail_on_broken_cells(app: Sphinx, env: BuildEnvironment) -> None:
    """Stop the build where cells failed, after all pages have run, and print every traceback."""
    failed = {
        page: data["exec_data"]["traceback"]
        for page, data in getattr(env, "nb_metadata", {}).items()
        if data.get("exec_data") and not data["exec_data"]["succeeded"]
    }
    if failed:
        text = "\n".join(f"--- {page}\n{traceback}" for page, traceback in failed.items())
        raise ExtensionError(f"cells fail on {len(failed)} page(s)\n{COLOURS.sub('', text)}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("run", Run)
    app.connect("env-updated", fail_on_broken_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
