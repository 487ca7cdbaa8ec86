"""File names of pages: readable, in any script, unique on every file system, and never a way out of the wiki folder (systems R12)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from pipelines.model import short_uid

SLUG_BYTES_MAX = 80
FOLDERS = frozenset({"archive", "journal"})
RESERVED = frozenset(
    {"memory", "inbox", "archive", "journal", "index", "readme", "recent", "pages", "con", "prn", "aux", "nul"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in (*"0123456789", "¹", "²", "³")}
)  # fmt: skip


def slug(title: str) -> str:
    """The readable part of a page's name: letters and digits of any script, joined by dashes; `C`, `C++` and `C#` give three names.

    Never empty, never longer than 80 bytes of UTF-8, never reserved: a title that gives nothing, too much or a taken word ends in its digest.
    """
    text = unicodedata.normalize("NFC", title)
    text = re.sub(r"(?<=\w)#", "-sharp-", text)
    text = text.replace("+", "-plus-")
    text = re.sub(r"(?:^|(?<=\s))\.(?=\w)", "dot-", text)
    kept = "".join(ch if _stays(ch) else "-" for ch in text.casefold())
    name = unicodedata.normalize("NFC", re.sub(r"[-_]*-[-_]*", "-", kept)).strip("-_")
    if not name:
        return "page-" + _mark(title)
    short = _shorten(name)
    return f"{short}-{_mark(title)}" if short != name or fold(short) in RESERVED else short


def _stays(ch: str) -> bool:
    """Letters, digits and the marks that belong to letters (Indic vowels, accents that have no composed form)."""
    return ch == "_" or ch.isalnum() or unicodedata.category(ch) in {"Mn", "Mc"}


def _shorten(name: str) -> str:
    """At most `SLUG_BYTES_MAX` bytes, whole characters, at a dash where one is near."""
    if len(name.encode()) <= SLUG_BYTES_MAX:
        return name
    room = name.encode()[: SLUG_BYTES_MAX - 9].decode("utf-8", "ignore")
    head, dash, _ = room.rpartition("-")
    return (head if dash and len(head) * 2 > len(room) else room).rstrip("-")


def _mark(text: str) -> str:
    return short_uid("slug", text.encode("utf-8", "replace").decode())[:8]


def fold(name: str) -> str:
    """What two names must not share: file systems that fold case or composition see them as one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def assign(titles: Mapping[str, str], *, taken: Iterable[str] = ()) -> dict[str, str]:
    """Topic key → slug. The first key in code point order keeps the plain slug; a clash takes a suffix from its own key's digest, so that the
    order in which topics arrived never shows. `taken` are slugs in use already (redirects)."""
    return settle({key: slug(title) for key, title in titles.items()}, taken=taken)


def settle(slugs: Mapping[str, str], *, taken: Iterable[str] = ()) -> dict[str, str]:
    """`assign` from the slugs the titles give."""
    used = {fold(name) for name in taken}
    out: dict[str, str] = {}
    for key in sorted(slugs):
        name = slugs[key]
        if fold(name) in used:
            name = f"{_shorten(name)}-{_mark(key)}"
        if fold(name) in used:
            raise ValueError(f"two topics share a digest: {key!r}")
        used.add(fold(name))
        out[key] = name
    return out


def page_path(name: str, *, folder: str = "") -> str:
    """The path of a page below the wiki folder; refuses whatever could leave it."""
    path = f"{folder}/{name}.md" if folder else f"{name}.md"
    return check_path(path)


def check_path(path: str) -> str:
    """The path itself, when it is a plain file name below the wiki folder or one of its two folders; raises ValueError for anything else
    (absolute, `..`, encoded, hidden, NUL, a device name, too long a name)."""
    folder, slash, name = path.rpartition("/")
    if slash and folder not in FOLDERS:
        raise ValueError(f"no page lies in the folder {folder!r}")
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix != "md" or not stem or len(name.encode("utf-8", "surrogatepass")) > 200:
        raise ValueError(f"no page can be called {name!r}")
    if stem[0] in ".-~" or stem[-1] in ". " or not all(_stays(ch) or ch == "-" for ch in stem):
        raise ValueError(f"no page can be called {name!r}")
    if stem.casefold() in {"con", "prn", "aux", "nul"} or re.fullmatch(r"(?:com|lpt)[0-9¹²³]", stem.casefold()):
        raise ValueError(f"{name!r} is the name of a device on some systems")
    return path
