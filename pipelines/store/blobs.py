"""The archive inside the database: what a server keeps where a laptop has a folder. One of a scope, since no scope may learn what another one holds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from sqlalchemy import delete, select

from pipelines.logs.archive import ArchiveUnavailable
from pipelines.logs.codec import compress, decompress
from pipelines.store import tables as t
from pipelines.store.core import Core, chunks, insert_new
from pipelines.store.triggers import door

_DIGITS = frozenset("0123456789abcdef")


class DatabaseArchive:
    """Blobs of one scope, as rows that are never changed. Safe to use from several threads and processes; each call is a transaction of its own."""

    def __init__(self, core: Core, scope: str) -> None:
        self.core = core
        self.scope = scope

    def put(self, data: bytes) -> str:
        """Store bytes durably; the address is the SHA-256 of the bytes themselves. Raises StoreUnavailable."""
        return self.put_all([data])[0]

    def put_all(self, blobs: Sequence[bytes]) -> list[str]:
        """`put` of several blobs in one transaction: all of them or none."""
        addresses = [hashlib.sha256(data).hexdigest() for data in blobs]
        held = self._held(addresses)
        new = {address: data for address, data in zip(addresses, blobs, strict=True) if address not in held}
        # sorted: two who write the same blobs at once wait for one another, but never in a circle
        rows = [{"address": address, "length": len(data), "bytes": compress(data)} for address, data in sorted(new.items())]
        if rows:
            with self.core.writing("archive bytes of a log") as conn:
                scope_id = self.core.scope_of(conn, self.scope) or self.core.locked_scope(conn, self.scope)
                conn.execute(insert_new(conn, t.blobs), [{"scope_id": scope_id, **row} for row in rows])
        return addresses

    def get(self, address: str) -> bytes:
        """The bytes, checked against their address. Raises ArchiveUnavailable when they are missing or damaged, StoreUnavailable."""
        if len(address) != 64 or set(address) - _DIGITS:
            raise ValueError(f"{address!r} is no address of a blob")
        b = t.blobs.c
        with self.core.reading("read archived bytes") as conn:
            kept: bytes | None = conn.scalar(select(b.bytes).where(b.scope_id == self.core.scope_of(conn, self.scope), b.address == address))
        if kept is None:
            raise ArchiveUnavailable(f"blob {address} of {self.scope} cannot be read: it is not in {self.core.engines.where}")
        try:
            data = decompress(kept)
        except ValueError as error:
            raise ArchiveUnavailable(f"blob {address} of {self.scope} in {self.core.engines.where} cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != address:
            raise ArchiveUnavailable(f"blob {address} of {self.scope} in {self.core.engines.where} is damaged: its bytes have another digest")
        return data

    def addresses(self) -> frozenset[str]:
        """Everything it holds. Raises StoreUnavailable."""
        b = t.blobs.c
        with self.core.reading("list archived bytes") as conn:
            return frozenset(conn.scalars(select(b.address).where(b.scope_id == self.core.scope_of(conn, self.scope))))

    def drop_all(self, addresses: Collection[str]) -> None:
        """Delete blobs that nothing points at any more, through the door of a forget."""
        b = t.blobs.c
        with self.core.writing("delete archived bytes") as conn, door(conn):
            scope_id = self.core.scope_of(conn, self.scope)
            for part in chunks(sorted(addresses)):
                conn.execute(delete(t.blobs).where(b.scope_id == scope_id, b.address.in_(part)))

    def _held(self, addresses: Sequence[str]) -> frozenset[str]:
        """Those of these addresses that are there."""
        b = t.blobs.c
        with self.core.reading("look into the archive") as conn:
            mine = b.scope_id == self.core.scope_of(conn, self.scope)
            parts = chunks(sorted(set(addresses)))
            return frozenset(address for part in parts for address in conn.scalars(select(b.address).where(mine, b.address.in_(part))))
