"""`python -m webapp` is `coppice`."""

from __future__ import annotations

import sys

from webapp.entry import main

if __name__ == "__main__":
    sys.exit(main())
