"""Hands a new session what the wiki knows: what agents' settings files say for it, the briefs that lie ready for their hooks, and the dream a session's end
starts. What is written outside the data folder is written down there, so that it can be taken out again to the byte.
"""
