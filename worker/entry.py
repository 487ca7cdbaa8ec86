"""The console script. What must be quick is answered before anything heavy is imported."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from worker import __version__

        print(f"dreamd {__version__}")
        return 0
    if sys.argv[1:3] == ["hook", "session-end"] and "--help" not in sys.argv:
        from worker.hook import session_end

        return session_end(sys.argv[3:])
    from worker.cli import run

    return run()
