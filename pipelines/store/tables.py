"""The schema, one notation for both databases.

Each table says how it may change (`info["change"]`):
    mutable     derived or counted; may be rebuilt
    append      never updated or deleted
    forget      never updated; deleted only through the forget door (a row in `grants` that lives inside one transaction)
Each column says what it holds (`info["holds"]`):
    vocabulary  our own words, ids, codes, counts, times, content digests of rows that a forget deletes
    keyed       digests under the store's pepper: the only kind that may outlive a forget
    content     text derived from logs or people
Every domain table carries `scope_id`, and every foreign key between them is (scope_id, id): scopes are walls (systems R8).
Ids are never printed, never ordered by in what is shown, never reused.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Column, Float, ForeignKey, ForeignKeyConstraint, Index, LargeBinary, MetaData, Table, UniqueConstraint, text

from pipelines.store.types import Content, Id, PathText, Text, Utc

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def word(name: str, *, null: bool = False) -> Column[str]:
    """Our own vocabulary, an id or a code."""
    return Column(name, Text, nullable=null, info={"holds": "vocabulary"})


def number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Id, nullable=null, info={"holds": "vocabulary"})


def counter(name: str) -> Column[int]:
    """A number a later migration added to a table that had rows: those, and rows of older code, start at 0."""
    return Column(name, Id, nullable=False, server_default=text("0"), info={"holds": "vocabulary"})


def flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, info={"holds": "vocabulary"})


def instant(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Utc, nullable=null, info={"holds": "vocabulary"})


def content(name: str, *, null: bool = False) -> Column[str]:
    """Text (or JSON with text) derived from logs or people."""
    return Column(name, Content, nullable=null, info={"holds": "content"})


def path(name: str) -> Column[str]:
    """A file name, content as well."""
    return Column(name, PathText, nullable=False, info={"holds": "content"})


def keyed(name: str) -> Column[str]:
    """A digest under the store's pepper."""
    return Column(name, Text, nullable=False, info={"holds": "keyed"})


def row_id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True, info={"holds": "vocabulary"})


def wall(column: str, to: str) -> ForeignKeyConstraint:
    """A foreign key that cannot cross scopes."""
    return ForeignKeyConstraint(["scope_id", column], [f"{to}.scope_id", f"{to}.id"])


def walled(name: str, change: str, *items: Column[Any] | UniqueConstraint | ForeignKeyConstraint | Index, target: bool = False) -> Table:
    """A table inside a scope; `target` adds the (scope_id, id) key that walls point at."""
    scope = Column("scope_id", Id, ForeignKey("scopes.id"), nullable=False, info={"holds": "vocabulary"})
    keys = [UniqueConstraint("scope_id", "id")] if target else []
    return Table(name, metadata, row_id(), scope, *items, *keys, info={"change": change}, sqlite_autoincrement=True)


def unique(*columns: str) -> UniqueConstraint:
    return UniqueConstraint(*columns)


# --- the store and its scopes ------------------------------------------------------------------------------------------------------------

store = Table(
    "store", metadata, row_id(), word("epoch"), Column("pepper", LargeBinary, nullable=False, info={"holds": "keyed"}),
    instant("created_at"), word("oldest_code", null=True), info={"change": "mutable"},
)  # fmt: skip
grants = Table("grants", metadata, row_id(), word("reason"), info={"change": "mutable"})
scopes = Table(
    "scopes", metadata, row_id(), word("path"), number("revision"), instant("recorded_at"), counter("wanted"), counter("taken"), counter("claimed_ms"),
    counter("forget_epoch"), unique("path"), info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
revisions = walled(
    "revisions", "append", number("rev"), word("cause"), word("dream_uid", null=True), word("hand"), instant("recorded_at"), word("counts"),
    unique("scope_id", "rev"),
)  # fmt: skip

# --- what bytes said ---------------------------------------------------------------------------------------------------------------------

sources = walled(
    "sources", "mutable", content("identity"), word("format"), number("generation"), number("offset"), number("line"), keyed("head_mac"),
    keyed("tail_mac"), number("pending"), content("carry"), number("redacted"), unique("scope_id", "identity"), target=True,
)  # fmt: skip
files = walled(
    "files", "mutable", path("path"), number("size"), number("mtime_ns"), Column("inode", Text, nullable=False, info={"holds": "vocabulary"}),
    content("identity"), unique("scope_id", "path"),
)  # fmt: skip
segments = walled(
    "segments", "forget", number("source_id"), number("generation"), number("offset"), number("length"), word("blob"), keyed("raw_mac"),
    word("mask_version"), unique("source_id", "generation", "offset"), wall("source_id", "sources"),
)  # fmt: skip
bad_spans = walled(
    "bad_spans", "forget", number("source_id"), number("generation"), number("offset"), number("length"), number("line"), word("reason"),
    unique("source_id", "generation", "offset"), wall("source_id", "sources"),
)  # fmt: skip
sessions = walled("sessions", "forget", word("uid"), word("format"), unique("scope_id", "uid"), target=True)
session_infos = walled(
    "session_infos", "mutable", number("session_id"), number("source_id"), content("info"), unique("session_id", "source_id"),
    wall("session_id", "sessions"), wall("source_id", "sources"),
)  # fmt: skip
session_heads = walled(
    "session_heads", "mutable", number("session_id"), word("digest"), number("turns"), instant("started_at", null=True), unique("session_id"),
    wall("session_id", "sessions"),
)  # fmt: skip
turns = walled(
    "turns", "forget", word("uid"), word("snap"), word("digest"), word("role"), word("origin"), instant("event_at", null=True), word("zone", null=True),
    content("body"), content("detail"), unique("scope_id", "uid", "digest"), Index(None, "scope_id", "origin"), target=True,
)  # fmt: skip
occurrences = walled(
    "occurrences", "forget", number("turn_id"), number("session_id"), number("source_id"), number("ordinal"), word("parent", null=True),
    number("generation"), number("offset"), number("length"), number("line"), unique("turn_id", "source_id", "generation", "offset", "session_id"),
    Index(None, "session_id", "ordinal"), wall("turn_id", "turns"), wall("session_id", "sessions"), wall("source_id", "sources"),
)  # fmt: skip
arrivals = walled("arrivals", "append", number("upto"), instant("recorded_at"), Index(None, "scope_id", "recorded_at"))
turn_order = walled(
    "turn_order", "mutable", word("turn_uid"), number("session_id"), instant("order_at", null=True), number("ordinal"), word("basis"), flag("known"),
    unique("session_id", "turn_uid"), Index(None, "scope_id", "turn_uid"), wall("session_id", "sessions"),
)  # fmt: skip
online_notes = walled(
    "online_notes", "forget", word("uid"), content("folder"), number("source_id", null=True), word("digest"), flag("gone"), content("body"),
    number("replaces", null=True), instant("recorded_at"), instant("ends_at", null=True), unique("replaces"), Index(None, "scope_id", "folder"),
    Index(None, "scope_id", "uid"), Index(None, "scope_id", "ends_at"), wall("source_id", "sources"), wall("replaces", "online_notes"), target=True,
)  # fmt: skip

# --- what was read in it -----------------------------------------------------------------------------------------------------------------

claims = walled(
    "claims", "forget", word("uid"), word("digest"), word("kind"), content("subject"), content("attribute"), content("qualifier"),
    content("value", null=True), content("statement"), content("applies_to", null=True), content("detail"), word("made_by"),
    unique("scope_id", "uid", "digest"), target=True,
)  # fmt: skip
quotes = walled(
    "quotes", "forget", number("claim_id"), number("n"), word("turn_uid"), number("start"), number("stop"), content("text"),
    unique("claim_id", "n"), Index(None, "scope_id", "turn_uid"), wall("claim_id", "claims"),
)  # fmt: skip
session_reads = walled(
    "session_reads", "mutable", number("session_id"), word("engine"), word("digest"), content("questions"), unique("session_id", "engine"),
    wall("session_id", "sessions"), target=True,
)  # fmt: skip
read_claims = walled(
    "read_claims", "mutable", number("read_id"), number("claim_id"), content("group_key"), content("block_keys"), word("outcome"), word("results"),
    unique("scope_id", "read_id", "claim_id"), Index(None, "scope_id", "claim_id"), Index(None, "scope_id", "group_key"), Index(None, "scope_id", "outcome"),
    wall("read_id", "session_reads"), wall("claim_id", "claims"), target=True,
)  # fmt: skip
claim_blocks = walled(
    "claim_blocks", "mutable", number("read_claim_id"), content("block_key"), unique("scope_id", "block_key", "read_claim_id"),
    Index(None, "scope_id", "read_claim_id"), wall("read_claim_id", "read_claims"),
)  # fmt: skip
dirty_claims = walled("dirty_claims", "mutable", word("claim_uid"), word("why"), unique("scope_id", "claim_uid"))
relations = walled(
    "relations", "forget", word("low"), word("high"), word("verdict"), word("why"), word("made_by"), unique("scope_id", "low", "high", "made_by"),
    Index(None, "scope_id", "high"),
)  # fmt: skip
rulings = walled(
    "rulings", "forget", word("uid"), word("verb"), word("target"), word("other", null=True), content("body", null=True), word("hand"),
    instant("at", null=True), instant("recorded_at"), unique("scope_id", "uid"), Index(None, "scope_id", "target"), Index(None, "scope_id", "other"),
)  # fmt: skip

# --- what is believed --------------------------------------------------------------------------------------------------------------------

notes = walled("notes", "forget", word("uid"), unique("scope_id", "uid"), target=True)
note_versions = walled(
    "note_versions", "forget", number("note_id"), number("rev"), number("n"), word("slot"), number("replaces", null=True), flag("closing"),
    word("content"), word("kind"), content("subject"), content("attribute"), content("qualifier"), content("statement"), content("value", null=True),
    word("status"), number("standing"), word("basis"), word("claims"), number("roots"), instant("valid_from", null=True),
    instant("valid_until", null=True), instant("oldest_evidence", null=True), instant("newest_evidence", null=True), word("verified_by", null=True),
    instant("verified_at", null=True), content("applies_to", null=True), content("reason", null=True), word("ended_by", null=True), word("missed"),
    word("sensitivity"), word("audience"), word("agent", null=True), instant("recorded_at"), unique("replaces"), unique("scope_id", "rev", "n"),
    Index(None, "scope_id", "subject"), Index(None, "note_id"), wall("note_id", "notes"), wall("replaces", "note_versions"), target=True,
)  # fmt: skip
heads = walled(
    "heads", "mutable", number("note_id"), number("version_id"), word("slot"), word("status"), flag("closing"), instant("valid_until", null=True),
    unique("version_id"), unique("note_id", "slot"), Index(None, "scope_id", "status", "valid_until"), wall("note_id", "notes"),
    wall("version_id", "note_versions"),
)  # fmt: skip
findings = walled(
    "findings", "forget", word("note_uid"), number("rev"), word("digest"), word("verdict"), word("why"), content("body"),
    number("replaces", null=True), instant("recorded_at"), unique("replaces"), Index(None, "scope_id", "note_uid"), wall("replaces", "findings"),
    target=True,
)  # fmt: skip
decisions = walled(
    "decisions", "forget", word("uid"), number("rev"), word("dream_uid", null=True), number("n"), word("stage"), word("verb"), word("reason"),
    word("note_uid", null=True), word("refs"), word("engine"), number("cost_micros"), instant("recorded_at"), unique("scope_id", "uid"),
    Index(None, "scope_id", "dream_uid"), Index(None, "scope_id", "note_uid"),
)  # fmt: skip

# --- dreams ------------------------------------------------------------------------------------------------------------------------------

dreams = walled(
    "dreams", "mutable", word("uid"), word("state"), word("cause"), content("params"), word("holder"), number("input_rev"),
    number("applied_rev", null=True), word("code"), content("summary", null=True), instant("started_at"), instant("ended_at", null=True),
    word("phase", null=True), word("params_mac", null=True), word("slot", null=True), instant("requested_at", null=True), counter("replans"),
    counter("claimed_ms"), number("dirty_upto", null=True), unique("scope_id", "uid"), target=True,
)  # fmt: skip
Index("ix_dreams_one_running", dreams.c.scope_id, unique=True, sqlite_where=dreams.c.state == "running", postgresql_where=dreams.c.state == "running")
Index(
    "ix_dreams_one_pending", dreams.c.scope_id, dreams.c.params_mac, unique=True,
    sqlite_where=dreams.c.state == "pending", postgresql_where=dreams.c.state == "pending",
)  # fmt: skip
Index(
    "ix_dreams_one_slot", dreams.c.scope_id, dreams.c.slot, unique=True,
    sqlite_where=dreams.c.slot.is_not(None), postgresql_where=dreams.c.slot.is_not(None),
)  # fmt: skip
Index("ix_dreams_state", dreams.c.state, dreams.c.scope_id)
requests = walled(
    "requests", "mutable", word("request_id"), word("params_mac"), word("cause"), word("hand"), number("dream_id", null=True), instant("recorded_at"),
    unique("scope_id", "request_id"), wall("dream_id", "dreams"),
)  # fmt: skip
stages = walled("stages", "mutable", number("dream_id"), word("stage"), number("open"), word("state"), unique("dream_id", "stage"), wall("dream_id", "dreams"))
jobs = walled(
    "jobs", "mutable", number("dream_id"), word("stage"), word("unit"), content("payload"), word("state"), number("fence"), word("owner", null=True),
    number("lease_ms", null=True), number("ttl_ms", null=True), number("deadline_ms", null=True), number("run_ms"), number("rung_ms", null=True),
    number("rings"), number("claims"), number("failures"), content("result", null=True), word("code"), content("error", null=True),
    unique("dream_id", "stage", "unit"), Index(None, "state", "run_ms"), Index(None, "dream_id", "state", "run_ms", "id"), wall("dream_id", "dreams"),
    target=True,
)  # fmt: skip
changes = walled(
    "changes", "mutable", number("dream_id"), word("about"), word("note_uid"), word("state"), content("payload"),
    unique("dream_id", "about", "note_uid"), wall("dream_id", "dreams"),
)  # fmt: skip
change_reads = walled(
    "change_reads", "mutable", number("dream_id"), word("note_uid"), word("seen"), unique("dream_id", "note_uid"), wall("dream_id", "dreams"),
)  # fmt: skip

# --- pages and who was told --------------------------------------------------------------------------------------------------------------

pages = walled(
    "pages", "mutable", word("uid"), content("slug"), content("slug_fold"), content("title"), number("head_seq"), number("head_rev"), flag("retired"),
    unique("scope_id", "uid"), target=True,
)  # fmt: skip
Index(
    "ix_pages_one_slug", pages.c.scope_id, pages.c.slug_fold, unique=True,
    sqlite_where=pages.c.retired.is_(False), postgresql_where=pages.c.retired.is_(False),
)  # fmt: skip
Index("ix_pages_slug_fold", pages.c.scope_id, pages.c.slug_fold)
redirects = walled(
    "redirects", "mutable", content("slug"), content("slug_fold"), number("page_id"), number("since_rev"), unique("scope_id", "slug_fold"),
    wall("page_id", "pages"),
)  # fmt: skip
page_versions = walled(
    "page_versions", "forget", number("page_id"), number("seq"), number("rev"), content("slug"), content("title"), content("body"), word("digest"),
    word("renderer"), instant("recorded_at"), unique("page_id", "seq"), unique("page_id", "rev"), Index(None, "scope_id", "digest"), Index("ix_page_versions_slug", "scope_id", "slug"),
    wall("page_id", "pages"),
)  # fmt: skip
placements = walled(
    "placements", "forget", word("note_uid"), number("rev"), word("page_uid", null=True), word("section"), unique("scope_id", "note_uid", "rev"),
)  # fmt: skip
published_lines = walled("published_lines", "append", keyed("mac"), unique("scope_id", "mac"))
wikis = walled("wikis", "mutable", word("marker"), word("host"), word("epoch"), number("shown_rev"), instant("seen_at"), unique("marker"))
own_words = walled(
    "own_words", "forget", word("wiki"), content("page"), content("body"), word("digest"), number("replaces", null=True), instant("recorded_at"),
    unique("replaces"), Index(None, "scope_id", "page"), wall("replaces", "own_words"), target=True,
)  # fmt: skip
deliveries = walled(
    "deliveries", "forget", word("session"), word("door"), word("target"), number("rev"), word("versions"), word("agent", null=True),
    word("audience"), instant("delivered_at"), Index(None, "scope_id", "session"),
)  # fmt: skip

# --- who may work, when, and what was asked -----------------------------------------------------------------------------------------------

blobs = walled(
    "blobs", "forget", word("address"), number("length"), Column("bytes", LargeBinary, nullable=False, info={"holds": "content"}), unique("scope_id", "address"),
)  # fmt: skip
leases = Table(
    "leases", metadata, row_id(), word("kind"), content("name"), word("owner", null=True), number("fence"), number("until_ms"), number("ttl_ms"),
    unique("kind", "name"), info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
schedules = walled(
    "schedules", "mutable", word("kind"), word("spec"), word("zone"), content("params"), instant("since"), word("last_slot", null=True), flag("active"),
    unique("scope_id", "kind"),
)  # fmt: skip
slots = walled(
    "slots", "append", word("schedule"), word("slot"), word("request_id", null=True), word("why"), instant("recorded_at"), unique("scope_id", "schedule", "slot"),
)  # fmt: skip
processes = Table(
    "processes", metadata, row_id(), word("name"), word("role"), instant("started_at"), number("seen_ms"), number("done"), number("failed"),
    number("finished_ms", null=True), unique("name"), info={"change": "mutable"},
)  # fmt: skip
rates = Table(
    "rates", metadata, row_id(), word("name"), Column("tokens", Float, nullable=False, info={"holds": "vocabulary"}), number("filled_ms"), unique("name"),
    info={"change": "mutable"},
)  # fmt: skip
letters = Table(
    "letters", metadata, row_id(), word("door"), word("why"), content("body"), word("digest"), instant("recorded_at"), unique("door", "digest"),
    info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
faults = Table(
    "faults", metadata, row_id(), word("code"), word("about"), instant("recorded_at"), info={"change": "mutable"}, sqlite_autoincrement=True,
)  # fmt: skip
forgets = walled(
    "forgets", "append", word("uid"), keyed("selector"), word("how"), word("counts"), word("hand"), instant("recorded_at"), unique("scope_id", "uid"),
)  # fmt: skip
tombstones = walled(
    "tombstones", "mutable", word("forget"), word("kind"), keyed("mac"), number("words"), unique("scope_id", "kind", "mac", "forget"),
)  # fmt: skip
retained = walled(
    "retained", "mutable", number("session_id"), instant("turns_until", null=True), number("turns_days"), number("turns"), instant("bytes_until", null=True),
    number("bytes_days"), instant("recorded_at"), unique("session_id"), wall("session_id", "sessions"),
)  # fmt: skip
leftovers = walled("leftovers", "mutable", word("what"), word("name"), unique("scope_id", "what", "name"))
audit = walled("audit", "append", word("uid"), word("verb"), word("hand"), word("about"), instant("recorded_at"), unique("scope_id", "uid"))

# --- what models answered, and what it cost ----------------------------------------------------------------------------------------------

answers = walled(
    "answers", "forget", keyed("request_mac"), number("attempt"), word("stage"), word("prompt"), word("model"), content("response"), word("stop"),
    word("usage"), number("cost_uusd"), word("request_id"), word("inputs"), instant("recorded_at"), unique("scope_id", "request_mac", "attempt"),
)  # fmt: skip
batches = walled(
    "batches", "mutable", word("intent"), word("remote_id", null=True), word("state"), word("dream"), number("requests"), number("posts"),
    flag("adopted"), word("foreign_ids"), word("owner"), number("until_ms"), word("why"), instant("intended_at"), instant("posted_at", null=True),
    instant("ended_at", null=True), unique("intent"), Index(None, "state", "scope_id"), target=True,
)  # fmt: skip
calls = walled(
    "calls", "mutable", keyed("request_mac"), number("attempt"), word("state"), word("stage"), content("name"), word("model"), word("prompt"), word("dream"),
    word("day"), word("owner"), number("sent_ms"), number("until_ms", null=True), number("batch_id", null=True), word("custom_id", null=True),
    word("inputs", null=True), number("bound_uusd"), number("cost_uusd"), number("fresh"), number("written"), number("cached"), number("output"),
    word("request_id"), word("why"), instant("sent_at"), instant("ended_at", null=True), Index(None, "scope_id", "dream"),
    Index(None, "state", "scope_id"), Index(None, "batch_id", "custom_id"), wall("batch_id", "batches"),
)  # fmt: skip
Index(
    "ix_calls_one_sent", calls.c.scope_id, calls.c.request_mac, calls.c.attempt, unique=True,
    sqlite_where=calls.c.state == "sent", postgresql_where=calls.c.state == "sent",
)  # fmt: skip
budgets = Table(
    "budgets", metadata, row_id(), word("kind"), word("name"), number("limit_uusd", null=True), number("spent_uusd"), number("reserved_uusd"),
    number("presumed_uusd"), unique("kind", "name"), info={"change": "mutable"},
)  # fmt: skip
pauses = Table("pauses", metadata, row_id(), word("what"), word("why"), number("until_ms"), unique("what"), info={"change": "mutable"})

# --- what is shown: a projection of the above, kept so that a dream need not look at the whole scope to render a page --------------------

renders = walled(
    "renders", "mutable", word("renderer"), number("rev"), word("marks"), content("aside"), unique("scope_id"),
)  # fmt: skip
shown_items = walled(
    "shown_items", "mutable", word("uid"), word("sentence"), flag("lead"), flag("carried"), flag("live"), flag("placed"), content("key"), content("subject"),
    flag("named"), content("pin"), content("forms"), word("shelf"), content("root"), content("topic"), number("part"), number("oldest", null=True), number("newest", null=True),
    number("position"), word("waits"), word("reason"), word("queue_rank"), word("section"), word("brief_rank"), word("said"), flag("checked"),
    flag("indexed"), number("upper_lines"), number("upper_bytes"), number("lines", null=True), number("size", null=True), word("mark"), content("raw"),
    content("body"), unique("scope_id", "uid"), Index(None, "scope_id", "sentence"), Index(None, "scope_id", "topic"), Index(None, "scope_id", "root"), Index(None, "scope_id", "key"),
    Index(None, "scope_id", "waits", "queue_rank"), Index(None, "scope_id", "section", "brief_rank"), Index(None, "scope_id", "newest"),
    Index(None, "scope_id", "carried"),
)  # fmt: skip
shown_rests = walled(
    "shown_rests", "mutable", word("rests_on"), word("uid"), unique("scope_id", "rests_on", "uid"), Index(None, "scope_id", "uid"),
)  # fmt: skip
shown_pages = walled(
    "shown_pages", "mutable", content("topic"), number("part"), word("sort"), flag("live"), content("title"), content("path"), content("slug"), content("begin"), content("aliases"),
    content("names"), content("hook"), content("line"), flag("archived"), number("bytes"), word("mark"), word("links_mark"), content("words"), content("body"),
    content("targets"), unique("scope_id", "topic", "part"),
)  # fmt: skip
shown_links = walled(
    "shown_links", "mutable", content("source"), content("target"), number("mentions"), flag("leads"), unique("scope_id", "source", "target"),
    Index(None, "scope_id", "target"),
)  # fmt: skip
shown_sessions = walled(
    "shown_sessions", "mutable", number("session_id"), word("digest"), instant("started_at", null=True), instant("first_at", null=True),
    instant("last_at", null=True), content("folder"), word("work_mark"), content("work"), unique("session_id"), wall("session_id", "sessions"),
    Index(None, "scope_id", "last_at"),
)  # fmt: skip
shown_infos = walled(
    "shown_infos", "mutable", number("session_id"), number("source_id"), number("generation"), content("info"), unique("session_id", "source_id"),
    wall("session_id", "sessions"), wall("source_id", "sources"),
)  # fmt: skip
kin_marks = walled("kin_marks", "mutable", number("occurrence"), unique("scope_id"))
kin_links = walled(
    "kin_links", "mutable", number("session_id"), number("other_id"), unique("scope_id", "session_id", "other_id"), wall("session_id", "sessions"),
    wall("other_id", "sessions"),
)  # fmt: skip
kin_runs = walled(
    "kin_runs", "mutable", number("session_id"), word("run"), unique("scope_id", "run", "session_id"), Index(None, "session_id"), wall("session_id", "sessions"),
)  # fmt: skip

# --- what may be seen --------------------------------------------------------------------------------------------------------------------

views = MetaData()
visible = Table("visible_versions", views, *(c._copy() for c in note_versions.columns), Column("note_uid", Text))
findable = Table("findable_turns", views, *(c._copy() for c in turns.columns))
VIEWS = (
    # versions anybody may ask for: retracted and quarantined ones are in none of them
    """
CREATE VIEW visible_versions AS
SELECT v.*, n.uid AS note_uid
FROM heads AS h
JOIN note_versions AS v ON v.id = h.version_id AND v.scope_id = h.scope_id
JOIN notes AS n ON n.id = h.note_id AND n.scope_id = h.scope_id
WHERE h.status IN ('confirmed', 'draft', 'disputed', 'needs_recheck', 'superseded', 'expired')
  AND h.closing IS FALSE
""",
    # turns a search may show: not our own words, and none that holds the words of a quarantined claim (DESIGN, gate 4)
    """
CREATE VIEW findable_turns AS
SELECT t.*
FROM turns AS t
WHERE t.origin <> 'self'
  AND NOT EXISTS (
    SELECT 1 FROM quotes AS q
    JOIN read_claims AS r ON r.claim_id = q.claim_id AND r.scope_id = q.scope_id
    WHERE q.scope_id = t.scope_id AND q.turn_uid = t.uid AND r.outcome = 'quarantine'
  )
""",
)
