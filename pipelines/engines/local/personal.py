"""What people say of themselves outright: where they live and work, what they do not eat, what their dog is called, what they switched to, and why.

Names and changes are read by `frames` and `frames_zh`; here stand the rows for what is no name: diets, jobs, birthdays, allergies, what they own. Patterns of
the first person only, present tense or a change that is over. What was done once ("I had sushi yesterday"), is planned ("I'm moving in May"), was true once
("I used to"), or is felt for the moment ("I'm tired") fits none of them. Facts of other people come from `text.statement`.
"""

# Full-width characters are data here.

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

from pipelines.engines.local.allergens import is_allergen, is_dreaded
from pipelines.engines.local.frames import told_in
from pipelines.engines.local.frames_zh import of_somebody_else, told_in_chinese
from pipelines.engines.local.topics import PETS, Told
from pipelines.text.casual import spelled_out
from pipelines.text.mood import without_relevance
from pipelines.text.reasons import without_reason


@lru_cache(maxsize=4096)
def personal_facts(sentence: str) -> tuple[Told, ...]:
    """What a plain sentence says of its speaker, in order; empty for everything not said outright."""
    chinese = _HAN.search(sentence) is not None
    told = told_in_chinese(sentence) if chinese else told_in(sentence)
    plain = _HABITUALLY.sub("", _LASTING.sub(r"\1", without_relevance(sentence if chinese else spelled_out(sentence))))
    bare = without_reason(plain)
    if not _SELF.search(plain) or _NOT_NOW.search(bare) or (chinese and of_somebody_else(plain)):
        return told
    rows = _first(plain, _ROWS_ZH) if chinese else [t for part in _parts(plain) for t in (*_allergies(part), *_first(part, _ROWS))]
    known = {t.attribute for t in told}
    rows = [t for t in rows if t.attribute not in _BY_MAKE or re.search(r"[A-Z0-9]", t.value)]
    found = {f"{t.attribute}/{'' if t.single else t.value}": t for t in reversed(rows) if t.attribute not in known}
    return (*told, *(member for t in reversed(found.values()) for member in _members(t)))


def _members(told: Told) -> tuple[Told, ...]:
    """One fact a member of a set: "peanuts and shellfish" are two allergies."""
    if told.single:
        return (told,)
    values = [v.strip() for v in re.split(r",\s*(?:and\s+)?|\s+and\s+|、|和", re.sub(r"^both\s+", "", told.value)) if v.strip()]
    return tuple(replace(told, value=value) for value in values)


_HABITUALLY = re.compile(r"^[Ww]hen(?:ever)? I (?!was\b|were\b|had\b|did\b|went\b|got\b|lived\b|\w+ed\b)\w+(?: (?!I\b)[\w-]+){0,4},? (?=I\b(?!'| will| would))")
"""What the speaker does when: a habit."""
_LASTING = re.compile(r"(\bI(?:'ve| have) (?:been \w+ing|lived|worked|used|had|been)\b[^.;]*?) for (?:a|quite a) while\b")
"""Begun some time ago and still so: no stay of a while."""
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SELF = re.compile(r"\b(?:I|I'm|my|My|me|mine|[Ww]e|[Oo]ur|[Aa]llergic|[Aa]llerg(?:y|ies)|[Aa]s an?|[Bb]irthday|[Jj]ob)\b|我|叫|本人|吃素")
_AGAIN = re.compile(r"(?:,|;|:|\s[—–-]|\band\b|\bbut\b|,\s*and\b)\s+(?=(?:I\b|I'm|my\s))")
_SHARED = re.compile(r"\band\s+(?=(?:work|live|drive|speak|play|fly|have)\b)")
_NOT_NOW = re.compile(
    r"\b(?:used to|would|might|(?-i:may)|could|thinking (?:of|about)|considering|planning|plan to|going to|gonna|about to|hope|hoping|wish|if|when I was|as a (?:kid|child)|pretend|imagine|suppose"
    r"|picture this|in another life|at this point|basically|practically|virtually|literally|joking|kidding|lol|haha|almost|nearly|wonder(?:ing)?|wanted|next (?:week|month|year|spring|summer|fall|autumn|winter)"
    r"|tomorrow|tonight|yesterday|today|this (?:week|morning|afternoon|evening)|for a (?:bit|while|few)|temporarily|for now)\b"
    r"|曾经|以前|原先|(?<=我)(?:原来|之前|过去)|打算|计划|准备|想要|如果|要是|假如|昨天|今天|明天|可能|也许|都快|快要|小时候|开玩笑",
    re.IGNORECASE,
)

# --- the rows: attribute, form; `{V}` is the value up to where its clause ends ------------------------------------------------------------

_STOP = (
    r"(?=\s*(?:[,.;:!?()—–]|\s-\s|$)|\s+(?:because|since|so|but|as|while|when|where|which|who|that|after|before|until|now|these|nowadays|anymore|any|again|instead|at|for|with|during|if"
    r"|last|this|recently|lately|every|btw|and\s+(?:I|I'm|my|we|it|it's|the|work|live|have|am|also|now|recently|just|started|moved|joined|love|like|drive|use|started|got|need|want|still|keep))\b)"
)
_V = rf"(?P<v>(?:Dr\.\s|St\.\s)?[^,.;:!?()]{{1,60}}?){_STOP}"
_I = r"^(?:(?:[Aa]nd|[Bb]ut|[Aa]lso|[Ss]o|[Ww]ell|[Nn]ow|[Rr]ecently|[Aa]ctually|[Cc]urrently|[Pp]ersonally|[Ll]ately|[Ss]ince \w+|[Tt]hese days|[Nn]owadays|[Aa]s of \w+(?: \w+)?|[Ff]or [\w' ]{5,24}),?\s+)*I"
_AM = rf"{_I}(?:'m|\s+am)"
_HAVE = rf"{_I}(?:'ve|\s+have)?"
_ADV = r"(?:\s+(?:now|currently|recently|just|actually|finally|also|already|officially|happily|still|only|always|usually|mostly|mainly|typically|generally|strictly|really|definitely|permanently))*"
_LATELY = r"(?:\s+(?:just|recently|finally|now))*"

_DIETS = r"vegetarian|vegan|pescatarian|flexitarian|plant-based|gluten-free|dairy-free|keto|halal|kosher"
_CONDITIONS = r"lactose[- ]intolerant|gluten[- ]intolerant|celiac|coeliac|diabetic|colou?r[- ]?blind|left-handed|dyslexic|asthmatic"
_PROFESSIONS = (
    r"\w*(?:engineer|developer|teacher|nurse|doctor|manager|designer|analyst|scientist|lawyer|accountant|architect|writer|editor|artist|student|chef|driver|pilot|consultant|researcher|professor|therapist|dentist"
    r"|electrician|plumber|carpenter|mechanic|librarian|photographer|journalist|musician|translator|interpreter|pharmacist|surgeon|paramedic|firefighter|veterinarian|vet|biologist|chemist|physicist|economist|psychologist"
    r"|programmer|administrator|technician|director|founder|freelancer|producer|marketer|recruiter|realtor|baker|barista|farmer|gardener|coach|instructor|tutor|secretary|assistant|clerk|cashier|salesperson|team lead"
    r"|tech lead|lead|head chef|head of \w+|specialist|coordinator|supervisor|representative|planner|controller|inspector|principal|optician|optometrist|midwife|social worker|product owner|postdoc|lecturer|attorney"
    r"|paralegal|geologist|astronomer|statistician|contractor|illustrator|animator|copywriter|bookkeeper|bookbinder|auditor|banker|broker|trader|stylist|hairdresser|barber|florist|tailor|welder|machinist|operator"
    r"|officer|captain|adviser|advisor|physiotherapist|radiographer|carer|caretaker|joiner|mason|painter|potter|jeweller|jeweler|watchmaker|locksmith|translator|cook|waiter|waitress|builder|surveyor|actuary|notary"
    r"|conductor|composer|dancer|actor|actress|curator|archivist|historian|philosopher|priest|judge|sailor|soldier|police officer|detective|cartographer|meteorologist|oceanographer|zoologist|botanist|sociologist)"
)
_JOBS = (
    r"(?i:(?!(?:bit|big|huge|nervous|bad|good|great|terrible|lousy|slow|fast|heavy|proud|happy|visual|keen|avid|careful|better|decent|poor|natural|born|quick|cautious|real|total"
    rf"|first-time|regular|frequent|sucker|kind|sort|little|lot|fan)\b)(?:[\w-]+\s+){{0,3}}?(?:{_PROFESSIONS}))"
)
_WORK = r"(?P<v>[a-z][\w -]{2,40}?)(?=[,.;:!]|$|\s+(?:at|for|in|and|because|btw|by|so|but|-|–)\b|\s+[-–])"
_THINGS = (
    r"bank|laptop|computer|car|bike|camera|editor|browser|gym|doctor|dentist|shell|terminal|keyboard|operating system|os|carrier|insurance|drink|coffee order|tea|beer|sport"
    r"|hobby|instrument|commute|time ?zone|team|major|school|university|streaming service|music service|note app|search engine|credit card|hotel chain|supermarket|grocery store|coffee shop|cafe"
    r"|restaurant|cuisine|color|colour|food|snack|dessert|movie|film|book|author|band|genre|season|language|programming language|pronouns|nickname|blood type|shoe size|t-shirt size|email"
)
_BEVERAGE = (
    r"(?P<v>(?:(?!(?:because|since|and|so|but|as|when|the|every)\b)[\w-]+\s+){0,3}(?:coffee|tea|matcha|kombucha|soda|cola|beer|wine|milk|juice|alcohol))"
)
_DATE = r"(?P<v>(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+[A-Z][a-z]{2,8}|[A-Z][a-z]{2,8}\s+\d{1,2}(?:st|nd|rd|th)?)(?:,?\s+\d{4})?)\b"
_NAMED = r"(?P<v>[A-Z][\w'-]*)"

_EN = (
    ("diet", rf"{_I}(?:'m|\s+am|\s+became|\s+went|\s+turned|'ve been|\s+have been){_ADV}\s+(?:a\s+)?(?:(?:strict|lifelong)\s+)?(?P<v>{_DIETS})\b"),
    ("not diet", rf"{_AM}\s+(?:no longer|not)(?:\s+an?)?\s+(?P<v>{_DIETS})\b"),
    ("*condition", rf"{_AM}{_ADV}\s+(?:an?\s+)?(?P<v>{_CONDITIONS})\b"),
    ("not *eats", rf"{_I}\s+(?:don't|do not|can't|cannot|no longer|never)\s+eat\s+{_V}"),
    ("not *eats", rf"{_HAVE}\s+(?:gave up|given up|quit|stopped)\s+eating\s+{_V}"),
    ("not drink", rf"{_HAVE}\s+(?:gave up|given up|quit|stopped)\s+(?:drinking\s+)?{_BEVERAGE}$"),
    ("job", rf"{_I}{_ADV}\s+work{_ADV}\s+as\s+(?:an?\s+)?(?P<v>{_JOBS})\b"),
    ("job", rf"{_I}(?:'m|\s+am|\s+became){_ADV}\s+(?:an?|the)\s+(?P<v>{_JOBS})\b(?!\s+(?:of|for)\s+(?:the\s+)?(?:night|day|moment))"),
    ("job", rf"{_HAVE}{_LATELY}\s+(?:(?:got|was|been)\s+promoted|(?:accepted|received|got|earned)\s+(?:a|my)\s+promotion)\s+to\s+(?P<v>{_JOBS})\b"),
    ("job", rf"{_AM}\s+an?\s+(?P<v>[a-z][\w -]{{2,40}}?)\s+by\s+(?:trade|profession|training)"),
    ("job", rf"(?:^|[:,]\s)[Bb]y\s+(?:profession|trade),?\s+I(?:'m|\s+am)\s+an?\s+{_WORK}"),
    ("job", rf"^(?:[Mm]y\s+)?(?:profession|occupation|(?:day\s+)?job)(?:\s+is|'s|:)\s+(?:that\s+of\s+an?\s+|being\s+an?\s+|an?\s+)?(?!(?:at|with|to|in|on|done|not|hard|stressful|fun|boring)\b){_WORK}"),
    ("job", rf"\bmy\s+(?:day\s+)?job\s+is\s+(?!(?:at|with|to|in|on|done|not|hard|stressful|fun|boring)\b)(?:an?\s+)?(?P<v>{_JOBS})\b"),
    ("job", rf"{_I}(?:'ve\s+been|\s+have\s+been)?\s+(?:work|working|earn\s+my\s+living|make\s+(?:my|a)\s+living)\s+as\s+an?\s+{_WORK}"),
    ("job", rf"{_I}(?:'ve|\s+have)\s+been\s+an?\s+(?P<v>{_JOBS})\s+for\s+"),
    ("job", rf"{_I}\s+trained\s+as\s+an?\s+(?P<v>[a-z][\w -]{{2,40}}?)\s+and\s+still\s+work\s+as\s+one"),
    ("job", rf"^(?:[Ss]peaking\s+[Aa]s\s+an?\s+(?P<v>{_JOBS})\s*[,:]|[Aa]s\s+an?\s+(?P<w>{_JOBS})\s*,\s+(?=I\b|my\b))"),
    ("*pet", rf"{_I}(?:'ve|\s+have)?\s+(?:got\s+|adopted\s+|have\s+)?an?\s+(?P<kind>{PETS})\b[^.;]{{0,30}}?,?\s+(?:and\s+)?(?:her|his|its|their)\s+name\s+is\s+{_NAMED}"),
    ("*pet", rf"{_I}(?:'ve|\s+have)?(?:\s+got)?\s+an?\s+(?P<kind>{PETS}),\s+{_NAMED}\s*(?:[,.]|$)"),
    ("called", r"^(?:[Pp]lease\s+)?(?:[Cc]all|[Aa]ddress)\s+me\s+(?:as\s+)?(?P<v>[A-Z][\w'-]*)\s*(?:from now on)?[.!]?$"),
    ("birthday", rf"(?:^[Bb]irthday|\b[Mm]y\s+birthday)(?:'s|\s+is|\s+falls)?(?:\s+on)?[:,]?\s+{_DATE}"),
    ("birthday", rf"(?:^|[:,]\s){_DATE}\s+is\s+my\s+birthday"),
    ("birthday", rf"\bI\s+was\s+born\s+on\s+{_DATE}"),
    ("birthday", rf"\b(?:date\s+of\s+birth|dob|DOB)\s+is\s+{_DATE}"),
    ("birthday", rf"\bI\s+(?:turn\s+(?:another\s+year\s+older|\d+)|have\s+my\s+birthday|celebrate\s+my\s+birthday)\s+on\s+{_DATE}"),
    ("?thing", rf"^(?:and\s+)?[Mm]y\s+(?:new\s+|current\s+|main\s+|usual\s+|go-to\s+|preferred\s+|regular\s+|default\s+)*(?P<liked>favou?rite\s+)?(?P<thing>{_THINGS})(?:\s+of choice)?\s+(?:is|are)(?:\s+now|\s+currently)?\s+(?!not\b){_V}"),
    ("?thing", rf"{_HAVE}{_LATELY}\s+(?:switched|changed)\s+(?:my\s+)?(?P<thing>(?:{_THINGS})s?)(?:\s+from\s+(?P<o>[^,.;]{{1,40}}?))?\s+to\s+{_V}"),
    ("car", rf"(?:{_I}|^I\s+sold\s+.{{3,40}}\band){_ADV}\s+drive{_ADV}\s+an?\s+(?P<v>[A-Z0-9][\w.&'-]*(?:\s+[A-Z0-9][\w.&'-]*){{0,3}})"),
    ("operating system", r"^[Mm]y\s+(?:work\s+)?(?:laptop|computer|desktop|pc|PC|machine)\s+(?:now\s+)?(?:runs|is running)\s+(?P<v>[A-Z][\w.]*(?:\s(?:Linux|\d[\w.]*))?)"),
    ("commute", rf"{_I}{_ADV}\s+(?P<v>bike|cycle|walk|drive|commute by \w+){_ADV}\s+to\s+work\b"),
    ("commute", rf"{_I}{_ADV}\s+take\s+the\s+(?P<v>\w+)\s+to\s+work\b"),
    ("spouse", rf"{_AM}\s+(?:now\s+)?married\s+to\s+(?P<v>[A-Z]\w+)"),
    ("*speaks", rf"{_I}{_ADV}\s+speak{_ADV}\s+(?P<v>[A-Z]\w+)\b"),
    ("*plays", rf"{_I}{_ADV}\s+play{_ADV}\s+(?:the\s+)?(?P<v>piano|guitar|violin|cello|drums|flute|saxophone|trumpet|bass|ukulele|tennis|football|soccer|basketball|chess|badminton|golf|hockey|volleyball)\b"),
)  # fmt: skip
"""English: `*` marks a set, `not` what is denied; `pet` and `thing` take their attribute from the words."""

_ZH_ME = r"^(?:[^，。,我他她]{1,8}[，,：:])?(?:另外|对了|其实|现在|最近|目前|，|,|\s)*我"
_ZH_END = r"(?=[，。,.!！；;、]|了|$|因为|所以|而且|现在)"
_ZH = (
    ("diet", rf"{_ZH_ME}(?:现在|已经)*(?:是)?(?P<v>吃素|素食者?|素食主义者|纯素){_ZH_END}"),
    ("not *eats", rf"{_ZH_ME}(?:从来|从|一直)?不吃(?P<v>[^\W\da-zA-Z_]{{1,6}}?){_ZH_END}"),
    (
        "?thing",
        rf"{_ZH_ME}的?(?P<thing>电脑|车|银行|编辑器|浏览器|健身房)(?:从(?P<o>[^，。]{{1,12}}?))?(?:现在)?(?:是|换成了?|用的是|改成了?)(?P<v>[^，。,.！]{{1,16}}?){_ZH_END}",
    ),
    ("called", r"^(?:以后)?(?:请)?叫我(?P<v>[^\W\d_]{1,6}?)(?:就行|就好|吧)?[。！!]?$"),
)
_THING_OF = {
    "os": "operating system", "colour": "color", "timezone": "time zone", "film": "movie", "coffee order": "drink", "电脑": "computer", "车": "car", "银行": "bank", "编辑器": "editor",
    "浏览器": "browser", "健身房": "gym",
}  # fmt: skip

_BY_MAKE = frozenset("bank laptop computer car bike camera gym keyboard carrier insurance".split())  # noqa: SIM905
"""Things told by their make: "my laptop is broken" names none."""

Row = tuple[str, str]


@cache
def _compiled(rows: tuple[Row, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compiled on first use: a command that reads no session does not wait for it."""
    return tuple((what, re.compile(form)) for what, form in rows)


_ROWS, _ROWS_ZH = _EN, _ZH


def _first(part: str, rows: tuple[Row, ...]) -> list[Told]:
    """What the first row that fits says, if it says anything of worth."""
    for what, pattern in _compiled(rows):
        found = pattern.search(part)
        told = _told(what, found) if found is not None else None
        if told is not None and told.value and told.value != told.old:
            return [told]
    return []


def _told(what: str, found: re.Match[str]) -> Told:
    attribute = what.removeprefix("not ").lstrip("*?")
    given = found.groupdict()
    if attribute == "pet":
        attribute = _clean(given["kind"]).casefold()
    elif attribute == "thing":
        noun = re.sub(r"s$", "", re.sub(r"\s+", " ", given["thing"]).casefold()) if given.get("o") else re.sub(r"\s+", " ", given["thing"]).casefold()
        noun = _THING_OF.get(noun, noun)
        attribute = f"favorite {noun}" if given.get("liked") else noun
    return Told(
        attribute=attribute,
        value=_clean(given["v"] or given.get("w")),
        old=_clean(given.get("o")) or None,
        single="*" not in what,
        negated=what.startswith("not "),
    )


def _clean(words: str | None) -> str:
    return re.sub(r"^(?:an?\s+)", "", re.sub(r"\s+", " ", words or "").strip(" .,'\"“”‘’"))


def _parts(sentence: str) -> list[str]:
    """The sentence, and its later halves that begin with the first person again ("I live in Porto and I work at Bosch", "…, and my dog is called Rex")."""
    starts = [0, *(m.end() for m in _AGAIN.finditer(sentence))]
    shared = [m for m in _SHARED.finditer(sentence)] if sentence.startswith("I ") else []
    return [sentence[s:] for s in dict.fromkeys(starts)] + [f"I {sentence[m.end() :]}" for m in shared]


# --- allergies ---------------------------------------------------------------------------------------------------------------------------

_HOW = r"(?:(?:severely|highly|deathly|mildly|very|badly|really|super|extremely|terribly|seriously|quite|rather|pretty|dreadfully|horribly|violently|also|just)\s+)*"
_BAD = r"(?:(?:severe|mild|bad|serious|life-threatening|nasty|terrible|proper|nut)\s+)*"
_A = rf"(?P<v>[^,.;:!?()]{{2,60}}?){_STOP}"
_ALLERGIES = (
    rf"(?:{_AM}|\b(?:because|that|who)\s+(?:I'm|I\s+am|are)|\bI(?:'m|\s+am|'ve\s+been|\s+have\s+been)|^|^[Bb]eing\s+){_ADV}\s*{_HOW}[Aa]llergic\s+(?:to|against)\s+(?!it\b|that\b|this\b){_A}",
    rf"\b(?:I\s+have|I've\s+got|I've|I\s+got|[Hh]ave|I'm\s+having|I\s+am\s+having|with)\s+(?:got\s+)?an?\s+{_BAD}allergy(?:\s+to\s+|:\s+){_A}",
    rf"\b(?:I\s+have|I've|I)\s+(?:got\s+|developed\s+|have\s+)?(?:an?\s+)?{_BAD}(?!(?:an?|bad|severe|mild|serious|any|no|some)\b)(?P<v>[\w-]+(?:\s[\w-]+)?)\s+allergy\b",
    rf"^I\s+(?:can't|cannot)\s+(?:have|eat|touch|do|take)\s+(?P<v>[\w' -]{{2,30}}?)(?:,|\s+-|\s+–|;|:|\s+because)?\s*(?:I'm|I\s+am|an|it's an|it's my)?\s*{_HOW}allerg(?:ic|y|ies)\b",
    r"^[Nn]o\s+(?P<v>[\w' -]{2,30}?)\s+for\s+me\b.*?\b(?:allergic|allergy)\b",
    r"\b(?:keep|leave|skip|avoid|hold|omit)\s+(?:out\s+)?(?:anything\s+with\s+|the\s+|all\s+)?(?P<v>[\w' -]{2,30}?)(?:\s+out(?:\s+of\s+\w+)?)?,?\s+(?:-\s+|because\s+|as\s+|since\s+)?I(?:'m|\s+am)\s+(?:\w+\s+){0,2}?allergic\b(?!\s+to\s+(?!it|that|them))",
    rf"\bI\s+(?:break\s+out\s+in\s+hives\s+from|react\s+(?:badly|strongly|severely)\s+to|get\s+(?:hives|a\s+rash|an\s+allergic\s+reaction)\s+(?:from|to))\s+{_A}(?=.*allerg|.*$)",
    rf"^[Aa]llerg(?:y|ies)(?:-wise)?:\s+{_A}",
    rf"\ban\s+allergy,\s+{_A}",
    rf"^[Mm]y\s+(?:only\s+|worst\s+)?allergy\s+is\s+(?:to\s+)?{_A}",
    rf"^(?P<v>[\w' -]{{2,30}}?)\s+(?:is|are)\s+(?:a\s+no-go|off\s+limits|out|poison)(?:\s+for\s+me)?,?\s+(?:-\s+|because\s+|as\s+|since\s+)?I(?:'m|\s+am)\s+{_HOW}allergic\b(?!\s+to\s+(?!it|that|them))",
)  # fmt: skip


@cache
def _allergic() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _ALLERGIES))


def _allergies(part: str) -> list[Told]:
    """What the speaker is allergic to in earnest."""
    if "llerg" not in part and " react " not in part and " hives " not in part:
        return []
    for pattern in _allergic():
        found = pattern.search(part)
        members = [m for m in _members(Told(attribute="allergy", value=_clean(found["v"]), single=False)) if not is_dreaded(m.value)] if found else []
        if any(is_allergen(m.value, part) for m in members):
            return members
    return []
