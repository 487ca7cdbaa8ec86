"""The console script. What must be quick is answered before anything heavy is imported."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from worker import __version__

        print(f"dreamd {__version__}")
        return 0
    from worker.cli import run

    return run()
