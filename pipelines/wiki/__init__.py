"""The wiki: topics, pages, links, brief, journal, and publishing them to a folder.

    content (values) ── topics.layout ──▶ where each note lives ── render ──▶ pages ┐
                                                └── brief, inbox, recent ──────────┴─ tree ──▶ path → bytes ── publish ──▶ folder
    folder ── standing ──▶ pages as they stand ── own.changed ──▶ words of a person's ──▶ store

`inline` is the only door for words of others, `page` and `parse_page` are the one written form of a page and its inverse, `slugs` the only maker of
file names, `folder` the only module that touches the disk. Everything but `folder`, `manifest`, `marker`, `standing` and `publish` is pure.
"""
