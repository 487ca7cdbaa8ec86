"""`python -m tests.worlds [--users N] [--sessions N] [--tokens N] [--seed N] [--half dev|test|held|held2|held3] [--misses]`."""

import sys

from tests.worlds.table import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
