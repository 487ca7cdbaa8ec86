"""What a command costs before it works: `python -m tests.benchmarks.startup [PATH] [--runs N]`.

Runs the command as a process of its own over a wiki made of the logs under PATH (default: the sample that is shipped): `--version`, both
hooks, `status`, a first dream, and a dream with nothing new, beside an interpreter that does nothing. The best of N runs, by the clock and in processor seconds of the
process. Then where the imports of `status` take their time, by top-level package and, for our own, by module (`-X importtime`).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmarks.timing import Cost

SAMPLE = Path(__file__).parents[2] / "deploy" / "sample" / "sessions"
DREAMD = (sys.executable, "-m", "worker")


def main(arguments: Sequence[str]) -> int:
    """Print the table and the imports; 1 when a command failed."""
    parser = argparse.ArgumentParser(prog="startup", description=__doc__)
    parser.add_argument("path", nargs="?", metavar="PATH", default=str(SAMPLE))
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="dreamd-startup-") as folder:
        wiki = ("--wiki", str(Path(folder, "wiki")))
        environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder}
        commands = {
            "python alone": (1, (sys.executable, "-c", "")), "--version": (1, (*DREAMD, "--version")),
            "hook session-end": (1, (*DREAMD, "hook", "session-end")), "first dream": (0, (*DREAMD, "dream", asked.path, *wiki)),
            "hook session-start": (1, (*DREAMD, "hook", "session-start", *wiki)), "dream, nothing new": (1, (*DREAMD, "dream", asked.path, *wiki)), "status": (1, (*DREAMD, "status", *wiki)),
        }  # fmt: skip
        print(f"the best of {asked.runs} runs; the first dream of one, its scanner's rules compiled anew")
        alone = None
        for name, (again, command) in commands.items():
            cost = _best(command, environment, asked.runs if again else 1)
            alone = alone or cost
            beyond = f"{1000 * (cost.seconds - alone.seconds):7.0f} ms beyond the interpreter, {cost.seconds / alone.seconds:.1f} times it"
            print(f"{name:20} {cost.seconds:7.3f} s  {cost.processor:7.3f} s of processor  {beyond}")
        _imports((sys.executable, "-X", "importtime", "-m", "worker", "status", *wiki), environment)
    return 0


def _best(command: Sequence[str], environment: Mapping[str, str], runs: int) -> Cost:
    costs = [_once(command, environment) for _ in range(runs)]
    return Cost(min(c.seconds for c in costs), min(c.processor for c in costs))


def _once(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _imports(command: Sequence[str], environment: Mapping[str, str]) -> None:
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr
    packages: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    for line in told.splitlines():
        fields = line.removeprefix("import time:").split("|")  # own microseconds | with what it imports | name
        if len(fields) == 3 and fields[0].strip().isdigit():
            name, spent = fields[2].strip(), int(fields[0])
            packages[name.partition(".")[0]] += spent
            if name.startswith(("pipelines", "worker")):
                ours[name] += spent
    total = sum(packages.values())
    print(f"imports of status: {total / 1e3:.0f} ms; " + ", ".join(f"{name} {spent / total:.0%}" for name, spent in packages.most_common(12)))
    print("of our own modules: " + ", ".join(f"{name} {spent / 1e3:.0f} ms" for name, spent in ours.most_common(12)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
