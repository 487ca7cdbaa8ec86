"""python -m worker: the same as the `dreamd` command."""

import sys

from worker.entry import main

if __name__ == "__main__":
    sys.exit(main())
