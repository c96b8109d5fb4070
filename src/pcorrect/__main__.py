"""``python -m pcorrect``."""

import sys

from pcorrect.cli import main

sys.exit(main())
