"""One tree: the class says what to do next, the attributes say what happened.

`Transient`: try again later. `Permanent`: park the unit and go on. `LeaseLost`: stop, another writer has taken over.
`Conflict`: what was read has moved, plan again. `Refused`: a person has to change something first; the message says what.
"""


class DreamdError(Exception):
    """Base of all errors dreamd raises on purpose; the message names what, where and what to do."""


class Transient(DreamdError):
    """The same unit may succeed later: retry."""


class Busy(Transient):
    """The provider asks to be left alone for `after_s` seconds (429, 529, 5xx): the unit is put back for so long, nobody sleeps on it."""

    def __init__(self, message: str, *, after_s: float) -> None:
        super().__init__(message)
        self.after_s = after_s


class Unreachable(Transient):
    """A call had no answer; `accepted` says that it may have been taken and paid for all the same (the connection broke after it was sent)."""

    def __init__(self, message: str, *, accepted: bool) -> None:
        super().__init__(message)
        self.accepted = accepted


class Paused(Transient):
    """The unit waits, which counts as nothing: for a batch, a bill to be paid or a rate (`why`), to be looked at again after `for_s` seconds."""

    def __init__(self, message: str, *, why: str, for_s: float) -> None:
        super().__init__(message)
        self.why = why
        self.for_s = for_s


class Permanent(DreamdError):
    """The same unit fails every time: park it, report it, go on with the rest."""


class LeaseLost(DreamdError):
    """Another writer owns the lease now: stop without writing."""


class Conflict(DreamdError):
    """What this unit read is no longer current: read and plan again."""


class Refused(DreamdError):
    """Nothing was done because a person has to decide or repair something first (exit code 3)."""


class UnreadableSource(Permanent):
    """A file given as a source cannot be read or is no log dreamd knows; `path` and `why` say which and why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class StoreUnusable(Refused):
    """A person has to repair or move the store itself, or this program: it says nothing about the unit at hand, which must be kept."""


class StoreTooNew(StoreUnusable):
    """The store was written by a newer dreamd."""


class StoreUnavailable(Transient):
    """The database did not answer; `doing` names the operation."""

    def __init__(self, doing: str) -> None:
        super().__init__(f"the store is unavailable while trying to {doing}")
        self.doing = doing


class NotOurFolder(Refused):
    """The wiki folder belongs to somebody else or to another store."""
