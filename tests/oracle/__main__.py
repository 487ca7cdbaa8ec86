"""`python -m tests.oracle`: the fake server as a process, until it is interrupted; prints its address as its first line.

GET /_log tells what it has seen, POST /_end ends the batches that are out.
"""

from __future__ import annotations

import argparse
import signal
import threading
from dataclasses import fields

from tests.oracle.server import Faults, nothing_found, serving


def main() -> None:
    """Serve with the options given."""
    args = _options()
    done = threading.Event()
    for sig in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sig, lambda *_: done.set())
    faults = Faults(**{f.name: getattr(args, f.name) for f in fields(Faults)})
    with serving(nothing_found, latency_s=args.latency, faults=faults, key=args.key, looks_to_end=args.looks, port=args.port) as service:
        print(service.base_url, flush=True)
        done.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--key", help="the only key that is taken")
    parser.add_argument("--looks", type=int, help="looks at a batch until it has ended; without it POST /_end ends them")
    for field in fields(Faults):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=int if field.name == "seed" else float, default=field.default)
    return parser.parse_args()


if __name__ == "__main__":
    main()
