"""Which words of a line are a secret's value: pure decisions about passwords, tokens and key blocks, one record line at a time.

The scanner of `redaction` says which lines hold a cue ("password", "api_key"); this module finds the value that belongs to the cue and tells
it from a type, a variable, a path, a placeholder. Precision comes first where words are ordinary prose or code, recall where the value is
quoted or the key says plainly that a secret follows.

All functions work on the *decoded line* made by `decoded`: the same length as the raw line, byte for byte, with JSON escapes turned into
something that cannot be part of a word. So every span is a span of the raw line too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
Judge: TypeAlias = Callable[[re.Match[bytes], bytes, bytes], bool]
"""Decides on a match, the value in it, and the byte behind the value."""

_KEY_BODY_MIN: Final = 32
BACKSLASH: Final = b"\x01"
"""Stands twice for an escaped backslash in a decoded line."""
ESCAPE: Final = b"\x02"
"""Stands before an escaped quote in a decoded line."""


def decoded(line: bytes) -> bytes:
    """The line with `\\n`, `\\t`, `\\r` as white space and `\\"` as a marked quote, each as long as before; text inside JSON inside JSON too."""
    plain = line.replace(b"\\\\", BACKSLASH * 2)
    nested = BACKSLASH in plain
    for escape, space in ((b"n", b" \n"), (b"t", b" \t"), (b"r", b" \r")):
        plain = plain.replace(b"\\" + escape, space)
        if nested:
            plain = plain.replace(BACKSLASH + escape, space)
    if b"\\u00" in plain:
        for escape, ascii_byte in _ASCII_ESCAPES:
            plain = plain.replace(escape, ascii_byte)
    return plain.replace(b'\\"', ESCAPE + b'"')


_ASCII_ESCAPES: Final = tuple((b"\\u%04x" % ch, b"     %c" % ch) for ch in b"\"&'<=>")
"""What some encoders escape though it is ASCII."""


def _either(*words: str) -> str:
    """An alternation of the words as UTF-8 and, where they are not ASCII, as the `\\u` escapes that ASCII-only JSON writes."""
    forms = []
    for word in words:
        forms.append(re.escape(word) if word.isascii() else word)
        if not word.isascii():
            forms.append("".join(ch if ch.isascii() else rf"(?:\\|\x01+)u{ord(ch):04x}" for ch in word))
    return "|".join(forms)


_ASCII = bytes(range(128))
_FOREIGN = tuple(mark.encode() for mark in ("密码", "密碼", "密钥", "口令", "令牌", "парол", "パスワ", "비밀", "半段", "半部分"))
_FOREIGN_ESCAPED = re.compile(
    rb"\\u(?i:5bc6\\+u(?:7801|78bc|94a5)|534a\\+u(?:6bb5|90e8)|53e3\\+u4ee4|4ee4\\+u724c|043f\\+u0430\\+u0440|30d1\\+u30b9\\+u30ef|be44\\+ubc00)"
)


def foreign_cues(raw: bytes) -> list[int]:
    """Where raw lines name a password or token in a script outside ASCII, in order; the scanner's copy of a line has no such bytes."""
    cues: list[int] = []
    foreign = b"" if raw.isascii() else raw.translate(None, _ASCII)  # marks hold no ASCII: what stands together there does here, and this is short
    for mark in _FOREIGN:
        if mark in foreign:
            at = raw.find(mark)
            while at >= 0:
                cues.append(at)
                at = raw.find(mark, at + 1)
    cues += [found.start() for found in _FOREIGN_ESCAPED.finditer(raw)]
    return sorted(cues)


_PASSWORD = r"passw(?:or)?[dt]|passphrase|passcode|pwd|kennwort|contrase(?:ñ|(?:\\|\x01+)u00f1|n)a|mot de passe|senha|" + _either(
    "пароль", "パスワード", "비밀번호"
)
_SECRET = (
    r"secret(?:[_-]?access)?(?:[_-]?key)?|(?:api|access|private|encryption|signing|account|master|auth)[ _-]?key(?:[_-]?id)?|"
    r"token(?:[_-]?secret)?|credentials?"
)
_OPEN = r"[\x01\x02]*[\"'`]"
_QUOTED = r"(?P<open>" + _OPEN + r")(?P<quoted>[^\"'`\x02\r\n]{1,512})(?=[\x01\x02]*[\"'`])"
_BARE = r"(?P<bare>[^\s\"'`\x02,;|<>]{1,512})"
_TYPE = r"(?:str|string|bytes|String|&str|SecretStr)(?:\s*\|\s*\w+)?"


def _pattern(text: str) -> re.Pattern[bytes]:
    return re.compile(text.encode(), re.IGNORECASE)


_ASSIGNED = _pattern(
    rf"(?P<key>(?P<password>{_PASSWORD})|{_SECRET})[_\d]{{0,3}}(?![a-z_\d])(?:{_OPEN})?[ \t]{{0,8}}(?P<op>=>|:=|={{1,3}}|:(?:[ \t]*{_TYPE}[ \t]*=)?)[ \t]{{0,8}}(?:{_QUOTED}|{_BARE})"
)
_FLAG = _pattern(rf"(?P<key>(?P<password>{_PASSWORD})|{_SECRET})[ \t]+(?:{_QUOTED}|{_BARE})")
_FROM_TO = re.compile(rb"[\"'`\x01\x02]*[ \t]+to\b")
_DASHES = re.compile(rb"(?<![\w-])--?[\w-]{0,24}$")
_SAID = _pattern(
    rf"(?P<key>(?P<password>{_PASSWORD})|{_SECRET})(?![a-z])(?:[ \t]+(?:for|of|on|in)[ \t]+[^\n.:=!?]{{1,60}}?)?"
    rf"[ \t]+(?P<op>(?:is|was|to|from|will be|should be|ist|es|est|é)(?:[ \t]+(?:now|set to|still|always))?)[ \t]*:?[ \t]+(?:{_QUOTED}|{_BARE})"
)
_SAID_CJK = _pattern(
    rf"(?:(?P<password>{_either('密码', '密碼', '口令', 'パスワード', '비밀번호', 'пароль')})|{_either('令牌', '密钥')})"
    rf"(?:{_either('改成', '改为', '设为', '设置为', '设成', '换成', '就是', '是', '为', '用', '：', 'は', '는', '은')}|[ \t]|:|=|-){{1,4}}"
    r"(?:" + _QUOTED + r"|(?P<bare>[!-~]{4,256}))"
)
_MYSQL = _pattern(r"(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,120}?[ \t]-p(?P<bare>[^\s\"'`\x02;|&]{3,128})")
_SSHPASS = _pattern(rf"sshpass[ \t]+-p[ \t]*(?:{_QUOTED}|(?P<bare>[^\s\"'`\x02;|&]{{3,128}}))")
_CURL_USER = _pattern(rf"curl[ \t][^\n]{{0,300}}?(?:-u|--user)(?:=|[ \t]+)(?:{_OPEN})?[^\s:\"'`\x02]{{1,64}}:(?P<bare>[^\s\"'`\x02]{{3,128}})")
_DOCKER = _pattern(rf"docker[ \t]+login\b[^\n|;&]{{0,120}}?[ \t](?:-p|--password)(?:=|[ \t]+)(?:{_QUOTED}|(?P<bare>[^\s\"'`\x02;|&]{{3,128}}))")
_WITH = _pattern(rf"(?P<key>(?P<password>{_PASSWORD}))[ \t]+(?:{_QUOTED}|{_BARE})")
_BEFORE_WITH = re.compile(rb"(?i)\b(?:with|using|use|enter|type|login[ \t]+\S{1,64})[ \t]+(?:(?:the|my|this)[ \t]+)?$")
_PIN = _pattern(r"pin(?:[ -](?:code|number))?[ \t]+(?:is|was|to)(?:[ \t]+now)?[ \t]*:?[ \t]+(?P<bare>\d{4,8})(?![\w%])")
_KEY_BLOCK = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(rb"[A-Za-z0-9+/=\s:,.\x01\x02\\-]*")


def values_at(line: bytes, cue: int) -> Iterator[Span]:
    """Spans of secret values that belong to the cue at a place of a decoded line: assignments, flags, plain words, private key blocks."""
    if line.startswith(b"-----BEGIN", cue):
        yield from _key_block(line, cue)
    for pattern, judge in _JUDGED:
        match = pattern.match(line, cue)
        if match is not None:
            yield from _judged(match, judge)


def _judged(match: re.Match[bytes], judge: Judge) -> Iterator[Span]:
    span = _value_span(match)
    if span is not None and judge(match, match.string[span[0] : span[1]], match.string[span[1] : span[1] + 1]):
        yield span


def _value_span(match: re.Match[bytes]) -> Span | None:
    """Where the value stands, without the marks around it; None when nothing is left."""
    groups = match.groupdict()
    name = "quoted" if groups.get("quoted") is not None else "bare"
    start, end = match.span(name)
    text = match.string[start:end]
    text = text.rstrip(b"\x01 \t") if name == "quoted" else _unpunctuated(text)
    return (start, start + len(text)) if text else None


def _unpunctuated(text: bytes) -> bytes:
    """A bare word without what prose and code put behind it; an escape ends it."""
    text = re.split(rb"\\u[0-9a-fA-F]{4}|[\x80-\xff\x01]|&\w+=", text, maxsplit=1)[0]
    text = text.rstrip(b".,:;?)]}>\\")
    return text[:-1] if text.endswith(b"!") and not _SPECIAL.search(text[:-1]) and not _DIGIT.search(text) else text


def _key_block(line: bytes, cue: int) -> Iterator[Span]:
    """The body of a private key, whole or cut off; the two lines around it stay, so that a reader sees what was there."""
    begin = _KEY_BLOCK.match(line, cue)
    if begin is None:
        return
    body = _KEY_BODY.match(line, begin.end())
    assert body is not None, "a star always matches"
    end = _KEY_END.search(line, begin.end(), body.end() + 64)
    stop = end.start() if end is not None else body.end()
    stop = begin.end() + len(line[begin.end() : stop].rstrip(b"- \t\r\n\x01\x02\\"))
    if sum(map(len, _BASE64_RUN.findall(line, begin.end(), stop))) >= _KEY_BODY_MIN:
        yield begin.end(), stop


# --- what a value looks like -------------------------------------------------------------------------------------------------------------

_DIGIT = re.compile(rb"\d")
_LETTER = re.compile(rb"[A-Za-z]")
_SPECIAL = re.compile(rb"[!@#$%^&*+=~?]")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/]{16,}")
_UUID = re.compile(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PLACEHOLDER = re.compile(
    rb"""(?ix) ^[<\[{]  |  ^\$[a-z_({]  |  ^%[a-z_(]  |  ^[*.\-_x\x20]+$  |  (.)\1{5,}  |  \$\{|\$\(|\{\{|<[a-z_\x20-]+>  |  ^x{3,}|[^a-z0-9]x{3,}|x{6,}|\*{3,}|\.\.\.
      | ^\$?env[.:]|process\.env|os\.environ|getenv|import\.meta|secrets\.[a-z_]
      | your[_-]|[_-]here\b|^example|[_-]example|example$|placeholder|change[_-]?me|dummy|redacted|masked|sanitized|insert[_-]|replace[_-](?:me|with)|\bfake\b """
)
_NO_SECRET = frozenset(
    b"password passwd passphrase passcode pass pwd secret token key apikey api_key credential credentials string str text bytes bool boolean int integer "
    b"number float any object array list dict null nil none undefined true false yes no on off required optional missing invalid valid empty blank unset "
    b"wrong incorrect correct default hidden basic bearer digest plain plaintext hash hashed encrypted varchar char email username user name login "
    b"self this new value input form field type query body header headers data auth oauth admin readonly private public static const let var return "
    b"void never unknown promise response request error test".split()
)
_ALGORITHM = re.compile(
    rb"(?i)^(?:sha-?\d+|md5|bcrypt\d*|argon2\w*|pbkdf2|scrypt|hmac|base\d\d|utf-?\d+|x509|oauth\d?|http/?\d*|ipv\d|rsa\d*|aes-?\d*|ed25519|p\d+)(?:[-_/.].*)?$"
)
_CODE = re.compile(rb"[()\[\]{}<>\\]|=>|->|::|^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$|^&?mut |^!|^\W+$")
_FILE = re.compile(
    rb"(?i)^(?:~|\.{1,2})?/|^[a-z]:[/\\\x01]|://|^[\w@./-]+\.(?:py|[jt]sx?|mjs|json|md|ya?ml|toml|env|go|rs|java|kt|rb|php|txt|sh|sql|html|css|com|org|io|net|dev|local)(?::\d+)*$"
)
_NAME = re.compile(rb"^[A-Za-z_][A-Za-z_]*$")
_SECRET_WORD = re.compile(rb"(?i)passw|pwd|secret|token|key|cred|hash|param|field|input|value")
_HYPHENATED = re.compile(rb"^[A-Za-z]+(?:-[A-Za-z]+){3,}$")


def placeholder(value: bytes) -> bool:
    """Whether the value is a stand-in (`<token>`, `${X}`, `xxxx`, our own mask) and not a secret."""
    return len(value) < 3 or _PLACEHOLDER.search(value) is not None


def _not_a_value(value: bytes) -> bool:
    return placeholder(value) or value.lower() in _NO_SECRET or _ALGORITHM.match(value) is not None or _FILE.search(value) is not None


def _mixed(value: bytes) -> bool:
    """Letters with digits or special characters: what people take as a password and prose hardly ever has."""
    return _LETTER.search(value) is not None and (_DIGIT.search(value) is not None or _SPECIAL.search(value) is not None)


def random_like(value: bytes) -> bool:
    """At least 16 characters with letters and digits mixed through each other: a machine's token, not a name."""
    if len(value) < 16 or not _mixed(value) or _DIGIT.search(value) is None:
        return False
    return len(re.findall(rb"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", value)) >= 3


def _judge_assigned(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """An assignment in code, JSON, a shell or a settings file."""
    if _not_a_value(value):
        return False
    quoted = match.group("quoted") is not None
    if match.group("password") is None:
        return _assigned_secret(match, value, after, quoted)
    if quoted:
        if b" " in value:
            return match.group("password").lower() == b"passphrase"
        return len(value) >= 4 and not _CODE.search(value) and (_mixed(value) or not value.istitle()) and value.isascii()
    if _CODE.search(value) or after in (b"(", b"[", b"."):
        return False
    if _NAME.match(value):  # `password: str`, `password = other`: only an environment-style line says that a plain word is the value
        return match.group("key").isupper() and match.group("op") == b"=" and not _SECRET_WORD.search(value) and len(value) >= 4
    return not _SECRET_WORD.search(value) if value.isalnum() and not _DIGIT.search(value) else len(value) >= 4


def _assigned_secret(match: re.Match[bytes], value: bytes, after: bytes, quoted: bool) -> bool:
    """`token`, `secret`, `api_key`: names of so many harmless things that the value itself has to look like a secret."""
    if _UUID.fullmatch(value) or _CODE.search(value) or b" " in value or after in (b"(", b"["):
        return False
    if random_like(value):
        return True
    plain_key = b"token" not in match.group("key").lower() and b"cred" not in match.group("key").lower()
    strict = quoted or (match.group("key").isupper() and match.group("op") == b"=")
    return plain_key and strict and len(value) >= 8 and _DIGIT.search(value) is not None and _mixed(value) and not value.isdigit()


def _judge_flag(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """`--password hunter2` on a command line."""
    if _DASHES.search(match.string, max(0, match.start() - 32), match.start()) is None:
        return False
    if _not_a_value(value) or value.startswith(b"-") or _CODE.search(value):
        return False
    return _mixed(value) and len(value) >= 4 if match.group("password") is not None else random_like(value)


def _judge_said(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """Prose: "the password is hunter2". A word without digit or special character is far more often "wrong", "required", "expired"."""
    if _not_a_value(value) or _CODE.search(value) or len(value) < 4:
        return False
    if match.group("password") is None:
        return random_like(value)
    if match.group("op").lower() == b"from" and not _FROM_TO.match(match.string, match.end()):
        return False  # "read the password from 1Password", but "changed the password from hunter2 to another"
    if match.group("quoted") is not None:
        return b" " not in value or b"passphrase" in match.group("key").lower()
    return _mixed(value) or value.isdigit() or _HYPHENATED.match(value) is not None


def _judge_with(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """ "Log in with the password hunter2", `login ana password hunter2`: no verb between, so only what looks like a password."""
    if _BEFORE_WITH.search(match.string, max(0, match.start() - 96), match.start()) is None:
        return False
    return len(value) >= 6 and _mixed(value) and _DIGIT.search(value) is not None and not _not_a_value(value) and not _CODE.search(value)


def _judge_pin(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """ "My PIN is 4821"."""
    return True


def _judge_said_cjk(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """ "密码是 hunter2": an ASCII word after a Chinese cue is a value, not prose."""
    if _not_a_value(value) or _CODE.search(value) or len(value) < 4 or not value.isascii():
        return False
    return True if match.group("password") is not None else random_like(value)


def _judge_short(match: re.Match[bytes], value: bytes, after: bytes) -> bool:
    """`mysql -pVALUE`, `sshpass -p VALUE`, `curl -u name:VALUE`: forms that hold nothing but a secret."""
    return not _not_a_value(value) and not _CODE.search(value)


_JUDGED: Final[tuple[tuple[re.Pattern[bytes], Judge], ...]] = (
    (_ASSIGNED, _judge_assigned),
    (_FLAG, _judge_flag),
    (_SAID, _judge_said),
    (_SAID_CJK, _judge_said_cjk),
    (_MYSQL, _judge_short),
    (_SSHPASS, _judge_short),
    (_CURL_USER, _judge_short),
    (_DOCKER, _judge_short),
    (_WITH, _judge_with),
    (_PIN, _judge_pin),
)
