"""How many secrets are masked and how many harmless look-alikes with them, over cases made by hand.

    python -m tests.benchmarks.secrets            # figures by kind, and each case that went wrong (its name, never its value)

Keys are put together when this runs, so that no scanner finds any here. A case is a record as an agent writes it; a secret counts as masked when no
eight characters of it in a row are readable any more (all of it, when it is shorter).
"""

from __future__ import annotations

import argparse
import base64
import json
import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from pipelines.logs.redaction import Redactor
from tests.redacting import json_web_token, noise, private_key

SHOWN = 8
"""Characters in a row of a longer secret that must not be readable."""
LADDER = "".join(chain.from_iterable(zip(string.ascii_uppercase, string.ascii_lowercase, strict=True)))
"""AaBbCc…: what people make a key's body of when they type one, and what no random generator gives."""
LOWER, UPPER = string.ascii_lowercase, string.ascii_uppercase


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A text with a secret in it. `lines`: its turns, each a record of its own; `secret` is looked for in all of them, parts of it too."""

    kind: str
    name: str
    lines: tuple[str, ...]
    secret: tuple[str, ...]


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _case(kind: str, name: str, text: str | tuple[str, ...], *secret: str) -> Case:
    return Case(kind=kind, name=name, lines=(text,) if isinstance(text, str) else text, secret=secret)


@cache
def secrets() -> tuple[Case, ...]:
    """Cases that hold a secret."""
    return (*_letters(), *_addresses(), *_prose(), *_code(), *_wrapped(), *_split())


def _letters() -> Iterator[Case]:
    """Keys of a vendor's shape whose body is letters in order, or letters alone."""
    ant, gh, oai = "sk-" + "ant-api03-", "gh" + "p_", "sk-" + "proj-"
    bodies = {
        "anthropic ladder": ant + LADDER, "anthropic lower": ant + LOWER, "anthropic upper": ant + UPPER, "anthropic short": ant + LADDER[:14],
        "anthropic oauth": "sk-" + "ant-oat01-" + LADDER[:40], "github ladder": gh + LADDER[:36], "github lower": gh + LOWER + LOWER[:10],
        "openai ladder": oai + LADDER, "openai old": "sk-" + LADDER[:48], "stripe": "sk" + "_live_" + LADDER[:24], "slack": "xo" + "xb-123456789012-" + LADDER[:24],
        "gitlab": "gl" + "pat-" + LADDER[:20], "aws id": "AK" + "IA" + "BCDEFGHIJKLMNOPQ", "google": "AI" + "za" + (LADDER + LOWER)[:35], "hugging face": "h" + "f_" + LADDER[:34],
    }  # fmt: skip
    for name, key in bodies.items():
        yield _case("letters", name, f"use {key} for now", key)
    yield _case("letters", "environment", f"export ANTHROPIC_API_KEY={ant}{LADDER}", ant + LADDER)
    yield _case("letters", "bearer", f"Authorization: Bearer {LADDER[:32]}", LADDER[:32])
    yield _case("letters", "bearer lower", f"curl -H 'Authorization: Bearer {'qwmznxbcvlaksjdhfgpo' * 2}' https://api.example", "qwmznxbcvlaksjdhfgpo")


def _addresses() -> Iterator[Case]:
    word, token = "hun" + "ter2", noise(28, string.ascii_letters)
    yield _case("url", "user and password", f"git clone https://ana:{word}@git.example.org/x.git", word)
    yield _case("url", "database", f"postgres://app:{'Sonnen' + 'blume7'}@db.internal:5432/shop", "Sonnen" + "blume7")
    yield _case("url", "password alone", f"redis://:{word}@cache:6379/0", word)
    yield _case("url", "token as user", f"https://{noise(40)}@github.com/acme/x.git", noise(40))
    yield _case("url", "token query", f"https://x.example/cb?token={token}", token)
    yield _case("url", "access token later", f"GET https://x.example/v1/me?user=7&access_token={token}&v=2", token)
    yield _case("url", "api key query", f"https://maps.example/js?api_key={token}", token)
    yield _case("url", "key query", f"https://maps.example/js?key={noise(39)}", noise(39))
    yield _case("url", "fragment", f"https://app.example/#access_token={token}&expires_in=3600", token)
    yield _case("url", "signature", f"https://b.s3.example/k?X-Amz-Signature={noise(64, '0123456789abcdef')}&X-Amz-Date=2026", noise(64, "0123456789abcdef"))
    yield _case("url", "password query", f"https://old.example/login?user=ana&password={'Sonnen' + 'blume'}", "Sonnen" + "blume")
    yield _case("url", "azure", f"https://a.blob.example/c/f?sv=2022&sig={noise(43)}%3D", noise(43))
    yield _case("url", "slack hook", f"https://hooks.slack.com/services/T0{noise(8, UPPER)}/B0{noise(8, UPPER)}/{noise(24)}", noise(24))


def _prose() -> Iterator[Case]:
    word = "hun" + "ter2"
    for name, text in {
        "plain": "the password is {}, keep it to yourself", "of a thing": "the admin password for staging is {}.", "set to": "I set the password to {} yesterday",
        "colon": "wifi password: {}", "use": "log in as ana with the password {}", "quoted": 'the password is "{}"', "chinese": "数据库密码是{}，别外传", "german": "das Passwort ist {}",
        "my pin": "my PIN is {}", "changed from": "we changed the password from {} to something else", "is now": "password is now {}",
    }.items():  # fmt: skip
        value = "48" + "21" if "PIN" in text else word
        yield _case("prose", name, text.replace("{}", value), value)
    yield _case("prose", "words", "the passphrase is correct-" + "horse-battery-staple", "correct-" + "horse-battery-staple")
    yield _case("prose", "plain word quoted", f"the password is '{'sword' + 'fish'}'", "sword" + "fish")


def _code() -> Iterator[Case]:
    word, token = "hun" + "ter2!", noise(40)
    yield _case("code", "python", f'PASSWORD = "{word}"', word)
    yield _case("code", "dict", f'conf = {{"db": {{"password": "{word}"}}}}', word)
    yield _case("code", "yaml", f"db:\n  password: {word}\n  port: 5432", word)
    yield _case("code", "env", f"DB_PASSWORD={'Sonnen' + 'blume'}", "Sonnen" + "blume")
    yield _case("code", "aws", f"aws_secret_access_key = {token}", token)
    yield _case("code", "header", f"headers = {{'X-Api-Key': '{token}'}}", token)
    yield _case("code", "docker", f"docker run -e API_TOKEN={token} x", token)
    yield _case("code", "docker login", f"docker login -u ana -p {word} registry.example", word)
    yield _case("code", "netrc", f"machine git.example login ana password {word}", word)
    yield _case("code", "key block", private_key(), private_key().split("\n")[2])
    yield _case("code", "jwt", f"token={json_web_token()}", json_web_token())
    yield _case("code", "concatenated", f"key = '{'sk-' + 'ant-api03-'}' + '{LADDER[:30]}'", LADDER[:30])
    yield _case("code", "comment", f"# TODO remove: api_key={token}", token)


def _wrapped() -> Iterator[Case]:
    """Base64 of what would be masked in the open."""
    ant = "sk-" + "ant-api03-" + LADDER
    for name, text in {
        "key": ant, "assignment": "password=" + "hun" + "ter2!x", "connection": "postgres://app:s3cr" + "3tPw@db/x", "netrc": "machine x login ana password hun" + "ter2",
        "json": '{"user": "ana", "password": "hun' + 'ter2!"}', "environment file": "PORT=5432\nDB_PASSWORD=hun" + "ter2!\nMODE=dev\n", "prose": "the password is hun" + "ter2",
    }.items():  # fmt: skip
        yield _case("base64", name, f"data: {b64(text)}", b64(text))
    yield _case("base64", "basic", f"Authorization: Basic {b64('ana:hun' + 'ter2')}", b64("ana:hun" + "ter2"))
    yield _case("base64", "kubernetes", "kind: Secret\ndata:\n  password: " + b64("hun" + "ter2-prod"), b64("hun" + "ter2-prod"))
    yield _case("base64", "decoded by a command", f"echo {b64('hun' + 'ter2-prod-x9')} | base64 -d", b64("hun" + "ter2-prod-x9"))


def _split() -> Iterator[Case]:
    ant = "sk-" + "ant-api03-"
    yield _case("split", "hard wrap", f"key: {ant}{LADDER[:24]}\n{LADDER[24:]}", ant + LADDER[:24], LADDER[24:])
    yield _case("split", "shell continuation", f"export K={ant}{LADDER[:24]}\\\n{LADDER[24:]}", LADDER[:24], LADDER[24:])
    yield _case("split", "two halves said", f"first half of the key: {ant}{LADDER[:12]}, second half: {LADDER[12:40]}", LADDER[12:40])
    yield _case(
        "split", "rest in the next turn", (f"the key starts with {ant}{LADDER[:20]}", f"and the rest of the key is {LADDER[20:48]}"), LADDER[:20], LADDER[20:48]
    )
    yield _case("split", "halves over turns", (f"first half of the token: {noise(20)}", f"second half: {noise(20, seed=1)}"), noise(20), noise(20, seed=1))
    yield _case("split", "chinese halves", (f"密钥前半段是{noise(20)}", f"后半段是{noise(20, seed=1)}"), noise(20), noise(20, seed=1))
    yield _case("split", "strings joined", f'k = "{ant}" "{LADDER[:20]}" "{LADDER[20:44]}"', LADDER[:20], LADDER[20:44])


@cache
def look_alikes() -> tuple[str, ...]:
    """Harmless texts that must stay as they are, to the byte."""
    hexes = "0123456789abcdef"
    sha, digest = noise(40, hexes), noise(64, hexes)
    return (
        "id 550e8400-e29b-41d4-a716-446655440000", "sessionToken: 550e8400-e29b-41d4-a716-446655440000", f"commit {sha}", f"git checkout {sha[:10]}",
        f"FROM python@sha256:{digest}", f"image: registry.example/app@sha256:{digest}", f"sha256-{b64(bytes.fromhex(digest).decode('latin-1'))[:44]}", f"ETag: \"{noise(32, hexes)}\"",
        "<API_KEY>", "api_key: <API_KEY>", "ANTHROPIC_API_KEY=sk-ant-...", "sk-...", "export KEY=sk-ant-api03-...", "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx", "use your sk-ant-api03 key",
        "api_key=your-api-key-here", "token: ${TOKEN}", "token=$(gcloud auth print-access-token)", "password: ********", "https://user:password@example.com/x", "https://user:pass@host",
        "https://x.example/cb?token=<token>", "https://x.example/cb?token={token}", "https://x.example/?token=$TOKEN&x=1", "https://x.example/search?key=name&sort=asc",
        "https://x.example/?api_key=YOUR_API_KEY", "https://x.example/?key=products.price", "https://x.example/?access_token=ACCESS_TOKEN", "https://git.example.org/acme/x.git",
        "ssh://git@github.com/acme/x.git", "git@github.com:acme/web.git", "https://ana@git.example.org/x.git", "postgres://localhost:5432/shop", "the password is required", "the password is wrong",
        "the password policy is strict", "my pin is broken", "the PIN is four digits long", "with the password prompt open", "password reset works", "with the password field empty",
        "the token is expired", "second half: the migration", "the second half of the year", "the rest of the key bindings is unchanged", "first half of the token budget: 4000", "后半段是测试", "密码错误",
        "密码是必填的", f"data: {b64('hello world, nothing to see here')}", f"data: {b64('the quick brown fox jumps over the lazy dog')}", f"src=\"data:image/png;base64,{b64(noise(60))}\"",
        "echo aGVsbG8gd29ybGQgYWdhaW4= | base64 -d", "Authorization: Bearer <token>", "Authorization: Bearer YOUR_ACCESS_TOKEN", "bearer authentication-scheme", "max_tokens=4096", '"tokenizer": "cl100k_base"',
        "docker run -p 8080:80 nginx", "docker login -u ana registry.example", "mkdir -p src/components", "tar -p archive.tar", "toolu_01AbCdEfGhIjKlMnOpQrStUv", "msg_01XFDUDYJgAACzvnptvVoYEL",
        "arn:aws:iam::123456789012:role/deploy", "AKIA" + "IOSFODNN7EXAMPLE", "integrity sha512-" + noise(86, LADDER) + "==", "const key = await crypto.subtle.generateKey()", "aws_secret_access_key = <redacted>",
        "sort key: created_at", "primary key: customer_id", "keyboard shortcut: ctrl-shift-p", "secretary: Lee", "the key is under the mat", "pwd=/home/ana/work", "credentials: 'include'",
    )  # fmt: skip


def masked(redactor: Redactor, lines: tuple[str, ...]) -> str:
    """The texts as they are stored, one a record."""
    raw = b"".join(json.dumps({"type": "user", "text": line}, ensure_ascii=False).encode() + b"\n" for line in lines)
    done = redactor.mask(raw)
    assert len(done.data) == len(raw), "a mask is as long as what it covers"
    return "\n".join(json.loads(line)["text"] for line in done.data.splitlines())


def readable(secret: str, text: str) -> bool:
    """Whether a reader of the text still has a part of the secret."""
    wide = min(SHOWN, len(secret))
    return any(secret[n : n + wide] in text for n in range(len(secret) - wide + 1))


def missed(redactor: Redactor) -> list[Case]:
    """The cases whose secret can still be read."""
    return [case for case in secrets() if any(readable(part, masked(redactor, case.lines)) for part in case.secret)]


def wrongly_masked(redactor: Redactor) -> list[str]:
    """The look-alikes that were changed."""
    return [text for text in look_alikes() if masked(redactor, (text,)) != text]


def main() -> None:
    """Print the figures."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    from worker.wiring import redactor as opened

    redactor = opened()
    left, wrong = missed(redactor), wrongly_masked(redactor)
    kinds, open_ = Counter(case.kind for case in secrets()), Counter(case.kind for case in left)
    for kind, n in kinds.items():
        print(f"{kind:10} {n - open_[kind]:3} of {n:3} masked")
    print(f"{'all':10} {len(secrets()) - len(left):3} of {len(secrets()):3} masked, {len(wrong)} of {len(look_alikes())} look-alikes masked with them")
    for case in left:
        print(f"  readable: {case.kind}, {case.name}")
    for text in wrong:
        print(f"  masked: {text[:60]}")


if __name__ == "__main__":
    main()
