"""The console script. What must be quick is answered before anything heavy is imported."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from worker import __version__

        print(f"dreamd {__version__}")
        return 0
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        if sys.argv[2:3] == ["session-end"]:
            from worker.hook import session_end

            return session_end(sys.argv[3:])
        if sys.argv[2:3] == ["session-start"]:
            from worker.session_start import session_start

            return session_start(sys.argv[3:])
    from worker.cli import run

    return run()
