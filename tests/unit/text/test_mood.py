import pytest

from pipelines.text.mood import Mood, asks_to_remember, clauses, completion, mood_at, mood_of, negated, standing_mark

MOODS = [
    (
        Mood.PLAIN,
        [
            "The port is 5433.",
            "no, the port is 5433, not 5432",
            "I prefer dark mode.",
            "When I visited Japan in 2019 I loved Kyoto.",
            "Work starts at 9",
            "Test coverage is 80%",
            "I took it near a place called Whispering Falls",
            "The branch falls behind main every week",
        ],
    ),
    (
        Mood.PLAIN,
        [
            "Commit messages follow Conventional Commits",
            "我们把API从8080改成9090了",
            "我特别喜欢茶",
            "这个说明很好",
            "端口是5432。",
            "I told you the port is 80",
            "Note that the API is slow",
        ],
    ),
    (Mood.PLAIN, ["Always is a brand", "what I like is tea", "我每天喝两杯咖啡", "Tests must run before merging.", "Plan: ship v2"]),
    (Mood.QUESTION, ["為什麼這樣", "這是你的嗎"]),
    (
        Mood.PLAIN,
        ["I live in Turin, if the time zone matters.", "The port is 80, in case you wonder.", "My birthday falls on 5 May.", "Rent falls under costs"],
    ),
    (Mood.PLAIN, ["主要是因为离家近", "重要是速度", "我们把A换成了B，因为没人会调优。"]),
    (Mood.CONDITION, ["要是下雨就改天"]),
    (Mood.REQUEST, ["把端口改成80，因为冲突了", "我们把端口换到80"]),
    (
        Mood.CONDITION,
        [
            "I live in Turin, if the deal goes through.",
            "The port is 80, if it is Monday",
            "falls es regnet",
            "wir bleiben, falls es regnet",
            "Nimm Port 8080 falls 5432 belegt ist",
            "Wir nutzen Redis falls nötig.",
            "Wir deployen nur falls die Tests grün sind",
            "und falls es regnet",
        ],
    ),
    (Mood.PLAIN, ["顺便说一句，顺便说一下，我对牛奶过敏。", "说起来，顺便说一下，我家在成都。", "方便说一下，我在成都。", "那么简单说，端口是80"]),
    (Mood.REPORTED, ["小王顺便说一句，他对牛奶过敏。", "王芳说端口是80"]),
    (
        Mood.REQUEST,
        [
            "能不能用要点的形式回答？",
            "可不可以分点列出来？",
            "可以用英文回答吗？",
            "你能以表格列出吗？",
            "Can I get that as a table please?",
            "Could I have the list in short form?",
        ],
    ),
    (Mood.QUESTION, ["能不能用列表推导式实现？", "Can I use that as a table?", "Can bullet points be nested?", "可以用这个接口吗？"]),
    (Mood.REPORTED, ["聽說他搬家了", "我同事说端口是80", "他说端口是80"]),
    (Mood.PLAIN, ["我表哥在杭州上班呢。", "你说得对", "我们可以说三种语言", "我虽然没去过，但我听说过这两个地方", "不用谢，端口是80"]),
    (Mood.QUESTION, ["请问端口是几"]),
    (Mood.QUESTION, ["Is it 5432?", "what is the port", "端口是80吗", "它在哪里", "the port is 80, right?", "Ist das so？"]),
    (Mood.CONDITION, ["If tests fail, we stop.", "We deploy unless it rains", "如果端口是80就停", "Once the tests pass, we merge."]),
    (Mood.WISH, ["I wish we used pnpm", "Hopefully it is red", "希望能早点上线", "it would be nice to have a cat"]),
    (Mood.JOKE, ["just kidding, I hate tea", "I am a teapot lol", "我是外星人哈哈", "my dog runs the company 😂"]),
    (
        Mood.REQUEST,
        [
            "Please move A to B",
            "can you always reply in German?",
            "Use black for formatting.",
            "Never run migrations from a laptop.",
            "别用npm",
            "把A移到B",
            "Check the logs",
            "请用中文",
        ],
    ),
    (Mood.HEDGED, ["Maybe we use Redis", "I think it is 80", "可能是80", "it might be red"]),
    (Mood.REPORTED, ["Ben said the port is 80", "According to Tom, he likes tea", "听说他搬家了", "小王说他下周休假。"]),
    (Mood.HYPOTHETICAL, ["Suppose the port is 80", "let's say the port is 80", "假设端口是80", "If I were rich, I would move"]),
]


@pytest.mark.parametrize(("mood", "sentence"), [(mood, s) for mood, some in MOODS for s in some])
def test_a_sentence_has_its_mood(mood: Mood, sentence: str) -> None:
    assert mood_of(sentence) is mood


@pytest.mark.parametrize("sentence", ["check that it works even if red", "see if it works"])
def test_an_if_that_asks_is_no_condition(sentence: str) -> None:
    assert mood_of(sentence) is not Mood.CONDITION


def test_a_quote_takes_the_mood_of_its_sentence() -> None:
    text = "I know this. Do you think the port is 5433?"
    start = text.index("the port")
    assert mood_at(text, start, len(text) - 1) is Mood.QUESTION
    assert mood_at(text, 0, 5) is Mood.PLAIN


def test_taking_it_back_in_the_next_sentence_makes_it_a_joke() -> None:
    text = "I only drink sea water. Just kidding! I like tea."
    assert mood_at(text, 0, 10) is Mood.JOKE
    assert mood_at(text, text.index("I like"), len(text)) is Mood.PLAIN


@pytest.mark.parametrize(
    "sentence",
    [
        "We don't use npm",
        "never push",
        "use pnpm instead of npm",
        "no longer needed",
        "avoid tabs",
        "我不再喝咖啡了。",
        "别用旧端口",
        "没有端口",
        "我不知道端口",
        "我沒有貓",
        "別用舊的",
        "永远不要推送",
        "禁止推送",
        "Ich trinke keinen Alkohol.",
        "ポートはありません",
    ],
)
def test_denials_and_bans_are_negated(sentence: str) -> None:
    assert negated(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "no, the port is 5433",
        "no problem, it is red",
        "not only red",
        "我特别喜欢茶",
        "这是别人的电脑",
        "不错，端口是80",
        "是不是80",
        "don't forget the port is 80",
        "不对，端口是5433",
        "别忘了端口是80",
        "不用谢，端口是80",
        "没问题，端口是80",
        "never mind, it is red",
        "I'll never forget the day we shipped it",
        "另外，分别部署",
    ],
)
def test_what_only_sounds_like_a_denial_is_none(sentence: str) -> None:
    assert not negated(sentence)


def test_a_denial_begins_a_clause_of_its_own() -> None:
    def parts(text: str) -> list[str]:
        return [span.of(text) for span in clauses(text)]

    assert parts("the port is 5433, not 5432") == ["the port is 5433", "not 5432"]
    assert parts("Do not squash PRs") == ["Do not squash PRs"]
    assert parts("use pnpm instead of npm") == ["use pnpm", "instead of npm"]
    assert parts("不是东边是西边") == ["不是东边", "是西边"]
    assert parts("it costs 1,000 now") == ["it costs 1,000 now"]


@pytest.mark.parametrize(
    "sentence",
    [
        "The cave is finished",
        "tests passed",
        "all tests are green",
        "The bug was fixed yesterday",
        "所有测试都通过了",
        "修好了",
        "迁移完成。",
        "It works now",
        "deployed to production",
        "the import is working again",
        "it's working now, on staging too",
        "the login is working as expected",
        "it's working for everyone",
        "the import is working in production",
    ],
)
def test_completion_says_that_it_is_done(sentence: str) -> None:
    assert completion(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "the cave is not finished",
        "must be done by Friday",
        "it will be fixed",
        "wait until the tests passed",
        "还没完成",
        "逐个完成任务",
        "完成任务很难",
        "需要完成迁移",
        "the full test suite",
        "unless tests are green",
        "we need to get it done",
        "The port is 80",
        "the completion date",
        "Ana is working on the import",
        "the team is working towards a release",
        "he is working at a bank",
        "she is working as a nurse",
        "Ana is working for Acme",
    ],
)
def test_what_is_still_to_do_is_no_completion(sentence: str) -> None:
    assert not completion(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "always use tabs",
        "Never push",
        "From now on reply in German",
        "remember: the port is 80",
        "every time you commit",
        "以后都用 pnpm",
        "以後都用 pnpm",
        "從現在起用中文",
        "一律用中文",
        "永远不要推送",
        "每次都要跑测试",
        "每次改完都跑一遍测试",
        "please remember that I like tea",
    ],
)
def test_standing_marks_are_seen(sentence: str) -> None:
    assert standing_mark(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "use tabs here",
        "I've never been to Japan",
        "never mind",
        "do you remember the port?",
        "I don't remember",
        "部署以后再说",
        "我的上司总是很忙",
        "每次都很开心",
        "每次部署都失败",
        "每次我都跑一遍",
        "三天以后",
        "remember when we met?",
        "use tabs this time",
    ],
)
def test_what_only_sounds_standing_is_not(sentence: str) -> None:
    assert not standing_mark(sentence)


@pytest.mark.parametrize(
    ("sentence", "mood"),
    [
        ("keep nuts out of it, I'm allergic", Mood.PLAIN),
        ("put Hanna on the badge, that's my name", Mood.PLAIN),
        ("do you like nuts, I'm allergic", Mood.QUESTION),
        ("keep nuts out of it, maybe I'm allergic", Mood.HEDGED),
        ("we moved the port because ops told us to", Mood.PLAIN),
        ("ops told us to move the port", Mood.REPORTED),
        ("In case it helps, I'm called Hanna", Mood.PLAIN),
        ("If you book something: I fly SAS", Mood.PLAIN),
        ("If you book it, I fly SAS", Mood.CONDITION),
        ("we may end up on port 1313", Mood.HEDGED),
        ("the README says the port is 80", Mood.PLAIN),
        ("我叫林若溪", Mood.PLAIN),
        ("若下雨，我就不去", Mood.CONDITION),
    ],
)
def test_what_a_clause_beside_the_statement_does_to_its_mood(sentence: str, mood: Mood) -> None:
    assert mood_of(sentence) is mood


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Remember that the token expires after 30 days.", True),
        ("please remember: the deploy key lives in the vault", True),
        ("Remember this: builds take 20 minutes", True),
        ("记住，令牌 30 天过期。", True),
        ("Do you remember that the token expires?", False),
        ("I remember that we tried it", False),
        ("Remember that you are an expert", False),
        ("Remember that time we broke it", False),
        ("Remember to run the linter", False),
        ("记住了", False),
    ],
)
def test_who_asks_that_something_be_remembered_states_it(text: str, asks: bool) -> None:
    assert asks_to_remember(text) is asks
    if asks:
        assert mood_of(text) is Mood.PLAIN


def test_what_is_to_be_remembered_keeps_its_own_mood() -> None:
    assert mood_of("Remember that tests might fail on Mondays") is Mood.HEDGED
    assert mood_of("Remember that if it rains we stay in") is Mood.CONDITION


@pytest.mark.parametrize(
    "text",
    [
        "Always write reports in English.",
        "Send the reports to Ana.",
        "Our weekly reports are in Markdown.",
        "All reports go to the archive folder.",
        "Bug reports live in Linear.",
    ],
)
def test_reports_that_are_written_are_nobodys_word(text: str) -> None:
    assert mood_of(text) is not Mood.REPORTED


@pytest.mark.parametrize("text", ["Ana reports the port is 80.", "Ops reports that the host moved.", "My colleague reports the host is blue-1."])
def test_what_somebody_reports_is_their_word(text: str) -> None:
    assert mood_of(text) is Mood.REPORTED


@pytest.mark.parametrize(
    "text", ["We almost moved the API to port 8080.", "I nearly left Acme Labs.", "We all but replaced Redis.", "我差点搬到大理", "我们差点儿换了数据库"]
)
def test_what_nearly_happened_did_not(text: str) -> None:
    assert mood_of(text) is Mood.HEDGED


@pytest.mark.parametrize("text", ["We almost never deploy on Fridays.", "Nearly all tests are in tests/unit.", "The disk is almost full.", "差点分两种"])
def test_what_is_so_to_a_degree_is_so(text: str) -> None:
    assert mood_of(text) is Mood.PLAIN
