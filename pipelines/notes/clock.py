"""When one claim is clearly later than another, and what is no order (systems R7). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pipelines.model import Basis, Witnessed

from .moment import is_ahead
from .rulings import is_ruling


@dataclass(frozen=True, slots=True)
class Clock:
    """When one claim is clearly later than another (systems R7)."""

    skew_s: float
    intake_at: datetime | None

    def future(self, witness: Witnessed) -> bool:
        """Stated later than the log was read: the time is wrong."""
        at = witness.order.at
        return self.intake_at is not None and at is not None and at > self.intake_at + timedelta(seconds=self.skew_s)

    def at(self, witness: Witnessed) -> datetime | None:
        """The time of a claim; None where that cannot be (`is_ahead`) or is not its own."""
        order = witness.order
        return None if order.basis is Basis.UNKNOWN or is_ahead(order.at, self.intake_at) else order.at

    def later(self, newer: Witnessed, older: Witnessed) -> bool:
        """By position inside one session, by more than the skew across sessions; a ruling is later than all its maker had heard."""
        one, two = newer.order, older.order
        if one.session == two.session and not is_ruling(newer):
            return one.ordinal > two.ordinal and one.sort > two.sort
        if not (self._dated(newer) and (self._dated(older) or is_ruling(newer))):
            return False
        assert one.at is not None
        if two.at is None:
            return True
        if is_ruling(newer) or is_ruling(older):
            return one.at >= two.at if is_ruling(newer) else one.at > two.at
        return (one.at - two.at).total_seconds() > self.skew_s

    def _dated(self, witness: Witnessed) -> bool:
        order = witness.order
        return order.known and order.at is not None and order.basis is not Basis.UNKNOWN and not self.future(witness)
