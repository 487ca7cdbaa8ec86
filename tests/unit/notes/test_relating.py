from __future__ import annotations

from dataclasses import replace

import pytest

from pipelines.model import Relation
from pipelines.notes.relate import forbids_merge, relate, value_key
from pipelines.text.statement import parse

SAME, UPDATE, CONTRADICTION, OTHER = Relation.SAME, Relation.UPDATE, Relation.CONTRADICTION, Relation.OTHER


def between(older: str, newer: str) -> Relation:
    return relate(parse(older), parse(newer)).relation


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gateway listens on port 7001.", "Gateway's port is 7001"),
        ("The user prefers spaces over tabs.", "I like spaces better than tabs."),
        ("Standups happen every Monday.", "Standups are on Mondays"),
        ("I live in Oslo.", "I'm based in Oslo."),
        ("Keep replies short.", "Please keep your answers brief."),
        ("My birthday is 9 June.", "I was born on June 9th."),
        ("The attachment limit is 25MB", "The attachment limit is 25 MB."),
        ("My editor is Helix.", "My editor is helix"),
        ("网关端口是7001。", "网关的端口号为 7001"),
        ("The database port is 7001.", "数据库端口是 7001。"),
        ("站会时间是九点半。", "站会时间是 9:30"),
    ],
)
def test_two_spellings_of_one_fact_are_the_same(older: str, newer: str) -> None:
    assert between(older, newer) is SAME
    assert between(newer, older) is SAME


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gateway listens on port 7001.", "We moved the gateway from port 7001 to 7002."),
        ("We use yarn in this repo.", "From now on use bun in this repo instead of yarn."),
        ("Standups happen every Monday.", "Going forward standups are on Tuesdays."),
        ("CI runs on Buildkite.", "We migrated CI from Buildkite to Woodpecker."),
        ("The settings file is setup.cfg.", "setup.cfg was renamed to setup.toml."),
        ("The launch date is May 3.", "The launch date slipped to May 17."),
        ("I work at Hofer.", "I joined Spar."),
        ("网关端口是7001。", "不对，端口是7002，不是7001。"),
        ("项目使用 yarn。", "以后都用 bun，不要再用 yarn 了。"),
        ("我在西门子工作。", "我跳槽去博世了。"),
        ("The gateway runs on port 7001.", "Gateway 端口从 7001 改成 7002 了。"),
        ("We use Celery", "We no longer use Celery"),
    ],
)
def test_a_stated_change_is_an_update(older: str, newer: str) -> None:
    assert between(older, newer) is UPDATE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gateway listens on port 7001.", "The gateway listens on port 7002."),
        ("Always rebase branches before merging.", "Never rebase branches."),
        ("The launch is planned for May 3.", "The launch is planned for May 17."),
        ("Dark launch is enabled in production.", "Dark launch is disabled in production."),
        ("The session TTL is 60 seconds.", "Session TTL: 300s"),
        ("My bike is a green Trek.", "My bike is a black Trek."),
        ("小周负责搜索模块。", "小吴负责搜索模块。"),
        ("日志用中文写。", "日志用英文写。"),
        ("I prefer spaces over tabs", "I prefer tabs over spaces"),
        ("合并前必须跑测试。", "合并前不需要跑测试。"),
    ],
)
def test_two_values_that_cannot_both_hold_contradict(older: str, newer: str) -> None:
    assert between(older, newer) is CONTRADICTION


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging port is 7001.", "The production port is 7002."),
        ("The port is 7001", "The staging port is 7002"),
        ("I like tea.", "I also like cocoa."),
        ("I like tea.", "I like cocoa."),
        ("My daughter is allergic to walnuts.", "I'm allergic to walnuts."),
        ("Nora lives in Oslo", "Tom lives in Bergen"),
        ("He lives in Oslo", "He lives in Bergen"),
        ("I moved to Oslo last month.", "I moved the file to the attic folder."),
        ("The max attachment size is 25 MB.", "The request timeout is 25 seconds."),
        ("The billing port is 7001", "We moved the search service from port 7001 to 7002"),
        ("The port is 7001 for the admin console", "The port is 7001"),
        ("The database is Postgres", "The database is Postgres 15"),
        ("Run the linter before commits", "Run the linter after commits"),
        ("Run tests before you push", "Run tests before you deploy"),
        ("merging is not needed", "Never merge"),
        ("The compiler is for C", "The compiler is for C++"),
        ("We use C# here", "We use C here"),
        ("我叔叔在大连上班", "我叔叔的单位叫大连机床厂"),
        ("我妻子在博世工作。", "我在西门子工作。"),
        ("陈伟喜欢茶", "陈炜喜欢茶"),
        ("王芳是我的同事，她学历是硕士。", "王芳是我的同事，她性格内向。"),
        ("Keep it up!", "Keep going and don't give up!"),
        ("", ""),
    ],
)
def test_what_the_rules_cannot_tell_is_left_alone(older: str, newer: str) -> None:
    assert between(older, newer) is OTHER
    assert between(newer, older) is OTHER


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Deploy with 3 workers", "Deploy with 4 workers", "values_differ"),
        ("Use node 18.1.0", "Use node 18.10.0", "values_differ"),
        ("Never push to main", "Always push to main", "negation_differs"),
        ("The staging cache is warm", "The production cache is warm", "scope_differs"),
        ("Nora reviews the releases", "Tom reviews the releases", "names_differ"),
        ("小周来审核发布", "小吴来审核发布", "names_differ"),
        ("My wife drinks tea", "I drink tea", "person_differs"),
        ("We write C++", "We write C#", "values_differ"),
        ("Run make_all before lunch", "Run make_some before lunch", "values_differ"),
    ],
)
def test_what_forbids_a_merge_is_named(a: str, b: str, why: str) -> None:
    assert forbids_merge(parse(a), parse(b)) == why
    assert forbids_merge(parse(b), parse(a)) == why


def test_values_are_compared_by_what_they_are() -> None:
    assert value_key("25MB") == value_key("25 MB")
    assert value_key("tests/ directory") == value_key("tests/")
    assert value_key("Vue3") == value_key("Vue 3")
    assert len({value_key(v) for v in ("C", "C++", "C#", "A", "B", "3.1", "3.10")}) == 7


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("Uses yarn", "we use pnpm now", Relation.UPDATE),
        ("Package manager: yarn", "We use pnpm now.", Relation.UPDATE),
        ("Uses Postgres 15", "We use Postgres 16 now.", Relation.UPDATE),
        ("Uses yarn", "we use pnpm", Relation.OTHER),
        ("Uses yarn", "we also use pnpm now", Relation.OTHER),
        ("Uses yarn", "we use Redis now", Relation.OTHER),
        ("Uses yarn", "the docs site uses pnpm now", Relation.OTHER),
        ("Deploy: make deploy", "We deploy with `make ship` now.", Relation.UPDATE),
        ("Deploy: make deploy", "we deploy with make ship", Relation.OTHER),
        ("Deploy: make deploy", "We deploy the docs with make docs now.", Relation.OTHER),
        ("DB port 6001", "The database listens on port 6002 now.", Relation.UPDATE),
        ("DB port 6001", "the DB port is 6001", Relation.SAME),
        ("Port: 6001", "The API listens on port 6002 now", Relation.OTHER),
        ("Staging database port 6001", "The staging database listens on port 6002.", Relation.CONTRADICTION),
        ("Staging database port 6001", "The production database listens on port 6002.", Relation.OTHER),
        ("Backups at 02:00 UTC", "Backups run at 03:00 UTC now.", Relation.UPDATE),
        ("Backups at 02:00 UTC", "The backups run at 02:00 UTC.", Relation.SAME),
        ("Gateway runs on 7001", "The gateway listens on port 7002 now.", Relation.UPDATE),
    ],
)
def test_short_lines_of_memory_notes_relate_to_what_people_say(older: str, newer: str, relation: Relation) -> None:
    assert relate(parse(older), parse(newer)).relation is relation


def test_an_old_value_is_known_without_its_zone_and_unit_but_not_as_another_value() -> None:
    moved = parse("The nightly export moved from 04:00 to 05:30 UTC.")
    assert relate(parse("The nightly export runs at 04:00 UTC."), moved).relation is Relation.UPDATE
    assert relate(parse("The nightly export runs at 04:10 UTC."), moved).why != "names_old_value"


def test_what_was_left_ends_where_the_person_lived_and_not_where_they_grew_up() -> None:
    left = parse("I live in Graz now instead of Leeds")
    left = replace(left, attribute="use", value="Graz", old_value="Leeds")
    assert relate(parse("I live in Leeds"), left).relation is UPDATE
    assert relate(replace(parse("I live in Leeds"), attribute="hometown"), left).relation is not UPDATE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Releases are cut on Fridays.", "Releases are cut on Tuesdays now, not on Fridays."),
        ("Weapon icons are stored as PNG in `src/icons`.", "Weapon icons are WebP now, not PNG."),
        ("Weapon icons are PNG files.", "Weapon icons are WebP, not PNG, now."),
        ("The deploy script is written in Bash.", "The deploy script is Python now, not Bash."),
        ("The API is hosted on Heroku.", "The API is on Fly now, not on Heroku."),
        ("图标是 PNG 格式。", "图标现在是 WebP，不是 PNG。"),
    ],
)
def test_a_denied_value_is_known_behind_what_leads_to_it_and_before_where_it_is(older: str, newer: str) -> None:
    assert relate(parse(older), parse(newer)).relation is Relation.UPDATE


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Weapon icons are stored as PNG in `src/icons`.", "Armor icons are WebP now, not PNG."),
        ("Weapon icons are stored as PNG in `src/icons`.", "Icons are WebP now, not PNG."),
        ("Weapon icons are converted from PNG by the build.", "Weapon icons are WebP now, not PNG."),
        ("Weapon icons are stored as PNGs8 in `src/icons`.", "Weapon icons are WebP now, not PNG."),
        ("Weapon icons are not PNG.", "Weapon icons are WebP now, not PNG."),
        ("Weapon icons are reviewed by Bob on Fridays.", "Weapon icons are WebP now, not PNG."),
    ],
)
def test_a_denied_value_is_not_taken_for_what_only_holds_its_letters_or_is_said_of_another_thing(older: str, newer: str) -> None:
    assert relate(parse(older), parse(newer)).relation is Relation.OTHER


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("Always write commit messages in English.", "Always write commit messages in Chinese.", CONTRADICTION),
        ("Answer me in English.", "From now on respond in French.", UPDATE),
        ("Commit messages must be in English.", "Write commit messages in Chinese.", CONTRADICTION),
        ("All comments should be in English", "Comments should be in English", SAME),
        ("Write the docs in English", "Write commit messages in Chinese", OTHER),
        ("Write tests in Python", "Write tests in Go", OTHER),
    ],
)
def test_one_thing_is_written_in_one_language(one: str, other: str, relation: Relation) -> None:
    assert between(one, other) is relation
