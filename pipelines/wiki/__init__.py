"""The wiki: topics, pages, links, brief, journal, and publishing them to a folder."""
