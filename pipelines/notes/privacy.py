"""Whom a note is about, and who may be told it: its sensitivity, and the audience it was said to. Pure; words and origins decide, no model does.

A note is told to a named audience when it was said to that audience, or when it was said to nobody in particular and is not sensitive. The person
whose memory it is, who names no audience, is told everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pipelines.model import Claim

NORMAL: Final = "normal"
HEALTH, FINANCE, CREDENTIALS, PERSONS = "health", "finance", "credentials", "persons"
OPEN: Final = "*"
"""Among the audiences of a note: it was also said where no audience is set."""
SAID_TO: Final = "said_to"
"""What a session's record calls the audience of the door it came in by; no log can set it."""
NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
"""An audience's name."""

_WORDS: Final = (
    (
        CREDENTIALS,
        r"\b(?:pass(?:word|phrase|code)s?|api[ _-]?keys?|(?:secret|private|access)[ _-]?keys?|access tokens?|pin (?:code|number)|(?:my|his|her|their) pin|"
        r"security questions?|recovery codes?|credentials?)\b|密码|密碼|口令|密钥|令牌|验证码|パスワード|비밀번호",
    ),
    (
        HEALTH,
        r"\ballerg(?:y|ies|ic)\b|\bdiagnos(?:ed|is)\b|\bmedications?\b|\b\d+ ?mg\b|\btherap(?:y|ist)\b|\bdepress(?:ed|ion)\b|\bpregnan(?:t|cy)\b|\b(?:disease|illness|cancer|"
        r"diabet\w+|asthma|insulin|migraines?|adhd|hiv|anxiety|surgery|chemo\w*|epilep\w+|celiac|coeliac|antidepressants?|miscarriage|rehab)\b|\bblood (?:pressure|test|type|sugar)\b|"
        r"\bsick leave\b|\b(?:doctor|dentist|psychiatrist|clinic|hospital)(?:'s)?\b|\bintoleran(?:t|ce) (?:to|of)\b|\blactose\b|\bmental health\b|\bhealth (?:condition|insurance|problem|issue)s?\b|"
        r"过敏|诊断|确诊|吃药|服药|药物|怀孕|糖尿病|抑郁|焦虑症|手术|病假|血压|血糖|癌|哮喘|治疗|医院|医生|心理咨询|生病|病史|体检",
    ),
    (
        FINANCE,
        r"\b(?:salary|salaries|my wages?|net worth|mortgage|bankrupt\w*|pension|savings|alimony|paycheck|payslip)\b|\b(?:my|his|her|their|our) (?:income|debts?|loan|rent|bonus|raise|taxes|investments?)\b|"
        r"\bearns?\b|\bowes?\b|\bin debt\b|\bstudent loans?\b|\bbank (?:account|balance)\b|\biban\b|\bcredit (?:card|score)\b|\btax return\b|\bafford\b|"
        r"工资|薪水|月薪|年薪|薪资|收入|存款|贷款|房贷|欠款|欠了|债务|银行卡|银行账户|信用卡|炒股|报税|房租|奖金",
    ),
    (
        PERSONS,
        r"\b(?:my|our|his|her|their) (?:ex[- ]?)?(?:wife|husband|partner|spouse|girlfriend|boyfriend|son|daughter|kids?|child(?:ren)?|mother|father|mom|mum|dad|parents?|sister|brother|"
        r"aunt|uncle|cousin|grand\w+|boss|manager|colleague|coworker|co-worker|friend|neighbou?r|roommate|flatmate|client|patient|student|teacher)\b|"
        r"\b(?:his|her|their|\w+['’]s) (?:birthday|home address|address|phone(?: number)?|mobile(?: number)?|divorce|marriage|religion|sexuality|affair|passport|age|private \w+)\b|"
        r"我的?(?:老婆|妻子|太太|丈夫|老公|对象|女朋友|男朋友|儿子|女儿|孩子|妈妈|母亲|爸爸|父亲|父母|姐姐|妹妹|哥哥|弟弟|老板|同事|朋友|邻居|室友|客户|学生|老师)|"
        r"(?:他|她|他们)的?(?:生日|住址|地址|电话|手机|宗教|婚姻|护照|年龄)|离婚",
    ),
)  # fmt: skip
_PATTERNS: Final = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in _WORDS)
_HARMLESS: Final = re.compile(
    r"\bhealth[ _-]?checks?\b|\bcredentials? (?:helper|provider)\b|\bpassword (?:field|form|reset|policy|hash\w*)\b|\bdoctor command\b|`dreamd doctor`", re.I
)  # fmt: skip
"""What programs call what has nothing of the kind about a person."""
_NOT_OF_PEOPLE: Final = frozenset({"procedure"})
"""Kinds of which only what they say of secrets counts: a command is about a machine."""


def sensitivity_of(kind: str, subject: str, attribute: str, statement: str, value: str | None = None) -> str:
    """What makes a statement sensitive: the first of credentials, health, finance, persons whose words it holds; "normal" for none."""
    text = _HARMLESS.sub(" ", " ".join((subject.replace("_", " "), attribute.replace("_", " "), statement, value or "")))
    for name, pattern in _PATTERNS:
        if pattern.search(text) and (kind not in _NOT_OF_PEOPLE or name == CREDENTIALS):
            return name
    return NORMAL


def sensitivity_of_claim(claim: Claim) -> str:
    """`sensitivity_of` a claim's own words, those of its quotes among them: what a statement left out is about the same."""
    said = " ".join((claim.statement, *(quote.text for quote in claim.quotes)))
    return sensitivity_of(claim.kind.value, claim.subject, claim.attribute, said, claim.value)


def heard_by_all(audiences: Iterable[str]) -> str:
    """The audience of a claim by those of its turns: who heard every one of them; a turn that nobody in particular heard narrows nothing."""
    named = [frozenset(names_of(audience)) for audience in audiences if audience]
    common = frozenset[str].intersection(*named) if named else frozenset[str]()
    return ",".join(sorted(common)) if common or not named else NOBODY


NOBODY: Final = "-"
"""The audience of what was put together from the words of several: nobody heard all of it, so it is the person's alone."""


def heard_by_any(audiences: Iterable[str]) -> str:
    """The audience of a note by those of the claims that say it: whoever heard one of them."""
    names = {name for audience in audiences for name in names_of(audience) or (OPEN,)}
    return "" if names <= {OPEN} else ",".join(sorted(names - {NOBODY} or {NOBODY}))


def names_of(audience: str) -> tuple[str, ...]:
    """The names in a stored audience; none for nobody in particular."""
    return tuple(name for name in audience.split(",") if name)
