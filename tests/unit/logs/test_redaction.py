"""What is masked, what stays readable, and that the bytes around a secret do not move."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from pipelines.errors import Refused
from pipelines.logs.redaction import Redactor, open_redactor
from tests.redacting import json_web_token, noise, private_key, shared_redactor, vendor_keys


@pytest.fixture(scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return shared_redactor(request)


def record(text: str, *, ascii_only: bool = False, nested: bool = False) -> bytes:
    inner = json.dumps({"out": text}, ensure_ascii=ascii_only) if nested else text
    return json.dumps({"type": "user", "text": inner}, ensure_ascii=ascii_only).encode() + b"\n"


def assert_hidden(redactor: Redactor, text: str, secret: str) -> None:
    for ascii_only in (False, True):
        for nested in (False, True):
            raw = record(text, ascii_only=ascii_only, nested=nested)
            masked = redactor.mask(raw)
            assert json.dumps(secret)[1:-1].encode() not in masked.data, raw
            assert masked.count >= 1
            assert len(masked.data) == len(raw)
            assert json.loads(masked.data).keys() == json.loads(raw).keys()
            again = redactor.mask(masked.data)
            assert (again.data, again.count) == (masked.data, 0)


def assert_readable(redactor: Redactor, text: str) -> None:
    raw = record(text)
    assert redactor.mask(raw).data == raw


@pytest.mark.parametrize("vendor", sorted(vendor_keys()))
@pytest.mark.parametrize(
    "around", ["use {}.", "key={}", "\n{}\n", "  12\t{},", "({})", "`{}`", "密钥是{}。", "→{}", 'token: "{}"', "https://x.example/?k={}&v=1"]
)
def test_a_vendor_key_is_masked_wherever_it_stands(redactor: Redactor, vendor: str, around: str) -> None:
    key = vendor_keys()[vendor]
    assert_hidden(redactor, around.replace("{}", key), key)


PASSWORDS = ["hun" + "ter2", "Tr0ub4" + "dor&3", "s3cr3t" + "!Pass"]
SAYINGS = [
    "the password is {}", "The admin password is {}.", "my password for the staging db is {}, ok?", "set the password to {}", "password: {}", "password={}",
    "PASSWORD={}", "DB_PASSWORD={}", '"password": "{}"', "dbPassword = '{}'", "password => '{}'", "password: str = '{}'", "passphrase: `{}`",
    "--password {}", "--password={}", "export PGPASSWORD={}", "sshpass -p {} ssh host", "mysql -uroot -p{} shop", "curl -u admin:{} https://x.example",
    "postgres://app:{}@db.internal:5432/x", "redis://:{}@h:6379", "Server=db;User=sa;Password={};Trusted",
    "密码是{}", "密码：{}", "密码是 {}。", "数据库密码改成{}了", "口令是{}，别忘了", "contraseña: {}", "mot de passe: {}", "das Passwort ist {}", "пароль: {}",
    "パスワードは{}",
]  # fmt: skip


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("saying", SAYINGS)
def test_a_password_is_masked_as_people_and_programs_write_it(redactor: Redactor, saying: str, password: str) -> None:
    assert_hidden(redactor, saying.replace("{}", password), password)


@pytest.mark.parametrize(
    "around", ["Authorization: Bearer {}", 'aws_secret_access_key = "{}"', '{"api_key": "{}"}', "X-Api-Key: {}", "令牌：{}", "client_secret={}"]
)
def test_a_random_token_is_masked_behind_a_word_for_secrets(redactor: Redactor, around: str) -> None:
    token = noise(20) + "1a2b3c4d" + noise(12)
    assert_hidden(redactor, around.replace("{}", token), token)


def test_a_quoted_passphrase_of_several_words_is_masked_whole(redactor: Redactor) -> None:
    assert_hidden(redactor, 'passphrase: "correct horse battery staple"', "correct horse battery staple")


def test_a_private_key_is_masked_whole_or_cut_off(redactor: Redactor) -> None:
    key = private_key()
    line = key.split("\n")[3]
    assert_hidden(redactor, "$ cat id_rsa\n" + key + "$ ", line)
    assert_hidden(redactor, "$ head -c 400 id_rsa\n" + key[:400], line)


def test_what_stands_around_a_private_key_stays(redactor: Redactor) -> None:
    text = json.loads(redactor.mask(record("before\n" + private_key() + "after")).data)["text"]
    assert text.startswith("before\n-----BEGIN")
    assert text.endswith("-----\nafter")


def test_an_inline_remark_cannot_hide_a_secret(redactor: Redactor) -> None:
    key = vendor_keys()["github"]
    for remark in ("gitleaks" + ":allow", "betterleaks" + ":allow", "kingfisher" + ":ignore"):
        assert_hidden(redactor, f'key = "{key}"  # {remark}', key)


@pytest.mark.parametrize(
    "text",
    [
        "password: str", "password: string;", "const password = req.body.password", "password = get_password()", "password=$DB_PASSWORD",
        "password: ${PASSWORD}", "token: process.env.GITHUB_TOKEN", 'token = os.environ["TOKEN"]', "Authorization: Bearer <your-token>",
        "Authorization: Bearer $TOKEN", 'api_key="your-api-key-here"', "password is required", "the password is wrong", "the password is case-sensitive",
        "password must be 8 characters", "password: xxxx", "password: ********", 'password: "Enter your password"', '{"input_tokens": 12345, "token": "abc"}',
        "secret_key = settings.SECRET_KEY", "commit 3f2a9c1b4d5e6f708192a3b4c5d6e7f801234567", "uuid 550e8400-e29b-41d4-a716-446655440000",
        "sessionToken: 550e8400-e29b-41d4-a716-446655440000", "/home/ana/projects/token-service/src/auth2/handler.ts", "hashes use sha256 and bcrypt12",
        "postgres://user:password@localhost/db", "postgres://${USER}:${PASS}@host/db", "https://host:8080/path@2x.png", "type Token = { kind: string }",
        "token === TokenKind.Identifier", "password: z.string().min(8)", "const token = await getToken(user2)", "the token is invalid",
        "resetPasswordToken: crypto.randomBytes(32)", '<input type="password" name="pwd" />', "密码是必填的", "密码不能为空", "pwd=/a/b/c", "echo $PWD",
        "max_tokens=4096", '"tokenizer": "cl100k_base"', "secret: {{ .Values.secret }}", "password_hash = hash_password(password)",
        "test_password_reset_v2 passed", "kubectl get secret my-secret-2 -n prod", 'credentials: "same-origin"', "apiKey: config.apiKey2",
        'password: "password"', "password is stored in config.py", 'accessKey: "accessKeyId"', "token: `${prefix}-${id}`", "password: Optional[str] = None",
        "PASSWORD_MIN_LENGTH=12", "if (password.length < 8)", '"password": true', "--password-file /run/secrets/pw1", "--token-budget 4000",
        "AKIA" + "IOSFODNN7EXAMPLE", "export GITHUB_TOKEN=gh" + "p_" + "x" * 36,
    ],
)  # fmt: skip
def test_words_code_paths_and_placeholders_stay_readable(redactor: Redactor, text: str) -> None:
    assert_readable(redactor, text)


def test_random_letters_inside_an_encrypted_blob_are_no_key(redactor: Redactor) -> None:
    assert_readable(redactor, noise(40) + "-r8" + "_" + noise(40) + "-h" + "f_" + noise(40))


def test_a_number_in_json_becomes_a_number(redactor: Redactor) -> None:
    raw = b'{"password": 90817263, "port": 5433}\n'
    masked = redactor.mask(raw).data
    assert b"90817263" not in masked
    assert json.loads(masked)["port"] == 5433
    assert isinstance(json.loads(masked)["password"], int)


def test_only_the_secret_changes(redactor: Redactor) -> None:
    key = vendor_keys()["stripe"]
    raw = record(f"先 set KEY={key} 再 run")
    assert redactor.mask(raw).data == raw.replace(key.encode(), b"*" * len(key))


def test_a_number_of_secrets_is_counted_and_the_version_named(redactor: Redactor) -> None:
    keys = vendor_keys()
    masked = redactor.mask(record(f"{keys['github']} and {keys['slack']}") + record("nothing") + record(keys["npm"]))
    assert masked.count == 3
    assert masked.version == redactor.version
    assert redactor.version


def test_bytes_that_are_no_text_do_not_shift_the_mask(redactor: Redactor) -> None:
    key = vendor_keys()["github"].encode()
    for junk in (b"\xff\xfe", b"\x00\x00a\x00", b"\xef\xbb\xbf", b"\xc3"):
        raw = junk + b'{"k": "' + key + b'"}\n'
        assert redactor.mask(raw).data == raw.replace(key, b"*" * len(key))


def test_lines_masked_apart_are_the_lines_masked_together(redactor: Redactor) -> None:
    lines = [record(f"the password is {PASSWORDS[0]}"), b"\n", record(private_key()), record(json_web_token()), b'{"torn": "-----BEGIN RSA PRIVATE KEY-----\n']
    assert redactor.mask(b"".join(lines)).data == b"".join(redactor.mask(line).data for line in lines)


def test_without_the_scanner_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    redactor = open_redactor(None)
    for _ in range(2):
        with pytest.raises(Refused, match="cannot be loaded, so nothing is read"):
            redactor.mask(b"nothing secret")


def test_a_redactor_without_an_installed_scanner_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("pipelines.logs.redaction.version", missing)
    with pytest.raises(Refused, match="not installed"):
        open_redactor(None)


def test_rules_are_loaded_once_and_only_when_bytes_are_masked() -> None:
    class Blind:
        def scan(self, line: bytes) -> list[object]:
            return []

    loads: list[Blind] = []

    def load() -> Blind:
        loads.append(Blind())
        return loads[-1]

    redactor = Redactor(load, "1")  # type: ignore[arg-type]
    assert not loads
    assert redactor.mask(b"a\nb\n").data == redactor.mask(b"a\nb\n").data == b"a\nb\n"
    assert len(loads) == 1
