"""What a command loads before it works."""

from __future__ import annotations

import subprocess
import sys


def test_a_command_that_reads_no_session_compiles_no_rule_of_the_engine() -> None:
    listed = "import sys, worker.wiring, worker.cli; print(*sorted(m for m in sys.modules if m.startswith('pipelines.engines')))"
    loaded = subprocess.run((sys.executable, "-c", listed), check=True, capture_output=True, text=True).stdout.split()
    assert not {"pipelines.engines.local.engine", "pipelines.engines.local.cues", "pipelines.engines.local.facts", "pipelines.engines.local.personal"} & set(
        loaded
    )
