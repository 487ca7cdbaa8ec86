"""`dreamd hook session-end`: record that a session ended, with the standard library alone, and get out of the way.

All hooks of a session end share 1.5 s, and nothing here may disturb the agent: no database, no Redis, no output, exit code 0 whatever happens. One file
in the spool of the data folder is all that is left; it is drained later (`worker.spool`). A session end that could not be recorded (disk full, folder
read-only) is found by `dreamd watch` from its quiet time.

The data folder is found as `worker.settings` finds it, without importing it: a test compares the two.
"""

import contextlib
import json
import os
import select
import time

PAYLOAD_MAX = 1 << 20
"""Bytes read of what the agent tells; a session end is some hundred."""
PATIENCE_S = 1.0
"""How long to wait for an agent that leaves the pipe open."""
SUFFIX = ".json"
VERSION = 1
_STDIN = 0


def session_end(arguments: list[str]) -> int:
    """Spool what stands on standard input together with the command's arguments. Always 0."""
    with contextlib.suppress(Exception, KeyboardInterrupt):  # the one place that must not fail: the agent waits
        _spool(_envelope(arguments, _read(_STDIN)), spool_folder(data_folder(option(arguments, "--config"))))
    return 0


def spool_folder(data: str) -> str:
    """Where session ends wait to be drained."""
    return os.path.join(data, "spool")


def data_folder(config: str | None) -> str:
    """The data folder of `worker.settings.data_folder`: variable, settings file, `$XDG_DATA_HOME/dreamd`, `~/.local/share/dreamd`."""
    given = _variable("DREAMD_DATA_DIR")
    if given is None:
        given = _from_file(config or os.environ.get("DREAMD_CONFIG") or os.path.join(_base("XDG_CONFIG_HOME", ".config"), "dreamd", "config.toml"))
    if given is not None:
        return os.path.expanduser(given or ".")
    return os.path.join(_base("XDG_DATA_HOME", ".local", "share"), "dreamd")


def _base(variable: str, *below_home: str) -> str:
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), *below_home)


def _variable(name: str) -> str | None:
    """A setting's variable, in whatever case it is written."""
    return next((value for key, value in os.environ.items() if key.upper() == name), None)


def _from_file(path: str) -> str | None:
    """`data_dir` of a settings file; a file that is missing or broken names none."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return None
    if b"data_dir" not in text:
        return None
    import tomllib  # only here: most settings files name no data folder, and a session end is over sooner

    try:
        given = tomllib.loads(text.decode()).get("data_dir")
    except ValueError:
        return None
    return given if isinstance(given, str) else None


def option(arguments: list[str], name: str) -> str | None:
    """The value of an option, as `--option value` or `--option=value`."""
    for n, word in enumerate(arguments):
        if word == name and n + 1 < len(arguments):
            return arguments[n + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
    return None


def _read(source: int) -> bytes:
    """What the agent tells, up to its end or the bound; nothing when a person typed the command."""
    if os.isatty(source):
        return b""
    told = bytearray()
    with contextlib.suppress(OSError):  # no standard input at all: that a session ended is worth recording all the same
        while len(told) < PAYLOAD_MAX and select.select([source], [], [], PATIENCE_S)[0]:
            part = os.read(source, PAYLOAD_MAX - len(told))
            if not part:
                break
            told += part
    return bytes(told)


def _envelope(arguments: list[str], payload: bytes) -> bytes:
    """The payload as it came (bytes that are no UTF-8 as lone surrogates), and what of the surroundings decides whose it is."""
    around = {name: value for name in ("DREAMD_WIKI", "DREAMD_SCOPE") if (value := _variable(name)) is not None}
    told = {"version": VERSION, "door": "session-end", "at": time.time(), "cwd": _here(), "arguments": arguments, "environment": around,
            "payload": payload.decode("utf-8", "surrogateescape")}  # fmt: skip
    return json.dumps(told).encode()


def _here() -> str:
    """The current folder; "" when it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _spool(data: bytes, folder: str) -> None:
    """One file, whole or not at all."""
    mask = os.umask(0o077)  # also for the folders above that are missing
    try:
        os.makedirs(folder, exist_ok=True)
    finally:
        os.umask(mask)
    name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}"
    temporary = os.path.join(folder, f".{name}.part")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            _write(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        os.rename(temporary, os.path.join(folder, name + SUFFIX))
    except OSError:
        os.unlink(temporary)  # half a file on a full disk helps nobody
        raise
    here = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(here)
    finally:
        os.close(here)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
