"""Gate 7: what can be read again from the environment is counted, not stored."""

from __future__ import annotations

import re

from pipelines.model import Claim, GateResult, Kind, Outcome
from pipelines.text.words import fold_width

from .evidence import result

# What people set speaks of such things without being one of them; a decision or a way of doing it can only be a test outcome by mistake.
_SET_BY_PEOPLE = frozenset({Kind.RULE, Kind.PREFERENCE, Kind.HOLD, Kind.GOAL, Kind.PLAN})
_OUTCOME_ONLY = frozenset({Kind.DECISION, Kind.PROCEDURE})
_A, _Z = r"(?<![A-Za-z])", r"(?![A-Za-z])"
_CHECK = (
    r"(?:unit |integration |e2e |all |the |\d{1,7} )*(?:tests?|specs?|test suite|suite|test cases?|assertions?|checks?|builds?|lint(?:er)?"
    r"|type ?check(?:s|ing)?|compilation|ci|pipeline|workflow|mypy|ruff|eslint|tsc|pytest|jest|mix test|cargo test)"
)
_OUTCOME = r"(?:pass(?:ed|es|ing)?|fail(?:ed|s|ing|ures?)?|succeed(?:ed|s)?|succeeded|successful|green|red|broken|clean|ok|errored)"
_OBLIGED = re.compile(
    rf"{_A}(?:must|should|shall|need(?:s|ed)? to|ha(?:s|ve) to|before|always|never|every|unless|whenever|required?){_Z}|必须|应该|之前|每次", re.I
)
# Environment nouns: how many there are is read again with one command. Cats, colleagues and environments are not.
_THINGS = (
    r"(?:files?|directories|folders?|lines?|errors?|warnings?|tests?|specs?|commits?|packages?|modules|rows?|records?|issues?|pull requests|prs?"
    r"|branches|processes|containers|pods|bytes|matches|results|vulnerabilities|insertions|deletions|todos?)"
)
_N = r"(?:(?<![\d,.])\d[\d,.]{0,15}k?|no|zero|one|two|three|four|five|six|seven|eight|nine|ten|several|many)"

_TRANSIENT = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        # test outcomes
        rf"{_A}{_CHECK}\s+(?:run |results? |status )?(?:(?:is|are|was|were|now|all|have|has|currently|still|just|again|been)\s+)*{_OUTCOME}{_Z}",
        rf"{_A}(?<!\d)\d{{1,9}} (?:passed|failed|skipped|passing|failing|pending){_Z}",
        rf"{_A}(?:passed|failed) (?:all )?(?:\d+ |the )?(?:tests?|checks?|specs?){_Z}",
        r"(?:测试|构建|编译|检查|用例).{0,8}(?:通过|失败|成功|报错|挂了)",
        # balances
        rf"{_A}(?:account|wallet|remaining|bank|token) balance(?: \w+)? (?:is|was|of|stands at)|{_A}balance (?:is|was|of|stands at)(?: now| currently"
        rf"| about)? ?[$€£¥\d]|{_A}balance: ?[$€£¥\d]",
        rf"{_A}(?:credits?|quota|budget) (?:left|remaining)",
        r"余额",
        # positions
        rf"{_A}(?:cursor|player|robot|agent|head|playhead|character|bot|current)(?:'s)? (?:position|location|coordinates?|line|step|state)? ?(?:is|are"
        rf"|was) (?:now |currently )?(?:at|on|in|\(|\d)",
        rf"{_A}(?:you|i|we) (?:are|am|'re|'m) (?:now |currently )?(?:at|on) (?:position|coordinates?|line|step|level|tile|row|branch|commit|\(|\d)",
        rf"{_A}(?:current )?(?:position|coordinates) ?(?:is|are|=|:|at) ?\(?[-\d]",
        r"当前(?:位置|坐标|行|步骤)",
        # counts
        rf"{_A}(?:there (?:are|is|were|was)|has|have|contains?|found|listed|shows?|counted|added|removed|changed|modified|installed|total(?:s"
        rf"|led)?(?: of)?) (?:now |currently |about |exactly |only |a total of )*{_N} (?:[a-z]+ )?{_THINGS}{_Z}",
        rf"{_A}{_N} {_THINGS} (?:changed|modified|added|removed|deleted|found|remaining|left|audited|installed|created|total){_Z}",
        r"(?:共|有|总共|一共)\s*[\d一二两三四五六七八九十百千万]+\s*(?:个|条|行)?(?:文件|错误|警告|测试|提交|行|记录|包)",
        # listings, lock files, the state of the working tree, processes
        rf"{_A}(?:file|folder|directory|repo(?:sitory)?|tree|listing|output|package)\s+(?:[\w./-]+\s+)?(?:contains|lists|includes|consists of)(?: the"
        rf"| these| following)*\s+(?:files?|folders?|directories|lines?|following|entries){_Z}",
        rf"(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|cargo\.lock|go\.sum|gemfile\.lock|composer\.lock"
        rf"|{_A}lock ?file{_Z})[^.]*(?:pins|has|contains|lists|resolves|locks|records|says|version)",
        rf"{_A}(?:working (?:tree|directory) (?:is )?clean|nothing to commit|uncommitted changes|untracked files|your branch is (?:up to date|ahead"
        rf"|behind)|(?:ahead|behind) (?:of \S+ )?by \d+ commits?|detached head)",
        rf"{_A}(?:pid|process id)\W{{0,3}}(?:is )?\d|{_A}(?:cpu|memory|disk|ram) (?:usage|use|load) (?:is|was|at|:)|{_A}uptime",
    )
)
_OUTCOMES = _TRANSIENT[:4]


def transient_gate(claim: Claim) -> GateResult:
    """REJECT what a command or a look would tell again: listings, lock files, test outcomes, balances, positions, counts.

    A rule, goal or decision may speak of such things ("tests must pass before merging"); that tests passed is never a note, whatever kind it calls itself.
    """
    said = fold_width(claim.statement)
    if claim.kind in _SET_BY_PEOPLE or _OBLIGED.search(said):
        return result("transient")
    patterns = _OUTCOMES if claim.kind in _OUTCOME_ONLY else _TRANSIENT
    return result("transient", Outcome.REJECT, "transient") if any(pattern.search(said) for pattern in patterns) else result("transient")
