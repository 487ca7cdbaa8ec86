"""To whom a turn was said: the audience of the door its sessions came in by, kept with what is known of the session (`notes.privacy`).

It is looked for in that record as it is stored, a JSON text in which every quotation mark of a log stands behind a backslash: no title or path of a
log can pass for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sqlalchemy import ColumnElement, Table, or_, select

from pipelines.notes.privacy import SAID_TO
from pipelines.store import tables as t
from pipelines.store.core import Core, chunks
from pipelines.store.types import load


def _written(audience: str | None) -> ColumnElement[bool]:
    """Records that name this audience, or any, by either of the store's writers of JSON."""
    forms = (f'"{SAID_TO}":"', f'"{SAID_TO}": "')
    end = "" if audience is None else f'{audience}"'
    return or_(*(t.session_infos.c.info.contains(form + end, autoescape=True) for form in forms))


class Audiences(Core):
    """Reading who heard what."""

    def heard(self, scope: str, turns: Iterable[str]) -> Mapping[str, str]:
        """The audiences each of these turns was said to, as `privacy.names_of` reads them; those said to nobody in particular are left out."""
        v, o, i = t.turns.c, t.occurrences.c, t.session_infos.c
        query = select(v.uid, i.info).join_from(t.turns, t.occurrences, o.turn_id == v.id).join(t.session_infos, i.session_id == o.session_id)
        found: dict[str, set[str]] = {}
        with self.reading("read who heard turns") as conn:
            query = query.where(v.scope_id == self.scope_of(conn, scope), _written(None)).distinct()
            for part in chunks(sorted(set(turns))):
                for row in conn.execute(query.where(v.uid.in_(part))):
                    extra = cast(dict[str, Any], load(row.info)).get("extra", {})
                    found.setdefault(row.uid, set()).add(str(extra[SAID_TO]))
        return {uid: ",".join(sorted(names)) for uid, names in found.items()}


def heard_here(turns: Table, audience: str) -> ColumnElement[bool]:
    """Of rows of turns, those said in a session this audience heard. Raw words are told to nobody else, whatever they are about."""
    o, i = t.occurrences.c, t.session_infos.c
    query = select(o.id).join_from(t.occurrences, t.session_infos, i.session_id == o.session_id)
    return query.where(o.turn_id == turns.c.id, o.scope_id == turns.c.scope_id, _written(audience)).correlate(turns).exists()
