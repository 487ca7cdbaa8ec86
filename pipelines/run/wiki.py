"""The last part of a dream where the wiki lies: own words taken in, the revision rendered, and the folder made to show it."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.run.parts import Parts, Request
from pipelines.run.publish import WikiFolder, publish_revision, take_own_words
from pipelines.run.render import render
from pipelines.wiki.publish import Published


@dataclass(frozen=True, slots=True, kw_only=True)
class Organized:
    """A rendered revision and what publishing it did."""

    revision: int
    published: Published


def organize(parts: Parts, request: Request, *, new: bool | None = None) -> Organized:
    """Render the scope's present revision with a person's own words, commit what changed and publish it. `new` as in `publish_revision`."""
    at = folder_of(request)
    take_own_words(parts, at, request.scope)
    render(parts, request.scope)
    shown = publish_revision(parts, at, request.scope, new=new)
    return Organized(revision=shown.revision, published=shown.published)


def folder_of(request: Request) -> WikiFolder:
    """Where a request publishes to."""
    return WikiFolder(folder=request.wiki, wiki=request.wiki_id, host=request.host, mine=request.mine)
