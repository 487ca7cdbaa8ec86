"""What a sentence settles of which a project has one: the package manager in use, the port a named thing is served on.

"Always use npm" and "from now on always use yarn" share no word that matters, and "the dev server is `npm run dev` on port 4000" states no port by the grammar
of slots. Both are read here by whole sentences of a few forms and nothing else: a condition, an exception, a part of the project or a second tool that the form
has no room for makes no choice of it. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pipelines.text.slots import PROGRAMS, QUALIFIERS, SORT_OF
from pipelines.text.statement import Statement, canonical_words

SENTENCE_MAX = 200
"""Characters beyond which a sentence says more than a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`of` what there is one (`packages javascript`, `port dev server`), which it is, and whether the sentence leaves to its place of what it speaks: an order
    to use yarn below the heading "Docs" is one for the docs."""

    of: str
    which: str
    by_place: bool = False


def choice(statement: Statement) -> Choice | None:
    """What a sentence settles of which there is one; None for every sentence that is not whole one of these forms, and for what forbids or adds."""
    if statement.negated or statement.also or len(statement.text) > SENTENCE_MAX:
        return None
    return _choice(statement.text, statement.qualifier)


@lru_cache(maxsize=16384)
def _choice(text: str, qualifier: str) -> Choice | None:
    said = _LEAD.sub("", " ".join(text.replace("`", "").split())).rstrip(" .!。！")
    if found := _first(_PACKAGES, said):
        tool = found["tool"].casefold()
        other = (found.groupdict().get("other") or tool).casefold()
        return Choice(of=f"{SORT_OF[tool]} {qualifier}", which=tool, by_place=True) if SORT_OF.get(other) in {SORT_OF[tool], None} else None
    if found := _first(_SERVED, said):
        words = canonical_words(found["thing"])
        names = any(word not in _SCOPE_OF for word in words) and _POINTING.isdisjoint(words)
        return Choice(of=f"port {' '.join(_SCOPE_OF.get(word, word) for word in words)}", which=found["port"]) if names else None
    return None


def _first(patterns: tuple[re.Pattern[str], ...], said: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.fullmatch(said))), None)


def by_itself(*headings: str) -> bool:
    """Whether what stands below these titles and headings is said of the whole project: none of them names a part of it."""
    return all(_GENERAL.fullmatch(heading.strip()) for heading in headings)


# --- package managers --------------------------------------------------------------------------------------------------------------------

_TOOL = rf"(?P<tool>{'|'.join(sorted((n for n, sort in SORT_OF.items() if sort.endswith(' packages')), key=len, reverse=True))})(?:\s+v?\d[\w.]*)?"
_HERE = r"(?:\s+(?:now|here|everywhere|from now on|going forward|please|instead|in this (?:repo|repository|project|codebase)|for this project))*"
_LEAD = re.compile(
    r"^(?:(?:from now on|going forward|please|remember|important|note|in this (?:repo|repository|project|codebase)|for this project|we|always|should|must|only|ever|now"
    r"|you|以后|今后|从现在起|请|记住|我们|统一|一律|始终|必须|务必|都)(?:[,:，：]\s*|\s+|(?<=[\u4e00-\u9fff])))+",
    re.IGNORECASE,
)
_WHAT = r"(?:(?:all|the|our|your|new|any)\s+)*(?:javascript |js |node |python )?(?:packages|dependencies|deps|libraries|modules)"
_FOR = rf"(?:\s+(?:as\s+(?:the|our|a)\s+package manager|as package manager|for\s+(?:installs|everything|(?:installing\s+)?{_WHAT}|package management)|to\s+(?:install|add|manage)\s+{_WHAT}))?"
_NOT = r"(?:\s*,?\s*(?:and\s+)?(?:never|not|instead of|rather than)\s+(?:use\s+)?(?P<other>[\w-]+))?"
_BECAUSE = r"(?:\s*[,，]?\s*(?:because|因为).*)?"
_PACKAGES = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"uses?\s+{_TOOL}{_FOR}{_NOT}{_HERE}{_BECAUSE}",
        rf"(?:the\s+|our\s+)?package manager(?:\s+is|\s*:)\s+{_TOOL}{_NOT}{_HERE}",
        rf"(?:install|add|manage)\s+{_WHAT}\s+(?:with|using|via|through)\s+{_TOOL}{_NOT}{_HERE}",
        rf"{_WHAT}\s+are\s+(?:installed|managed|added)\s+(?:with|using|via|through|by)\s+{_TOOL}{_NOT}{_HERE}",
        rf"(?:使用|改用|用)\s*{_TOOL}\s*(?:来?(?:安装|管理)(?:依赖|包)|作为包管理器)?",
        rf"包管理(?:器|工具)\s*(?:是|为|用|使用|[:：])\s*{_TOOL}",
    )
)

# --- ports -------------------------------------------------------------------------------------------------------------------------------

_SCOPE_OF = {words[0]: scope for scope, forms in QUALIFIERS.items() for form in forms.split("|") if len(words := canonical_words(form)) == 1}
_POINTING = frozenset(canonical_words("other another one first second third each both every some any new old same"))
"""Words of a subject that names no thing by itself."""
_THING = r"(?:the\s+|our\s+)?(?P<thing>[\w.-]+(?:\s[\w.-]+){0,3}?)"
_COMMAND = rf"(?:{'|'.join(sorted(map(re.escape, PROGRAMS), key=len, reverse=True))})(?:\s+(?!on\b|at\b|port\b)[\w:./=-]+){{0,4}}"
_AT = r"(?:(?:on\s+|at\s+)?(?:the\s+)?port\s*[:=]?\s*|(?:on|at)\s+(?:https?://)?(?:localhost|127\.0\.0\.1):)(?P<port>\d{2,5})/?\)?"
_SERVED = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_THING}(?:\s*:|\s+(?:is|runs|listens|starts|is (?:started|run|served)))(?:\s+(?:with|by|as|via))?(?:\s+{_COMMAND})?\s*[,(]?\s*{_AT}"
        rf"(?:\s+(?:with|by|via)\s+{_COMMAND})?{_HERE}",
        rf"(?:run|start|serve)\s+{_THING}(?:\s+(?:with|by|via)\s+{_COMMAND})?\s*[,(]?\s*{_AT}(?:\s+(?:with|by|via)\s+{_COMMAND})?{_HERE}",
        rf"{_THING}\s+port(?:\s+is|\s*:)\s+(?P<port>\d{{2,5}})",
    )
)

# --- headings ----------------------------------------------------------------------------------------------------------------------------

_GENERAL = re.compile(
    r"(?:(?:rules?|conventions?|guidelines?|commands?|packages?|managers?|management|tools?|tooling|setup|dependenc(?:y|ies)|development|workflow|general|style|code|coding|project"
    r"|notes?|important|preferences?|how|we|work|working|instructions?|install(?:ation|ing)?|build(?:ing)?|stack|practices?|agents?|claude|basics|this|repo|repository|the|and|of|for|our"
    r"|user|feedback|memory|always|never|use|must|npm|yarn|pnpm|bun|uv|pip|poetry|规则|约定|命令|包管理器?|工具|偏好|开发|说明)(?:[\s.,:&›/_-]+|$|(?<=[\u4e00-\u9fff])))*",
    re.IGNORECASE,
)
"""A heading of words that name no part of a project."""
