"""What people say of themselves outright: where they live and work, what they do not eat, what their dog is called, what they switched to, and why.

Patterns of the first person only, present tense or a change that is over; English and Chinese. What was done once ("I had sushi yesterday"), is planned
("I'm moving in May"), was true once ("I used to"), or is felt for the moment ("I'm tired") fits none of them. Facts of other people come from
`text.statement`, which names the other person as subject.
"""

# Full-width characters are data here, and word lists read better as text.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from pipelines.engines.local.changes import changes, of_somebody_else, without_reason
from pipelines.text.mood import without_relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """One attribute of the speaker: `value` and `old` are words of the sentence, `single` says that a newer value replaces it."""

    attribute: str
    value: str
    old: str | None = None
    single: bool = True
    negated: bool = False


def personal_facts(sentence: str) -> tuple[Personal, ...]:
    """What a plain sentence says of its speaker, in order; empty for everything not said outright."""
    whole, sentence = sentence, _HABITUALLY.sub("", _LASTING.sub(r"\1", without_relevance(sentence)))
    if not _SELF.search(sentence) or (_NOT_NOW.search(plain := without_reason(sentence)) and not _BUT_NOW.search(plain)):
        return ()
    if _HAN.search(sentence) and of_somebody_else(sentence):
        return ()
    found = [Personal(attribute=c.attribute, value=c.value, old=c.old) for c in changes(whole)]
    found += _first(sentence, _chinese()) if _HAN.search(sentence) else [f for part in _parts(sentence) for f in _first(part, _english())]
    first = {f.attribute: f for f in reversed(found)}
    return tuple(member for fact in reversed(first.values()) for member in _members(fact))


def _members(fact: Personal) -> tuple[Personal, ...]:
    """One fact a member of a set: "peanuts and shellfish" are two allergies."""
    if fact.single:
        return (fact,)
    values = [v.strip() for v in re.split(r",\s*(?:and\s+)?|\s+and\s+|、|和", fact.value) if v.strip()]
    return tuple(replace(fact, value=value) for value in values)


_HABITUALLY = re.compile(
    r"^[Ww]hen(?:ever)? I (?!was\b|were\b|had\b|did\b|went\b|got\b|lived\b|\w+ed\b)\w+(?: (?!I\b)[\w-]+){0,4},? (?=I\b(?!'|’| will| would))"
)
"""What the speaker does when: a habit. """
_LASTING = re.compile(r"(\bI(?:'ve|’ve| have) (?:been \w+ing|lived|worked|used|had|been)\b[^.;]*?) for (?:a|quite a) while\b")
"""Begun some time ago and still so: no stay of a while."""
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SELF = re.compile(r"\b(?:I|I'm|I’m|my|My|me|[Ww]e|[Oo]ur|Home|name's)\b|我|叫|搬|住|手机|最近|名字|落款|以前|现在")
_BUT_NOW = re.compile(r"(?:以前|曾经|原来|原先|之前|过去)[^，。]*[，,]\s*现在(?!.*(?:如果|要是|可能|也许|开玩笑))")
_AGAIN = re.compile(r"(?:,|;|:|\s[—–-]|\band\b|\bbut\b|,\s*and\b)\s+(?=(?:I\b|I'm|my\s))")
_SHARED = re.compile(r"\band\s+(?=(?:work|live|drive|speak|play|fly|have)\b)")
_NOT_NOW = re.compile(
    r"\b(?:used to|would|might|(?-i:may)|could|thinking (?:of|about)|considering|planning|plan to|going to|gonna|about to|hope|hoping|wish|if|when I was|as a (?:kid|child)|pretend|imagine|suppose"
    r"|picture this|in another life|at this point|basically|joking|kidding|lol|haha|almost|nearly|wonder(?:ing)?|wanted|next (?:week|month|year|spring|summer|fall|autumn|winter)|tomorrow|tonight|yesterday|today|this (?:week|morning|afternoon|evening)|for a (?:bit|while|few)|temporarily|for now)\b"
    r"|曾经|以前|原先|(?<=我)(?:原来|之前|过去)|打算|计划|准备|想要|如果|要是|假如|昨天|今天|明天|可能|也许|都快|快要|小时候|开玩笑",
    re.IGNORECASE,
)

_STOP = (
    r"(?=\s*(?:[,.;:!?()—–]|\s-\s|$)|\s+(?:because|since|so|but|as|while|when|where|which|who|that|after|before|until|now|these|nowadays|anymore|any|again|instead|at|for|with|during|if"
    r"|last|this|recently|lately|every|and\s+(?:I|I'm|my|we|it|it's|the|work|live|have|am|also|now|recently|just|started|moved|joined|love|like|drive|use|started|got|need|want))\b)"
)
_V = rf"(?P<v>(?:Dr\.\s|St\.\s)?[^,.;:!?()]{{1,60}}?){_STOP}"
_PLACE = r"(?P<v>(?:the\s+)?[A-Z][\w.'’-]*(?:(?:,)?\s+(?:(?:de|da|do|di|la|le|of|upon|the)\b|[A-Z][\w.'’-]*)){0,4})"
_ORG = r"(?P<v>(?:the\s+)?[A-Z0-9][\w.&'’-]*(?:\s+(?:(?:of|and|for|the)(?=\s+[A-Z])|&|[A-Z][\w.&'’-]*)){0,5})"
_FROM = r"(?:\s+from\s+(?P<o>[^,.;]{1,40}?))?"
_I = r"^(?:(?:[Aa]nd|[Bb]ut|[Aa]lso|[Ss]o|[Ww]ell|[Nn]ow|[Rr]ecently|[Aa]ctually|[Cc]urrently|[Pp]ersonally|[Ll]ately|[Ss]ince \w+|[Bb]y the way|[Tt]hese days|[Nn]owadays|[Jj]ust so you know|[Ff]yi|FYI|[Aa]s of \w+(?: \w+)?),?\s+)*I"
_AM = rf"{_I}(?:'m|’m|\s+am)"
_HAVE = rf"{_I}(?:'ve|’ve|\s+have)?"
_HAVE_WE = rf"(?:{_HAVE}|^[Ww]e(?:'ve|\s+have)?(?=\s+(?:got|a)\b)|^[Ww]e(?=\s+have))(?:\s+have)?"
_ADV = r"(?:\s+(?:now|currently|recently|just|actually|finally|also|already|officially|happily|still|only|always|usually|mostly|mainly|typically|generally|strictly|really|definitely|permanently))*"

_DIETS = r"vegetarian|vegan|pescatarian|flexitarian|plant-based|gluten-free|dairy-free|keto|halal|kosher"
_CONDITIONS = r"lactose[- ]intolerant|gluten[- ]intolerant|celiac|coeliac|diabetic|colou?r[- ]?blind|left-handed|dyslexic|asthmatic"
_JOBS = (
    r"(?i:(?!(?:bit|big|huge|nervous|bad|good|great|terrible|lousy|slow|fast|heavy|proud|happy|visual|keen|avid|careful|better|decent|poor|natural|born|quick|cautious|real|total"
    r"|first-time|regular|frequent|sucker|kind|sort|little|lot|fan)\b)(?:[\w-]+\s+){0,3}?(?:\w*(?:engineer|developer|teacher|nurse|doctor|manager|designer|analyst|scientist|lawyer|accountant|architect|writer|editor|artist|student|chef|driver|pilot|consultant"
    r"|researcher|professor|therapist|dentist|electrician|plumber|carpenter|mechanic|librarian|photographer|journalist|musician|translator|pharmacist|surgeon|paramedic|firefighter|veterinarian|vet"
    r"|biologist|chemist|physicist|economist|psychologist|programmer|administrator|technician|director|founder|freelancer|producer|marketer|recruiter|realtor|baker|barista|farmer|gardener|coach"
    r"|instructor|tutor|secretary|assistant|clerk|cashier|salesperson|team lead|tech lead|lead|head chef|head of \w+|specialist|coordinator|supervisor|representative|planner|controller|inspector|principal|optician|midwife|social worker|product owner|postdoc|lecturer|attorney|paralegal|geologist|astronomer|statistician"
    r"|data scientist|contractor|illustrator|animator|copywriter|bookkeeper|auditor|banker|broker|trader|stylist|hairdresser|barber|florist|tailor|welder|machinist|operator|officer|captain)))"
)
DREADED = r"(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|meetings?|mornings?|e-?mails?|work|deadlines?|drama|people|nonsense|maths?|excel|small talk|spreadsheets?|slides?|presentations?|power ?points?|stand-?ups?|calls|phone calls|tickets|bugs|regex(?:es)?|(?:java)?script|taxes|crowds|queues|traffic|commut\w+|chores|mess|noise|silence|criticism|change|stupidity|fun|exercise|effort|paperwork|bureaucracy|commitment)\b"
"""What people are "allergic" to as a joke."""
_PETS = r"dog|cat|puppy|kitten|parrot|rabbit|bunny|hamster|horse|pony|bird|turtle|tortoise|fish|goldfish|lizard|gecko|snake|ferret|guinea pig|labrador|beagle|poodle|corgi|husky|golden retriever|terrier|cockatiel|budgie"
_THINGS = (
    r"airline|bank|phone|laptop|computer|car|bike|camera|editor|browser|gym|doctor|dentist|shell|terminal|keyboard|operating system|os|carrier|insurance|drink|coffee order|tea|beer|sport"
    r"|hobby|instrument|commute|time ?zone|team|major|school|university|streaming service|music service|note app|search engine|credit card|hotel chain|supermarket|grocery store|coffee shop|cafe"
    r"|restaurant|cuisine|color|colour|food|snack|dessert|movie|film|book|author|band|genre|season|language|programming language|pronouns|nickname|blood type|shoe size|t-shirt size|email"
)
_MODEL = r"(?:\s+(?:\d\w*|Pro|Max|Mini|Plus|SE|Ultra|XL|Fold|Flip|Note|S\d+))*"
_FAMILY = {
    "phone": rf"iPhone{_MODEL}|Pixel{_MODEL}|Galaxy{_MODEL}|Android(?: phone)?|Fairphone{_MODEL}|OnePlus{_MODEL}|Nokia{_MODEL}|Xiaomi{_MODEL}|Huawei{_MODEL}",
    "operating system": r"(?:Arch |Ubuntu|Debian|Fedora|NixOS|Arch|Linux|macOS|Windows|FreeBSD|Mint|Manjaro|openSUSE|Pop!?_?OS|ChromeOS)(?:\s+(?:Linux|\d[\w.]*))?",
    "editor": r"Neovim|Vim|Emacs|VS ?Code|Visual Studio Code|Sublime(?: Text)?|Zed|Helix|PyCharm|IntelliJ(?: IDEA)?|WebStorm|Cursor|Nano|Kate|Notepad\+\+|Xcode",
    "browser": r"Firefox|Chrome|Safari|Brave|Edge|Vivaldi|Opera|Arc",
    "airline": r"Delta|United|Lufthansa|KLM|Emirates|Qatar(?: Airways)?|Ryanair|EasyJet|Southwest|JetBlue|Alaska(?: Airlines)?|American Airlines|British Airways|Air France|ANA|Singapore Airlines|Swiss|Iberia|TAP"
    r"|Turkish Airlines|Qantas|Finnair|SAS|Air Canada|Cathay(?: Pacific)?|Norwegian|Wizz(?: Air)?|Vueling|Aer Lingus|Virgin Atlantic|Korean Air|Etihad|JAL|Japan Airlines|Air New Zealand|\w+ (?:Airlines|Airways|Air)",
    "drink": r"(?:(?!(?:because|since|and|so|but|as|when|the|every)\b)[\w-]+\s+){0,3}(?:coffee|oolong|rooibos|espresso|cappuccino|latte|lattes|flat white|americano|tea|matcha|chai|kombucha|water|soda|milk|cola|juice|oat milk|decaf|mate|wine|beer|cocoa|smoothies?)",
    "car": r"(?:an?\s+)?(?:Tesla|Toyota|Honda|Ford|BMW|Audi|Volkswagen|VW|Volvo|Subaru|Mazda|Kia|Hyundai|Renault|Peugeot|Fiat|Skoda|Porsche|Nissan|Jeep|Chevy|Chevrolet|Polestar)(?:\s+[\w-]+){0,2}",
}

Build = Callable[[re.Match[str]], Personal | None]


def _single(attribute: str) -> Build:
    return lambda m: Personal(attribute=attribute, value=_clean(m["v"]), old=_clean(m["o"]) if m.groupdict().get("o") else None)


def _member(attribute: str, *, negated: bool = False) -> Build:
    return lambda m: Personal(attribute=attribute, value=_clean(m["v"]), single=False, negated=negated)


def _pet(m: re.Match[str]) -> Personal:
    return Personal(attribute=_clean(m["kind"]).casefold(), value=_clean(m["v"]), single=False)


def _thing(m: re.Match[str]) -> Personal | None:
    noun = re.sub(r"\s+", " ", m["thing"]).casefold()
    noun = {"os": "operating system", "colour": "color", "timezone": "time zone", "film": "movie", "coffee order": "drink"}.get(noun, noun)
    liked = re.search(r"favou?rite", m["liked"] or "", re.IGNORECASE)
    return Personal(attribute=f"favorite {noun}" if liked else noun, value=_clean(m["v"]))


def _named_thing(m: re.Match[str]) -> Personal | None:
    """ "I switched banks from A to B", "I changed my airline to B": the attribute is named."""
    noun = re.sub(r"s$", "", re.sub(r"\s+", " ", m["thing"]).casefold())
    return Personal(attribute={"os": "operating system", "colour": "color"}.get(noun, noun), value=_clean(m["v"]), old=_clean(m["o"]) or None)


def _of_family(m: re.Match[str]) -> Personal | None:
    """The attribute a value itself gives away: "switched from Chrome to Firefox" is about the browser."""
    value, old = _clean(m["v"]), _clean(m["o"]) if m.groupdict().get("o") else None
    for attribute, family in _FAMILY.items():
        if any(x and re.fullmatch(family, x, re.IGNORECASE if attribute == "drink" else 0) for x in (value, old)):
            return Personal(attribute=attribute, value=value, old=old)
    return None


def _clean(words: str | None) -> str:
    return re.sub(r"^(?:an?\s+)", "", re.sub(r"\s+", " ", words or "").strip(" .,'\"“”‘’"))


def _in(family: str, attribute: str) -> tuple[str, Build]:
    return (
        rf"{_I}{_ADV}\s+(?:use|fly|fly with|fly on|carry|run|drive|drink|have|own|edit in|code in|write code in|browse with|am on|'m on)\s+(?:an?\s+|with\s+|on\s+)?(?P<v>{family})\b(?P<o>)?",
        _single(attribute),
    )


def _rows_english() -> Iterator[tuple[str, Build]]:
    yield (
        rf"{_I}(?:'m|’m|\s+am|\s+became|\s+went|\s+turned|'ve been|\s+have been){_ADV}\s+(?:a\s+)?(?:(?:strict|lifelong)\s+)?(?P<v>{_DIETS})\b",
        _single("diet"),
    )
    yield rf"{_AM}\s+(?:no longer|not)(?:\s+an?)?\s+(?P<v>{_DIETS})\b", lambda m: Personal(attribute="diet", value=_clean(m["v"]), negated=True)
    yield rf"{_AM}{_ADV}\s+(?:an?\s+)?(?P<v>{_CONDITIONS})\b", _member("condition")
    yield (
        rf"(?:{_AM}|\b(?:because|that)\s+I(?:'m|’m|\s+am)|^I(?:'ve|’ve|\s+have)\s+been){_ADV}\s+(?:(?:severely|highly|deathly|mildly|very|badly)\s+)?allergic\s+to\s+(?!{DREADED})(?P<v>.+?){_STOP}",
        _member("allergy"),
    )
    yield rf"{_HAVE}\s+(?:got\s+)?an?\s+(?:(?:severe|mild|bad|serious)\s+)?allergy\s+to\s+(?!{DREADED})(?P<v>.+?){_STOP}", _member("allergy")
    yield (
        rf"{_HAVE}\s+(?:developed\s+|got\s+)?(?:an?\s+)?(?:(?:severe|mild|bad|serious|life-threatening)\s+)?(?!(?:an?|bad|severe|mild|serious|any|no|some)\b)(?P<v>[\w-]+(?:\s[\w-]+)?)\s+allergy\b",
        _member("allergy"),
    )
    yield r"^I\s+can't\s+have\s+(?P<v>[\w ]{2,30}?),\s+I(?:'m|’m| am)\s+allergic\b", _member("allergy")
    yield rf"{_I}\s+(?:don't|do not|can't|cannot|no longer|never)\s+eat\s+{_V}", _member("eats", negated=True)
    yield (
        rf"{_HAVE}(?:\s+(?:just|recently|finally|now))*\s+(?:moved|relocated)\s+(?:from\s+(?P<o>[A-Z][^,.;]{{1,40}}?)\s+)?(?:over\s+)?to\s+{_PLACE}",
        _single("home"),
    )
    yield rf"{_I}(?:{_ADV}\s+live|(?:'m|’m|\s+am){_ADV}\s+(?:living|based)){_ADV}\s+in\s+{_PLACE}(?P<o>)?", _single("home")
    yield rf"{_I}{_ADV}\s+(?:work|am employed|started working|started work|'m working|am working){_ADV}\s+(?:at|for)\s+{_ORG}(?P<o>)?", _single("employer")
    yield (
        rf"{_HAVE}(?:\s+(?:just|recently))*\s+(?:joined|started at|left\s+(?P<o>[A-Z][\w.&-]*(?:\s[A-Z][\w.&-]*)*)\s+(?:for|to join|and (?:joined|started at|now work (?:at|for))))\s+{_ORG}",
        _single("employer"),
    )
    yield rf"{_I}{_ADV}\s+work{_ADV}\s+as\s+(?:an?\s+)?(?P<v>{_JOBS})\b(?P<o>)?", _single("job")
    yield rf"{_I}(?:'m|’m|\s+am|\s+became){_ADV}\s+(?:an?|the)\s+(?P<v>{_JOBS})\b(?P<o>)?(?!\s+(?:of|for)\s+(?:the\s+)?(?:night|day|moment))", _single("job")
    yield (
        rf"{_HAVE}(?:\s+(?:just|recently|finally))*\s+(?:(?:got|was|been)\s+promoted|(?:accepted|received|got|earned)\s+(?:a|my)\s+promotion)\s+to\s+(?P<v>{_JOBS})\b(?P<o>)?",
        _single("job"),
    )
    yield rf"{_HAVE_WE}\s+(?:got\s+)?an?\s+(?:\w+\s+)?(?P<kind>{_PETS})\s+(?:named|called)\s+(?P<v>[A-Z][\w'-]*)", _pet
    yield rf"^(?:and\s+)?[Mm]y\s+(?P<kind>{_PETS})(?:'s name is|\s+is\s+(?:named|called))\s+(?P<v>[A-Z][\w'-]*)", _pet
    yield r"^[Mm]y\s+(?:full|real|legal|first|last)\s+name\s+is\s+(?P<v>[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){0,3})(?P<o>)?", _single("name")
    yield r"^[Tt]he\s+name(?:'s|’s|\s+is)\s+(?P<v>[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){0,3})(?P<o>)?", _single("name")
    yield r"^(?:[Hh]i,\s+|[Hh]ello,\s+)?(?P<v>[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){1,3})\s+here,\s+that's\s+my\s+(?:full\s+)?name(?P<o>)?", _single("name")
    yield r"^I(?:'m|’m|\s+am)\s+(?P<v>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){1,2})(?P<o>)?,\s+by\s+the\s+way", _single("name")
    yield r"^I\s+go\s+by\s+(?P<v>[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){0,3})(?P<o>)?\b", _single("name")
    yield rf"^I(?:'ve|’ve|\s+have)(?:\s+got)?\s+an?\s+(?P<kind>{_PETS}),\s+(?P<v>[A-Z][\w'-]*)\s*[,.]", _pet
    yield (
        rf"^(?:I|[Ww]e)(?:'ve|\s+have)?\s+(?:got|have|adopted|got)\s+an?\s+(?P<kind>{_PETS})\b[^.;]{{0,30}}?,?\s+(?:and\s+)?(?:her|his|its|their)\s+name\s+is\s+(?P<v>[A-Z][\w'-]*)",
        _pet,
    )
    yield rf"^[Oo]ur\s+(?P<kind>{_PETS})(?:'s name is|\s+is\s+(?:named|called))\s+(?P<v>[A-Z][\w'-]*)", _pet
    yield rf"^(?P<v>[A-Z][\w'-]*)\s+is\s+(?:my|our)\s+(?P<kind>{_PETS})\b", _pet
    yield r"^[Mm]y\s+birthday(?:'s|’s|\s+falls\s+on)\s+(?P<v>[^,.;]{3,30}?)(?=[,.;!]|$)(?P<o>)?", _single("birthday")
    yield r"^(?P<v>\d[\w ]{2,20}|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?)\s+is\s+my\s+birthday(?P<o>)?", _single("birthday")
    yield r"^I\s+celebrate\s+my\s+birthday\s+on\s+(?P<v>[^,.;]{3,30}?)(?=[,.;!]|$)(?P<o>)?", _single("birthday")
    yield r"^(?:I(?:'m|’m|\s+am)\s+an?\s+(?P<v>[a-z][\w -]{2,40}?)(?P<o>)?\s+by\s+(?:trade|profession|training))", _single("job")
    yield r"^[Bb]y\s+(?:profession|trade),?\s+I(?:'m|’m|\s+am)\s+an?\s+(?P<v>[a-z][\w -]{2,40}?)(?P<o>)?(?=[,.;!]|$)", _single("job")
    yield r"^[Mm]y\s+(?:profession|occupation|job)\s+is\s+(?:that\s+of\s+an?\s+|being\s+an?\s+)?(?P<v>[a-z][\w -]{2,40}?)(?P<o>)?(?=[,.;!]|$)", _single("job")
    yield (
        r"^I\s+(?:work|earn\s+my\s+living|make\s+my\s+living)\s+as\s+an?\s+(?P<v>[a-z][\w -]{2,40}?)(?P<o>)?(?=[,.;!]|$|\s+(?:at|for|in|and|because)\b)",
        _single("job"),
    )
    yield rf"^I(?:'ve|’ve|\s+have)\s+been\s+an?\s+(?P<v>{_JOBS})(?P<o>)?\s+for\s+", _single("job")
    yield rf"^I(?:'m|’m|\s+am)?\s*(?:grew\s+up\s+in|originally\s+from|come\s+from|was\s+born\s+and\s+raised\s+in)\s+{_PLACE}(?P<o>)?", _single("hometown")
    yield r"^(?:[Hh]i|[Hh]ello|[Hh]ey)?,?\s*[Mm]y\s+name\s+is\s+(?P<v>[A-Z][\w'-]*(?:\s[A-Z][\w'-]*){0,2})(?P<o>)?", _single("name")
    yield r"^(?:[Pp]lease\s+)?(?:[Cc]all|[Aa]ddress)\s+me\s+(?:as\s+)?(?P<v>[A-Z][\w'-]*)(?P<o>)?\s*(?:from now on)?[.!]?$", _single("called")
    yield r"^(?:and\s+)?[Mm]y\s+birthday\s+is\s+(?:on\s+)?(?:the\s+)?(?P<v>[^,.;]{3,30}?)(?=[,.;!]|\s+(?:and|so|but)\b|$)(?P<o>)?", _single("birthday")
    yield (
        rf"^(?:and\s+)?[Mm]y\s+(?:new\s+|current\s+|main\s+|usual\s+|go-to\s+|preferred\s+|regular\s+|default\s+)*(?P<liked>favou?rite\s+)?(?P<thing>{_THINGS})(?:\s+of choice)?\s+(?:is|are)(?:\s+now|\s+currently)?\s+(?!not\b){_V}",
        _thing,
    )
    yield rf"{_HAVE}(?:\s+(?:just|recently|finally|now))*\s+(?:switched|changed)\s+(?:my\s+)?(?P<thing>(?:{_THINGS})s?){_FROM}\s+to\s+{_V}", _named_thing
    yield (
        rf"{_HAVE}(?:\s+(?:just|recently|finally|now))*\s+(?:switched|changed|moved|went|gone|upgraded|migrated)(?:\s+(?:over|back|my \w+))?{_FROM}\s+to\s+(?:using\s+|drinking\s+|flying\s+(?:with\s+|on\s+)?|driving\s+)?{_V}",
        _of_family,
    )
    yield (
        rf"{_HAVE}(?:\s+(?:just|recently|finally|now))*\s+(?:replaced|swapped|ditched|dropped)\s+(?:my\s+)?(?P<o>[^,.;]{{1,40}}?)\s+(?:with|for|in favor of|in favour of)\s+{_V}",
        _of_family,
    )
    for attribute, family in _FAMILY.items():
        if attribute != "drink":
            yield _in(family, attribute)
    yield (
        rf"{_I}{_ADV}\s+fly\s+(?:with\s+|on\s+)?{_ORG}(?P<o>)?(?=\s*(?:[,.;!]|$)|\s+(?:now|because|since|as|whenever|when|for|these|and|but)\b)",
        _single("airline"),
    )
    yield (
        rf"(?:{_I}|^I\s+sold\s+.{{3,40}}\band){_ADV}\s+drive{_ADV}\s+an?\s+{_ORG}(?P<o>)?(?=\s*(?:[,.;!]|$)|\s+(?:now|because|since|as|and|but|these)\b)",
        _single("car"),
    )
    yield rf"{_HAVE}(?:\s+(?:just|recently|finally))*\s+(?:got|bought)\s+(?:myself\s+)?an?\s+(?:new\s+)?(?P<v>{_FAMILY['phone']})(?P<o>)?\b", _single("phone")
    yield (
        rf"^[Mm]y\s+(?:work\s+)?(?:laptop|computer|desktop|pc|PC|machine)\s+(?:now\s+)?(?:runs|is running)\s+(?P<v>{_FAMILY['operating system']})(?P<o>)?",
        _single("operating system"),
    )
    yield rf"{_I}{_ADV}\s+(?P<v>bike|cycle|walk|drive|commute by \w+){_ADV}\s+to\s+work(?P<o>)?\b", _single("commute")
    yield rf"{_I}{_ADV}\s+take\s+the\s+(?P<v>\w+)\s+to\s+work(?P<o>)?\b", _single("commute")
    yield (
        rf"{_HAVE}\s+(?:gave up|given up|quit|stopped)\s+(?:drinking\s+)?(?P<v>{_FAMILY['drink']})\b",
        lambda m: Personal(attribute="drink", value=_clean(m["v"]), negated=True),
    )
    yield rf"{_HAVE}\s+(?:gave up|given up|quit|stopped)\s+eating\s+{_V}", _member("eats", negated=True)
    yield rf"{_I}\s+drink\s+(?P<v>{_FAMILY['drink']})(?P<o>)?\s+(?:now|these days|nowadays|every (?:morning|day)|instead)\b", _single("drink")
    yield rf"{_I}(?:'ve|’ve|\s+have)\s+been\s+drinking\s+(?P<v>{_FAMILY['drink']})(?P<o>)?\b", _single("drink")
    yield rf"{_I}\s+(?:now|always|usually|only|mostly|typically)(?:\s+only)?\s+drink\s+(?P<v>{_FAMILY['drink']})\b(?P<o>)?", _single("drink")
    yield rf"{_I}(?:'m|’m|\s+am)\s+(?:now\s+)?married\s+to\s+(?P<v>[A-Z]\w+)(?P<o>)?", _single("spouse")
    yield rf"{_I}{_ADV}\s+speak{_ADV}\s+(?P<v>[A-Z]\w+)\b", _member("speaks")
    yield (
        rf"{_I}{_ADV}\s+play{_ADV}\s+(?:the\s+)?(?P<v>piano|guitar|violin|cello|drums|flute|saxophone|trumpet|bass|ukulele|tennis|football|soccer|basketball|chess|badminton|golf|hockey|volleyball)\b",
        _member("plays"),
    )


_ZH_THINGS = {"手机": "phone", "电脑": "computer", "车": "car", "银行": "bank", "编辑器": "editor", "浏览器": "browser", "健身房": "gym"}


def _zh_thing(m: re.Match[str]) -> Personal:
    return Personal(attribute=_ZH_THINGS[m["kind"]], value=_clean(m["v"]), old=_clean(m["o"]) or None)


_ZH_END = r"(?=[，。,.!！；;、]|了|$|因为|所以|而且|现在)"


def _zh_hometown(m: re.Match[str]) -> Personal | None:
    return Personal(attribute="hometown", value=_clean(m["v"] or m["w"]))


def _rows_chinese() -> Iterator[tuple[str, Build]]:
    me = r"^(?:[^，。,我他她]{1,8}[，,：:])?(?:另外|对了|其实|现在|最近|目前|，|,|\s)*我"
    yield rf"{me}是(?:一名|一个|一位)(?P<v>[a-z][a-z ]{{2,25}})(?P<o>)?(?=[，。,.]|$)", _single("job")
    yield r"^(?:自我介绍一下[，,])?我(?:的)?(?:全名|名字|姓名)(?:是|叫)(?P<v>[\u4e00-\u9fffA-Za-z ]{2,20}?)(?P<o>)?(?=[，。,.!！]|$)", _single("name")
    yield r"^(?:自我介绍一下[，,]|大家好[，,])我是(?P<v>[\u4e00-\u9fff]{2,4}|[A-Z][A-Za-z ]{2,24})(?P<o>)?(?=[，。,.!！]|$)", _single("name")
    yield r"^(?:落款|署名|封面)写(?P<v>[\u4e00-\u9fff]{2,4}|[A-Z][A-Za-z ]{2,24})(?P<o>)?[，,]这是我的名字", _single("name")
    yield rf"{me}们?(?:家|家里)?的?(?P<kind>狗|猫)的?(?:名叫|名字叫|名字是|叫)(?P<v>[\u4e00-\u9fffA-Za-z]{{1,10}}?){_ZH_END}", _pet
    yield rf"{me}(?:家)?(?:养了?|有)(?:一)?(?:只|条)(?P<kind>狗|猫)[，,](?:名字)?(?:叫|是)(?P<v>[\u4e00-\u9fffA-Za-z]{{1,10}}?){_ZH_END}", _pet
    yield r"^(?P<v>[\u4e00-\u9fffA-Za-z]{1,10}?)是我(?:们)?(?:家)?的(?P<kind>狗|猫)", _pet
    day = r"\d{1,2}月\d{1,2}[日号]|\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2}"
    yield rf"{me}(?:是)?(?P<v>{day})\s*出生(?P<o>)?", _single("birthday")
    yield rf"^(?P<v>{day})\s*是我的?生日(?P<o>)?", _single("birthday")
    yield rf"{me}是\s*(?P<v>{_JOBS}){_ZH_END}(?P<o>)?", _single("job")
    yield rf"{me}的?(?:职业|本职|工作)是(?P<v>[\u4e00-\u9fffA-Za-z ]{{2,20}}?){_ZH_END}(?P<o>)?", _single("job")
    yield rf"{me}做(?P<v>[\u4e00-\u9fffA-Za-z ]{{2,20}}?)(?:已经)?(?P<o>)?(?:[一二三四五六七八九十\d]+年)", _single("job")
    yield (
        rf"{me}是(?:一名|一个|一位|个|名)?(?P<v>[\u4e00-\u9fff]{{0,6}}(?:工程师|医生|兽医|护士|翻译|老师|律师|会计|设计师|司机|教授|作家|记者|分析师|厨师|程序员)){_ZH_END}(?P<o>)?",
        _single("job"),
    )
    yield (
        rf"{me}(?:从小)?(?:在(?P<v>[\u4e00-\u9fffA-Za-z]{{2,12}}?)(?:长大|出生)|(?:出生在|来自)(?P<w>[\u4e00-\u9fffA-Za-z]{{2,12}}?)(?=[，。,.]|$))",
        _zh_hometown,
    )
    yield rf"{me}(?:的)?(?:家乡|老家)(?:是|在)(?P<v>[\u4e00-\u9fffA-Za-z]{{2,12}}?){_ZH_END}(?P<o>)?", _single("hometown")
    yield rf"{me}是(?P<v>[\u4e00-\u9fffA-Za-z]{{2,8}}?)人(?P<o>)?[。，,.]?$", _single("hometown")
    yield rf"{me}(?:最近|刚|刚刚|已经)*从(?P<o>[\u4e00-\u9fff]{{2,8}}?)搬(?:到|去|来)(?:了)?(?P<v>[\u4e00-\u9fffA-Za-z]{{2,10}}?){_ZH_END}", _single("home")
    yield rf"(?:{me}|^)(?:现在|目前|最近|刚|刚刚|已经)*(?:住在|搬到了?|搬去了?|搬来了?)(?P<v>[\u4e00-\u9fffA-Za-z]{{2,10}}?){_ZH_END}(?P<o>)?", _single("home")
    yield rf"{me}(?:现在|目前|也)*在(?![找一家做想思考寻])(?P<v>[\u4e00-\u9fffA-Za-z0-9]{{2,14}}?)(?:工作|上班|任职){_ZH_END}(?P<o>)?", _single("employer")
    yield (
        rf"{me}(?:现在|目前)*是(?:一名|一个|一位|个|名)(?P<v>[\u4e00-\u9fffA-Za-z]{{2,10}}?(?:师|员|生|者|家|医|警|官|长|人|手|匠|工)){_ZH_END}(?P<o>)?",
        _single("job"),
    )
    yield rf"{me}(?:一直|从小|严重)*对(?!周|星期|开会|上班|加班|早起|数学|人)(?P<v>[\u4e00-\u9fffA-Za-z ]{{1,14}}?)(?:严重|轻微)?过敏", _member("allergy")
    yield rf"{me}有?(?!对)(?P<v>[\u4e00-\u9fffA-Za-z ]{{1,14}}?)过敏(?=[，。,.]|$)", _member("allergy")
    yield rf"{me}不能碰(?P<v>[\u4e00-\u9fffA-Za-z ]{{1,14}}?)[，,]会?过敏", _member("allergy")
    yield rf"{me}(?P<v>花生|海鲜|牛奶|鸡蛋|坚果|花粉|青霉素|芒果|虾|麸质|乳糖)过敏", _member("allergy")
    yield rf"{me}(?:现在|已经)*(?:是)?(?P<v>吃素|素食者?|素食主义者|纯素){_ZH_END}(?P<o>)?", _single("diet")
    yield rf"{me}(?:从来|从|一直)?不吃(?P<v>[\u4e00-\u9fff]{{1,6}}?){_ZH_END}", _member("eats", negated=True)
    yield (
        rf"{me}的?(?P<kind>手机|电脑|车|银行|编辑器|浏览器|健身房)(?:从(?P<o>[^，。]{{1,12}}?))?(?:现在)?(?:是|换成了?|用的是|改成了?)(?P<v>[^，。,.！]{{1,16}}?){_ZH_END}",
        _zh_thing,
    )
    yield rf"{me}(?:现在|平时|一般|每天|通常)+(?:都|只)?喝(?P<v>[\u4e00-\u9fff]{{1,8}}?){_ZH_END}(?P<o>)?", _single("drink")
    yield rf"{me}(?:现在|平时|一般|通常|出差)*(?:都|只)?(?:坐|飞)(?P<v>[\u4e00-\u9fff]{{1,6}}航){_ZH_END}(?P<o>)?", _single("airline")
    yield r"(?:^|[，,。\s])我(?:叫|的名字(?:是|叫))(?P<v>[\u4e00-\u9fffA-Za-z]{2,6}?)(?P<o>)?(?=[，。,.!！\s]|$)", _single("name")
    yield r"^(?:以后)?(?:请)?叫我(?P<v>[\u4e00-\u9fffA-Za-z]{1,6}?)(?P<o>)?(?:就行|就好|吧)?[。！!]?$", _single("called")
    yield rf"{me}的?生日(?:是|在)(?:每年)?(?P<v>[\d〇一二三四五六七八九十]+月[\d〇一二三四五六七八九十]+[日号]?)(?P<o>)?", _single("birthday")
    yield (
        rf"{me}(?:家)?(?:养了?|有)(?:一)?(?:只|条|个)(?P<kind>狗|猫|兔子|鹦鹉|仓鼠|小狗|小猫)，?(?:名字)?(?:叫|叫做)(?P<v>[\u4e00-\u9fffA-Za-z]{{1,6}}?){_ZH_END}",
        _pet,
    )


def _compiled(rows: Iterator[tuple[str, Build]]) -> tuple[tuple[re.Pattern[str], Build], ...]:
    return tuple((re.compile(source), build) for source, build in rows)


@cache
def _english() -> tuple[tuple[re.Pattern[str], Build], ...]:
    """Compiled on first use: a command that reads no session does not wait for it."""
    return _compiled(_rows_english())


@cache
def _chinese() -> tuple[tuple[re.Pattern[str], Build], ...]:
    return _compiled(_rows_chinese())


def _parts(sentence: str) -> list[str]:
    """The sentence, and its later halves that begin with the first person again ("I live in Porto and I work at Bosch", "…, and my dog is called Rex")."""
    starts = [0, *(m.end() for m in _AGAIN.finditer(sentence))]
    shared = [m for m in _SHARED.finditer(sentence)] if sentence.startswith("I ") else []
    return [sentence[s:] for s in dict.fromkeys(starts)] + [f"I {sentence[m.end() :]}" for m in shared]


def _first(part: str, rows: tuple[tuple[re.Pattern[str], Build], ...]) -> list[Personal]:
    """What the first pattern that fits says, if it says anything of worth."""
    for pattern, build in rows:
        found = pattern.search(part)
        fact = build(found) if found is not None else None
        if fact is not None and fact.value and fact.value != fact.old:
            return [fact]
    return []
