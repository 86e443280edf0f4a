"""`python -m tapeviz`: the same as the `tapeviz` command."""

import sys

from tapeviz.cli import main

sys.exit(main())
