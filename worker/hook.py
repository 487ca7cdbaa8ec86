"""`dreamd hook session-end`: record that a session ended, with the standard library alone, and get out of the way.

All hooks of a session end share 1.5 s, and nothing here may disturb the agent: no database, no Redis, no output, exit code 0 whatever happens. One file
in the spool of the data folder is all that is left; it is drained later (`worker.spool`). A session end that could not be recorded (disk full, folder
read-only) is found by `dreamd watch` from its quiet time. Where no worker serves, the end of a session of a project that is dreamt over starts the dream
itself (`worker.detached`).

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
CONNECTED = "--connected"
"""Said by a hook that `dreamd connect` installed: it hears of every project, and keeps to those that are dreamt over."""
TURN_END = "Stop"
"""The event of an agent that does not tell the end of a session: its log is read when a dream is due, and no request is made for each turn."""
OFF = (False, "false", "False", "FALSE", "0", "no", "off", "n", "f")
SUFFIX = ".json"
VERSION = 1
_STDIN = 0


def session_end(arguments: list[str]) -> int:
    """Spool what stands on standard input together with the command's arguments, and start the dream over it where one is due. Always 0."""
    with contextlib.suppress(Exception, KeyboardInterrupt):  # the one place that must not fail: the agent waits
        payload, data, event = read(_STDIN), data_of(arguments), {}
        with contextlib.suppress(ValueError, RecursionError):
            event = event_of(payload)
        known = _is_known(data, folder_of(event))
        if CONNECTED in arguments and not known and not option(arguments, "--wiki"):
            return 0  # a project nobody dreams over
        if event.get("hook_event_name") != TURN_END:
            spool(envelope("session-end", arguments, payload), spool_folder(data))
        config = option(arguments, "--config")
        if known and setting("dream_at_end", config) not in OFF:
            from worker.detached import start_dream

            start_dream(data, [f"--config={config}"] if config else [])
    return 0


def _is_known(data: str, folder: str) -> bool:
    """Whether a session's folder belongs to a project that is dreamt over."""
    if not os.path.isdir(os.path.join(data, "projects")):
        return False
    from worker.whose import registered_wiki  # only here: it takes a few milliseconds more

    return registered_wiki(data, folder) is not None


def event_of(payload: bytes) -> dict[str, object]:
    """What the agent tells, parsed. Raises ValueError for what is no JSON object."""
    event = json.loads(payload)
    if not isinstance(event, dict):
        raise ValueError
    return event


def folder_of(event: dict[str, object]) -> str:
    """The session's working directory, else ours."""
    told = event.get("cwd")
    return told if isinstance(told, str) and told else _here()


def data_of(arguments: list[str]) -> str:
    """The data folder: as the hook was told, else as the settings have it."""
    return option(arguments, "--data") or data_folder(option(arguments, "--config"))


def spool_folder(data: str) -> str:
    """Where session ends wait to be drained."""
    return os.path.join(data, "spool")


def data_folder(config: str | None) -> str:
    """The data folder of `worker.settings.data_folder`: variable, settings file, `$XDG_DATA_HOME/dreamd`, `~/.local/share/dreamd`."""
    given = setting("data_dir", config)
    if isinstance(given, str):
        return os.path.expanduser(given or ".")
    return os.path.join(_base("XDG_DATA_HOME", ".local", "share"), "dreamd")


def setting(name: str, config: str | None) -> object:
    """A setting at the top of the settings: its variable, else what the settings file says, else None."""
    given = _variable(f"DREAMD_{name.upper()}")
    if given is not None:
        return given
    return _from_file(name, config or os.environ.get("DREAMD_CONFIG") or os.path.join(_base("XDG_CONFIG_HOME", ".config"), "dreamd", "config.toml"))


def _base(variable: str, *below_home: str) -> str:
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), *below_home)


def _variable(name: str) -> str | None:
    """A setting's variable, in whatever case it is written."""
    return next((value for key, value in os.environ.items() if key.upper() == name), None)


def _from_file(name: str, path: str) -> object:
    """A setting as a settings file has it; a file that is missing or broken has none."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return None
    if name.encode() not in text:
        return None
    import tomllib  # only here: most settings files say little of what a hook asks for, and a session end is over sooner

    try:
        return tomllib.loads(text.decode()).get(name)
    except ValueError:
        return None


def option(arguments: list[str], name: str) -> str | None:
    """The value of an option, as `--option value` or `--option=value`."""
    for n, word in enumerate(arguments):
        if word == name and n + 1 < len(arguments):
            return arguments[n + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
    return None


def read(source: int, *, whole: bool = False) -> bytes:
    """What the agent tells, up to its end or the bound; nothing when a person typed the command. `whole` ends with the first whole JSON object: an agent
    that leaves the pipe open is not waited for."""
    if os.isatty(source):
        return b""
    told = bytearray()
    with contextlib.suppress(OSError):  # no standard input at all: that a session ended is worth recording all the same
        while len(told) < PAYLOAD_MAX and select.select([source], [], [], PATIENCE_S)[0]:
            part = os.read(source, PAYLOAD_MAX - len(told))
            if not part:
                break
            told += part
            if whole and _is_whole(told):
                break
    return bytes(told)


def _is_whole(told: bytearray) -> bool:
    if not told.rstrip().endswith(b"}"):
        return False
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(bytes(told))
        return True
    return False


def envelope(door: str, arguments: list[str], payload: bytes, **more: object) -> bytes:
    """The payload as it came (bytes that are no UTF-8 as lone surrogates), and what of the surroundings decides whose it is."""
    around = {name: value for name in ("DREAMD_WIKI", "DREAMD_SCOPE") if (value := _variable(name)) is not None}
    told = {"version": VERSION, "door": door, "at": time.time(), "cwd": _here(), "arguments": arguments, "environment": around,
            "payload": payload.decode("utf-8", "surrogateescape"), **more}  # fmt: skip
    return json.dumps(told).encode()


def _here() -> str:
    """The current folder; "" when it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def spool(data: bytes, folder: str) -> None:
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
