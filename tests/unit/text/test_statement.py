from __future__ import annotations

import pytest

from pipelines.model import Relation
from pipelines.notes.relate import relate
from pipelines.text.statement import Form, Person, canonical_words, parse


def slot(text: str) -> tuple[str, str, str | None]:
    read = parse(text)
    return read.subject, read.attribute, read.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The billing API listens on port 7001.", ("billing API", "port", "7001")),
        ("billing API's port is 7001", ("billing API", "port", "7001")),
        ("The port of the billing API is 7001", ("billing API", "port", "7001")),
        ("Session TTL: 90s", ("Session", "ttl", "90s")),
        ("The max attachment size is 10 MB.", ("attachment", "max size", "10 MB")),
        ("The default timeout is 30 s", ("", "default timeout", "30 s")),
        ("retention-days is 90", ("retention-days", "value", "90")),
        ("app.max_retries = 5", ("app.max_retries", "value", "5")),
        ("I live in Oslo.", ("user", "home", "Oslo")),
        ("Just moved to Oslo last month", ("user", "home", "Oslo")),
        ("I work at Hofer", ("user", "employer", "Hofer")),
        ("I was born on 9 June.", ("user", "birthday", "9 June")),
        ("My editor is Helix", ("user", "editor", "Helix")),
        ("My favourite color is teal", ("user", "favorite color", "teal")),
        ("I'm allergic to walnuts", ("user", "allergy", "walnuts")),
        ("Standups happen every Monday.", ("Standups", "schedule", "Monday")),
        ("We release on Mondays.", ("release", "schedule", "Monday")),
        ("Always deploy on Mondays", ("deploy", "schedule", "Monday")),
        ("Only release on Mondays.", ("release", "schedule", "Monday")),
        ("The engine is Node 22 now, we upgraded.", ("engine", "is", "Node 22")),
        ("The engine is Node 22, we just upgraded from 20.", ("engine", "is", "Node 22")),
        ("我们只用 bun", ("", "use", "bun")),
        ("The launch is scheduled for 3 May.", ("launch", "date", "3 May")),
        ("Dark launch is enabled", ("Dark launch", "state", "on")),
        ("The tower is west of the mill", ("tower", "position from mill", "west")),
        ("Fixtures live in the spec/data/ directory.", ("Fixtures", "location", "spec/data/ directory")),
        ("Use biome for linting.", ("linting", "tool", "biome")),
        ("CI runs on Buildkite.", ("CI", "platform", "Buildkite")),
        ("The API runs in eu-west-1.", ("API", "region", "eu-west-1")),
        ("The API is hosted in the us-gov-east-1 region.", ("API", "region", "us-gov-east-1")),
        ("The API does not run in northeurope", ("API", "region", "northeurope")),
        ("Production runs in asia-northeast1, not us-central1.", ("", "region", "asia-northeast1")),
        ("The staging database listens on port 6001.", ("database", "port", "6001")),
        ("Database on staging listens on port 6001", ("Database", "port", "6001")),
        ("The gateway is now on 7001", ("gateway", "port", "7001")),
        ("Gateway runs on 7001", ("Gateway", "port", "7001")),
        ("DB port 6001", ("DB", "port", "6001")),
        ("Staging DB port 6001", ("DB", "port", "6001")),
        ("Port 6001", ("", "port", "6001")),
        ("Backups at 04:30 UTC", ("Backups", "time", "04:30 UTC")),
        ("The nightly export runs at 4am now.", ("nightly export", "time", "4am")),
        ("The backups were moved to 05:00 UTC.", ("backups", "time", "05:00 UTC")),
        ("Uses yarn", ("", "use", "yarn")),
        ("We also use Redis.", ("", "use", "Redis")),
        ("Deploy: make ship", ("deploy", "command", "make ship")),
        ("We deploy with `make ship` now.", ("deploy", "command", "make ship")),
        ("Run tests: `npm test`", ("tests", "command", "npm test")),
        ("To run the tests, use pnpm test", ("tests", "command", "pnpm test")),
        ("Build: `npm run bundle` for the big release", ("build", "command", "npm run bundle")),
        ("The deploy command is ./ship.sh", ("deploy", "command", "./ship.sh")),
        ("We deploy the docs with make docs.", ("deploy docs", "command", "make docs")),
        ("我们把端口改成了80", ("", "port", "80")),
        ("我们把网关的端口改成了80", ("网关", "port", "80")),
        ("Rosa owns the ingest service.", ("ingest service", "owner", "Rosa")),
        ("The ingest service is owned by Rosa", ("ingest service", "owner", "Rosa")),
        ("The schema flag defaults to off.", ("schema flag", "default", "off")),
        ("网关的端口号为 7001", ("网关", "port", "7001")),
        ("网关端口是7001。", ("网关", "port", "7001")),
        ("我住在大连", ("user", "home", "大连")),
        ("我在西门子上班", ("user", "employer", "西门子")),
        ("我对核桃过敏。", ("user", "allergy", "核桃")),
        ("小周负责搜索模块", ("搜索模块", "owner", "小周")),
        ("日志用英文写", ("日志", "written in", "英文")),
        ("塔在磨坊的西边", ("塔", "position from 磨坊", "西")),
        ("会话超时时间改为 30 秒", ("会话", "timeout", "30 秒")),
    ],
)
def test_a_plain_statement_fills_its_slot(text: str, expected: tuple[str, str, str]) -> None:
    assert slot(text) == expected


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("We moved the gateway from port 7001 to 7002.", "7001", "7002"),
        ("From now on use bun in this repo instead of yarn.", "yarn", "bun"),
        ("use bun not yarn", "yarn", "bun"),
        ("no, the port is 7002, not 7001", "7001", "7002"),
        ("The port isn't 7001, it's 7002", "7001", "7002"),
        ("setup.cfg was renamed to setup.toml.", "setup.cfg", "setup.toml"),
        ("We renamed the package from acme to acme-core", "acme", "acme-core"),
        ("Drop Celery, we're going with Dramatiq.", "Celery", "Dramatiq"),
        ("Celery was replaced by Dramatiq", "Celery", "Dramatiq"),
        ("I used to live in Oslo but now I live in Bergen", "Oslo", "Bergen"),
        ("网关端口从 7001 改成 7002 了。", "7001", "7002"),
        ("把 setup.cfg 改名为 setup.toml。", "setup.cfg", "setup.toml"),
        ("不对，端口是7002，不是7001。", "7001", "7002"),
        ("不是周三而是周四", "周三", "周四"),
        ("以后都用 bun，不要再用 yarn 了。", "yarn", "bun"),
        ("Celery 不用了，换成 Dramatiq。", "Celery", "Dramatiq"),
        ("ポートは7001ではなく7002です。", "7001", "7002"),
    ],
)
def test_a_change_names_the_value_that_is_over(text: str, old: str, new: str) -> None:
    read = parse(text)
    assert (read.old_value, read.value, read.update) == (old, new, True)


@pytest.mark.parametrize(
    "text", ["I moved the file to the attic folder.", "我把文件搬到备份目录了。", "Rename is hard.", "How is the port set?", "", "。", "   ", "=", "is", "的"]
)
def test_what_fits_no_slot_names_no_change(text: str) -> None:
    read = parse(text)
    assert read.old_value is None
    assert read.attribute not in {"home", "name"}


@pytest.mark.parametrize(
    ("text", "qualifier"),
    [
        ("The staging port is 7001", "staging"),
        ("Debug mode is enabled in prod", "production"),
        ("测试环境端口是7001", "testing"),
        ("We use yarn in the front-end repo", "frontend"),
        ("The port is 7001", ""),
        ("The product is called Web", ""),
    ],
)
def test_a_scope_word_is_a_qualifier_and_no_part_of_the_subject(text: str, qualifier: str) -> None:
    assert parse(text).qualifier == qualifier


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I prefer light themes.", Person.SPEAKER),
        ("As I told Nora, I want spaces.", Person.SPEAKER),
        ("My wife and I are moving to Bergen", Person.SPEAKER),
        ("Got allergic to dust at some point.", Person.SPEAKER),
        ("我喜欢浅色主题", Person.SPEAKER),
        ("Nora prefers light themes.", Person.OTHER),
        ("my colleague Nora likes emacs", Person.OTHER),
        ("My colleague's dog is called Bobo", Person.OTHER),
        ("Lisa's dog is called Rex", Person.OTHER),
        ("Nora told me she is moving to Bergen.", Person.OTHER),
        ("The client wants monthly reports.", Person.OTHER),
        ("我女儿对核桃过敏。", Person.OTHER),
        ("小周说他明天休假。", Person.OTHER),
        ("He lives in Bergen now.", Person.UNRESOLVED),
        ("Our staging URL is https://staging.example.dev", Person.GROUP),
        ("The API listens on port 7001.", Person.THING),
        ("Tests live in spec/", Person.THING),
        ("Postgres runs on db7.", Person.THING),
    ],
)
def test_whose_fact_it_is(text: str, person: Person) -> None:
    assert parse(text).person is person


def test_the_speaker_can_have_a_name() -> None:
    assert parse("I live in Oslo.", speaker="Nora").subject == "Nora"
    assert parse("My wife works at Hofer", speaker="Nora").subject == "Nora's wife"
    assert parse("The port is 7001", speaker="Nora").subject == ""


def test_an_order_is_known_by_its_canonical_words_and_its_polarity() -> None:
    always, never = parse("Always rebase branches before merging."), parse("Never rebase branches before merging.")
    assert always.form is never.form is Form.RULE
    assert always.attribute == never.attribute
    assert (always.negated, never.negated) == (False, True)


def test_a_denial_of_one_half_is_no_polarity_of_the_whole() -> None:
    assert not parse("Keep going and never give up!").negated


def test_no_longer_denies_the_plain_statement() -> None:
    read = parse("We no longer use Celery")
    assert (read.attribute, read.value, read.negated, read.update) == ("use", "Celery", True, True)


def test_a_reason_is_kept_apart_from_the_value() -> None:
    read = parse("We moved the queue from Redis to Kafka because it lost messages")
    assert (read.value, read.reason) == ("Kafka", "it lost messages")
    assert parse("数据库从 MySQL 换成 Postgres 了，因为需要 JSON").reason == "需要 JSON"


def test_also_is_a_cue_that_both_hold() -> None:
    assert parse("I also like cocoa").also
    assert parse("我也喜欢可可").also
    assert not parse("我还是喜欢可可").also


def test_words_that_mean_the_same_have_one_spelling_and_prepositions_stay() -> None:
    assert canonical_words("Please keep your replies brief.") == canonical_words("Keep answers short")
    assert canonical_words("run tests before commits") != canonical_words("run tests after commits")


def test_identifiers_keep_their_shape() -> None:
    assert len({canonical_words(name) for name in ("C", "C++", "C#")}) == 3
    assert canonical_words("getUsers") == ("getusers",)
    assert canonical_words("`max_retries`") == ("max_retries",)


def test_full_width_and_decorated_text_reads_the_same() -> None:
    assert slot("网关端口是７００１。") == ("网关", "port", "7001")
    assert slot("- The **port** of the gateway is `7001`.") == ("gateway", "port", "7001")


def test_what_a_slot_does_not_account_for_is_kept() -> None:
    assert parse("The port is 7001 for the admin console").extra
    assert not parse("The port is 7001").extra


def test_a_long_text_is_prose_whatever_it_begins_with() -> None:
    assert parse("The port of the gateway is 7001").form is Form.SLOT
    assert parse("The port of the gateway is 7001 " + "and so on " * 80).form is Form.FREE
    assert parse("moved from a to " * 2_000).value is None


@pytest.mark.parametrize(
    "text", ["Exit code 1", "Step limit 3", "Using port 7001", "Changed port 7001", "Meeting at 10:00", "Build Tool: Ray CLI", "Start: now", "We met at 10:00"]
)
def test_labels_of_the_moment_are_no_slot_of_port_time_or_command(text: str) -> None:
    assert parse(text).attribute not in {"port", "time", "command", "version", "limit"}


@pytest.mark.parametrize(
    ("text", "qualifier"),
    [
        ("The staging database listens on port 6001.", "staging"),
        ("The site is harbor.dev.", ""),
        ("The URL is https://harbor.dev/api.", ""),
        ("Runs on dev.", "development"),
        ("The dev server runs on port 3000.", "development"),
    ],
)
def test_a_scope_word_inside_a_host_name_binds_nothing(text: str, qualifier: str) -> None:
    assert parse(text).qualifier == qualifier


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("The limit was too high.", False),
        ("It is port 70 now, because the old one was too slow.", False),
        ("The server takes too long", False),
        ("We use Redis too.", True),
        ("We use Redis too, for queues.", True),
        ("We also use Redis.", True),
        ("Also, I moved to Cork.", False),
        ("另外，我搬到青岛了。", False),
        ("我也用Redis。", True),
        ("我们还没用Redis。", False),
    ],
)
def test_too_adds_at_the_end_of_a_clause_and_measures_elsewhere(text: str, also: bool) -> None:
    assert parse(text).also is also


def test_a_client_that_listens_is_a_program_and_one_that_lives_a_person() -> None:
    assert parse("The client listens on port 4000.").person is Person.THING
    assert parse("My client lives in Rome.").person is Person.OTHER
    assert parse("My wife's phone version is 3").person is Person.OTHER


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("The port is now 7001, since macOS grabs the other", "7001", "macOS grabs the other"),
        ("We use Redis, since last week.", "Redis", None),
        ("We use Redis since we need queues", "Redis", "we need queues"),
        ("Since macOS grabs it, the API is on port 7001.", "7001", "macOS grabs it"),
        ("因为备份太慢，我们用TiDB", "TiDB", "备份太慢"),
        ("As a rule, use tabs", "tabs", None),
        ("The port is 7001, since 2019.", "7001", None),
    ],
)
def test_since_gives_a_reason_where_it_names_no_time(text: str, value: str, reason: str | None) -> None:
    read = parse(text)
    assert (read.value, read.reason) == (value, reason)


def test_prose_beyond_the_length_of_a_sentence_is_no_statement_and_meets_no_pattern() -> None:
    read = parse("The port is 5433 " + "- " * 4000 + "because of the proxy")
    assert (read.form, read.value, read.reason) == (Form.FREE, None, None)


@pytest.mark.parametrize(
    ("denied", "plain"),
    [
        ("不要使用 npm", "使用 npm"),
        ("请勿使用 npm。", "请使用 npm。"),
        ("永远不要用 npm", "用 npm"),
        ("禁止使用 npm", "使用 npm"),
        ("我们不用 npm", "我们用 npm"),
        ("前端别用 npm", "前端用 npm"),
        ("我们不建议用 npm", "我们用 npm"),
    ],
)
def test_what_a_chinese_sentence_forbids_is_the_plain_one_denied_and_has_no_subject_of_its_own(denied: str, plain: str) -> None:
    no, yes = parse(denied), parse(plain)
    assert (no.subject, no.attribute, no.value, no.qualifier) == (yes.subject, "use", "npm", yes.qualifier)
    assert (no.negated, yes.negated) == (True, False)
    assert no.extra == yes.extra == frozenset()
    assert relate(yes, no).relation is Relation.CONTRADICTION


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("前后端分别使用 React 和 Django", "React 和 Django"),
        ("服务特别使用 Redis", "Redis"),
        ("日志级别用 DEBUG", "DEBUG"),
        ("性别用 int 表示", "int 表示"),
        ("我们不得不用 Oracle", "Oracle"),
        ("我们不能不用 Oracle", "Oracle"),
        ("服务不可避免使用 Redis", "Redis"),
        ("难以避免使用全局变量", "全局变量"),
    ],
)
def test_what_only_looks_like_a_ban_in_chinese_says_that_the_thing_is_used(text: str, value: str) -> None:
    read = parse(text)
    assert (read.attribute, read.value, read.negated) == ("use", value, False)


@pytest.mark.parametrize("text", ["从不用 npm", "我们从来不用 npm", "前端从不使用 npm", "永不用 npm"])
def test_what_is_never_used_is_denied_and_never_is_no_subject(text: str) -> None:
    read = parse(text)
    assert (read.subject, read.attribute, read.value, read.negated) == ("", "use", "npm", True)


@pytest.mark.parametrize("text", ["不要只用 npm", "部署不要只用脚本", "Never deploy on Fridays"])
def test_a_ban_on_only_and_on_a_day_gives_nothing_a_value(text: str) -> None:
    read = parse(text)
    assert (read.form, read.subject, read.negated) == (Form.RULE, "", True)
