"""Lines of a template nobody has filled in yet: "[To be documented]", "TBD", "<your name>", "[date]". They say nothing, so two of them say nothing twice. Pure."""

from __future__ import annotations

import re

_MARKED = re.compile(r"\[[^\[\]\n]*\]|<[^<>\n]+>|\{\{?[^{}\n]*\}?\}|…|\.{3,}|_{3,}|X{3,}")
_UNDECIDED = r"(?:defin|decid|determin|confirm|announc|discuss|specif)\w*(?: .*)?"
_UNDONE = r"(?:document|writ|fill|add|complet|updat|don)\w*(?: (?:in|out|up)(?= |$))??(?: (?:here|later|soon|asap|once|after|before|when|until|by|as|at|during|based|with the next|in (?:the|a) (?:next|later|future|following))\b.*)?"
"""What is to be done, when or by whom at most: "to be written in Rust" says how, which is more than nothing."""
_OPEN = re.compile(
    rf"(?:tb[dacr]|todo|fixme|n/?a|none(?: yet| so far)?|nothing(?: yet| here)?|empty|unknown|pending|placeholder|(?:yet )?to be (?:{_UNDECIDED}|{_UNDONE})|not yet \w+|coming soon|fill (?:this )?in"
    r"|待定|待补充|待填写|暂无|无|未定|未記入|なし|없음|미정|a definir|por definir|à définir|offen)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[^:：\n]{1,40}[:：]\s*")
_EDGES = " \t*_`-–—.。!()[]\"'"


def is_placeholder(text: str) -> bool:
    """Whether a line holds nothing but what is to be filled in, behind a label or not. A link, a tick box and a sentence with a bracket in it are none."""
    bare = text.strip()
    for said in (bare, _LABEL.sub("", bare, count=1)):
        if not said.strip(_EDGES) or _OPEN.fullmatch(said.strip(_EDGES)):
            return True
        if _MARKED.search(said) and not _MARKED.sub("", said).strip(_EDGES + ",;/:|·"):
            return True
    return False
