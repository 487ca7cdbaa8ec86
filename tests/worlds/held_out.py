"""The held-out wording of a world: other ways to say the same, never looked at while rules are made.

Written from how people talk, apart from `phrases` and from the engine's patterns. Run it to learn how the rules do on words they were not made on
(`--half held`); what it shows missing may only be looked for in phrasings of `phrases`. The harm it showed at its first run (another's fact, a joke, a former
value taken for the present one) was looked at once and mended, so for harm it is no longer untouched; what it shows as missed was left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.worlds.phrases import EN, ITEMS, ZH, Item, Trap, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """Other phrasings of one item, with the same blanks as in `phrases`."""

    said: Words
    named: Words = field(default_factory=dict)
    unnamed: Words = field(default_factory=dict)
    reasons: Words = field(default_factory=dict)


_WORDINGS: Mapping[str, _Wording] = {
    "allergy": _Wording(
        said={
            EN: (
                "Just so you know, I have a serious {v} allergy.",
                "Please keep {v} out of it, I'm allergic.",
                "I break out in hives from {v}, it's an allergy.",
                "I found out last year that I am allergic to {v}.",
                "Being allergic to {v} is a pain, I have been since I was a kid.",
            ),
            ZH: ("记一下哈，我对{v}过敏的。", "{v}我不行，我过敏。", "我这人对{v}过敏，一碰就起疹子。", "我{v}过敏好多年了。"),
        }
    ),
    "name": _Wording(
        said={
            EN: (
                "You can sign it with {v}, which is my name.",
                "My name's {v}, spelled the usual way.",
                "This is {v} speaking, hello.",
                "In case it helps, I'm called {v}.",
            ),
            ZH: ("我名叫{v}。", "签名写{v}吧，就是我。", "大家好，我叫{v}，请多关照。", "我姓名：{v}。"),
        }
    ),
    "dog": _Wording(
        said={
            EN: (
                "{v}, my dog, is barking at the postman.",
                "My dog {v} is asleep under the desk.",
                "We named our dog {v}.",
                "I own a dog named {v}.",
                "Our dog is named {v}.",
            ),
            ZH: ("我家狗狗叫{v}。", "我们给狗取名叫{v}。", "我的狗狗名字叫{v}，三岁了。", "家里养的狗叫{v}。"),
        }
    ),
    "birthday": _Wording(
        said={
            EN: (
                "My date of birth is {v}.",
                "I turn another year older on {v}.",
                "It's my birthday on {v}.",
                "My birthday is {v}, same as my aunt's.",
            ),
            ZH: ("我生日是{v}。", "我每年{v}过生日。", "我的出生日期是{v}。", "{v}那天是我生日。"),
        }
    ),
    "job": _Wording(
        said={
            EN: (
                "My job is being a {v}.",
                "I am a {v}.",
                "I make a living as a {v}.",
                "As a {v}, I deal with this every day.",
                "I trained as a {v} and still work as one.",
            ),
            ZH: ("我的本行是{v}。", "我是做{v}的。", "我职业是{v}。", "我当{v}好多年了。"),
        }
    ),
    "hometown": _Wording(
        said={
            EN: (
                "I was raised in {v}.",
                "{v} is my hometown.",
                "I'm from {v} originally.",
                "I spent my childhood in {v}, that's home town for me.",
            ),
            ZH: ("老家是{v}的。", "我从小在{v}长大。", "我家乡在{v}。", "{v}是我的老家。"),
        }
    ),
    "rule": _Wording(
        said={
            EN: (
                "Don't ever commit before {v} has run clean.",
                "Please always run {v} before committing anything.",
                "For all future commits: run {v} first.",
                "You must run {v} before every commit.",
            ),
            ZH: (
                "今后提交代码前请先执行 {v}。",
                "每次提交都必须先跑 {v}。",
                "提交前一定要跑 {v}，永远如此。",
                "请记住：提交之前要执行 {v}。",
            ),
        }
    ),
    "home": _Wording(
        said={
            EN: (
                "I'm based in {v}.",
                "My apartment is in {v}.",
                "We live in {v}, close to the station.",
                "I've been living in {v} since the pandemic.",
                "I currently reside in {v}.",
            ),
            ZH: ("我目前住{v}。", "我们家住{v}。", "我住{v}，离车站不远。", "我一直住在{v}。"),
        },
        named={
            EN: (
                "We used to live in {old}, but now we live in {new} because {why}.",
                "I packed up in {old} and moved over to {new} because {why}.",
                "I'm not in {old} anymore, I moved to {new} because {why}.",
                "I have moved away from {old} and now live in {new}, because {why}.",
            ),
            ZH: (
                "我原来住{old}，现在搬到{new}了，因为{why}。",
                "因为{why}，我们从{old}搬去了{new}。",
                "我已经不在{old}住了，搬来{new}了，因为{why}。",
                "我把家从{old}搬到了{new}，因为{why}。",
            ),
        },
        unnamed={
            EN: (
                "I just moved to {new}, because {why}.",
                "I'm living in {new} now because {why}.",
                "We've relocated to {new} because {why}.",
                "My new flat is in {new}, because {why}.",
            ),
            ZH: (
                "我刚搬到{new}，因为{why}。",
                "我们搬家了，现在住{new}，因为{why}。",
                "我现在在{new}住，因为{why}。",
                "我搬来{new}了，因为{why}。",
            ),
        },
        reasons={
            EN: ("the kids start school there", "the old place was too loud", "my partner found work there", "the air was bad for my lungs"),
            ZH: ("老房子太吵了", "爱人在那边找到工作了", "想离父母近一点", "空气好一些"),
        },
    ),
    "employer": _Wording(
        said={
            EN: (
                "I currently work for {v}.",
                "My company is {v}.",
                "{v} is my employer.",
                "I have a job at {v}.",
            ),
            ZH: ("我在{v}做事。", "我们公司叫{v}。", "我是{v}的员工。", "我供职于{v}。"),
        },
        named={
            EN: (
                "I resigned from {old} and I'm working for {new} now because {why}.",
                "I moved from {old} to a job at {new} because {why}.",
                "I no longer work for {old}, I work for {new}, because {why}.",
                "I switched employers, {old} is history and I'm at {new} now because {why}.",
            ),
            ZH: (
                "我从{old}辞职了，现在在{new}上班，因为{why}。",
                "我已经离开{old}加入{new}了，因为{why}。",
                "因为{why}，我从{old}去了{new}工作。",
                "我原来在{old}上班，现在去{new}了，因为{why}。",
            ),
        },
        unnamed={
            EN: (
                "I've just joined {new} because {why}.",
                "I now work at {new} because {why}.",
                "I changed jobs and I'm at {new} now because {why}.",
                "My new employer is {new}, because {why}.",
            ),
            ZH: (
                "我跳槽去{new}了，因为{why}。",
                "我刚入职{new}，因为{why}。",
                "我现在是{new}的人了，因为{why}。",
                "我换到{new}上班了，因为{why}。",
            ),
        },
        reasons={
            EN: ("the pay is better", "I can work from home there", "my old team was dissolved", "I was bored"),
            ZH: ("工资高一些", "不用加班", "原来的部门解散了", "想换个环境"),
        },
    ),
    "phone": _Wording(
        said={
            EN: (
                "I've got {a_v} for a phone.",
                "My phone's {a_v}.",
                "My current phone is {a_v}.",
                "I'm on {a_v}, phone-wise.",
            ),
            ZH: ("我拿的手机是{v}。", "我手机是{v}。", "我在用的手机是{v}。", "手机我用{v}。"),
        },
        named={
            EN: (
                "I upgraded from the {old} to {a_new} because {why}.",
                "My {old} is gone and I use {a_new} now because {why}.",
                "I changed my phone from the {old} to {a_new} because {why}.",
                "I exchanged my {old} for {a_new} because {why}.",
            ),
            ZH: (
                "我的{old}换成{new}了，因为{why}。",
                "我从{old}换到{new}了，因为{why}。",
                "{old}我不用了，手机换了{new}，因为{why}。",
                "因为{why}，我把{old}换成了{new}。",
            ),
        },
        unnamed={
            EN: (
                "I got myself {a_new} as my new phone because {why}.",
                "My new phone is {a_new}, because {why}.",
                "I use {a_new} now because {why}.",
                "I changed phones, it's {a_new} now, because {why}.",
            ),
            ZH: (
                "我新买了{new}，现在手机就是它，因为{why}。",
                "我手机换成{new}了，因为{why}。",
                "我现在的手机是{new}，因为{why}。",
                "我买了新手机{new}，因为{why}。",
            ),
        },
        reasons={
            EN: ("the speaker was broken", "the old one kept freezing", "it was on sale", "my kids wanted the old one"),
            ZH: ("旧的老死机", "听筒坏了", "内存不够", "正好打折"),
        },
    ),
    "drink": _Wording(
        said={
            EN: (
                "My drink of choice is {v}.",
                "I always drink {v} while I work.",
                "I'm mostly drinking {v}.",
                "I have {v} every morning.",
            ),
            ZH: ("我最常喝的是{v}。", "我上午都喝{v}。", "我只喝{v}。", "我习惯喝{v}。"),
        },
        named={
            EN: (
                "I've swapped {old} for {new} because {why}.",
                "I don't drink {old} anymore, it's {new} now, because {why}.",
                "I quit {old} and drink {new} now because {why}.",
                "I used to drink {old}, now I drink {new}, because {why}.",
            ),
            ZH: (
                "我戒了{old}，改喝{new}了，因为{why}。",
                "我以前爱喝{old}，现在改喝{new}，因为{why}。",
                "因为{why}，我不再喝{old}，换{new}了。",
                "我现在不喝{old}，喝{new}，因为{why}。",
            ),
        },
        unnamed={
            EN: (
                "I'm drinking {new} now because {why}.",
                "I mostly drink {new} these days because {why}.",
                "I've taken to drinking {new}, because {why}.",
                "I have changed my usual drink to {new} because {why}.",
            ),
            ZH: (
                "我最近改喝{new}了，因为{why}。",
                "我换成喝{new}了，因为{why}。",
                "我现在都喝{new}，因为{why}。",
                "我现在的习惯是喝{new}，因为{why}。",
            ),
        },
        reasons={
            EN: ("my heart was racing", "it is easier on the teeth", "I felt jittery", "my skin got better"),
            ZH: ("心跳太快", "对牙齿好", "容易紧张", "皮肤好一些"),
        },
    ),
    "airline": _Wording(
        said={
            EN: (
                "I mostly fly {v}.",
                "I always book {v}.",
                "My preferred airline is {v}.",
                "I'm a {v} flyer.",
            ),
            ZH: ("我坐飞机都坐{v}。", "我一般飞{v}。", "我常坐{v}。", "我出行首选{v}的航班。"),
        },
        named={
            EN: (
                "I switched from {old} to {new} for my flights because {why}.",
                "I'm done with {old}, I fly {new} now because {why}.",
                "I used to fly {old} but now I fly {new}, because {why}.",
                "I left {old} for {new} because {why}.",
            ),
            ZH: (
                "我以前飞{old}，现在飞{new}，因为{why}。",
                "我不飞{old}了，改飞{new}，因为{why}。",
                "坐飞机我从{old}换成{new}了，因为{why}。",
                "因为{why}，我不坐{old}了，现在坐{new}。",
            ),
        },
        unnamed={
            EN: (
                "I'm flying {new} now because {why}.",
                "I book {new} now because {why}.",
                "My preferred airline is {new} now, because {why}.",
                "I switched airlines and now fly {new} because {why}.",
            ),
            ZH: (
                "我现在飞{new}，因为{why}。",
                "我现在都坐{new}，因为{why}。",
                "我换成坐{new}了，因为{why}。",
                "我改飞{new}了，因为{why}。",
            ),
        },
        reasons={
            EN: ("the food was awful", "they raised the prices", "the hub is closer", "they never answered my complaint"),
            ZH: ("餐食太差", "票价涨了", "机场近一点", "客服不理人"),
        },
    ),
    "database": _Wording(
        said={
            EN: (
                "We run {v} as our database.",
                "We're using {v} for the database.",
                "{v} is the database of this project.",
                "Our data lives in {v}.",
            ),
            ZH: ("我们项目的数据库用{v}。", "后台数据库是{v}。", "咱们的数据库是{v}。", "我们一直用{v}当数据库。"),
        },
        named={
            EN: (
                "We switched our database from {old} to {new} because {why}.",
                "We're off {old}, the database is {new} now, because {why}.",
                "We swapped {old} for {new} because {why}.",
                "We no longer use {old}, we use {new} now, because {why}.",
            ),
            ZH: (
                "我们从{old}迁移到{new}了，因为{why}。",
                "我们把数据库从{old}换成了{new}，因为{why}。",
                "数据库不再用{old}，改用{new}，因为{why}。",
                "因为{why}，我们从{old}换到了{new}。",
            ),
        },
        unnamed={
            EN: (
                "We migrated to {new} because {why}.",
                "We're on {new} now because {why}.",
                "We changed the database to {new} because {why}.",
                "Our database is now {new}, because {why}.",
            ),
            ZH: (
                "我们的数据库换成{new}了，因为{why}。",
                "我们现在用的数据库是{new}，因为{why}。",
                "我们迁移到{new}了，因为{why}。",
                "数据库现在改用{new}，因为{why}。",
            ),
        },
        reasons={
            EN: ("support ran out", "writes were too slow", "the hosting got cheaper", "the tooling is better"),
            ZH: ("写入太慢", "便宜一些", "工具更好用", "老版本没人维护"),
        },
    ),
    "port": _Wording(
        said={
            EN: (
                "Our API listens on {v}.",
                "The API is served on port {v}.",
                "The port of the API is {v}.",
                "The API uses port {v}.",
            ),
            ZH: ("API 端口号是 {v}。", "API 开在 {v} 端口。", "我们 API 的端口是 {v}。", "API 服务监听 {v} 端口。"),
        },
        named={
            EN: (
                "The API moved from port {old} to port {new} because {why}.",
                "We switched the API port from {old} to {new} because {why}.",
                "The API's port is {new} now instead of {old}, because {why}.",
                "The API no longer runs on port {old}, it runs on {new}, because {why}.",
            ),
            ZH: (
                "API 的端口由 {old} 改为 {new} 了，因为{why}。",
                "API 端口从 {old} 换成 {new} 了，因为{why}。",
                "API 不再用 {old} 端口，改用 {new}，因为{why}。",
                "因为{why}，我们把 API 的端口从 {old} 改成了 {new}。",
            ),
        },
        unnamed={
            EN: (
                "We changed the API port to {new} because {why}.",
                "The API now listens on port {new} because {why}.",
                "The port of the API is {new} now, because {why}.",
                "Our API now runs on port {new}, because {why}.",
            ),
            ZH: (
                "API 的端口改为 {new} 了，因为{why}。",
                "API 现在用 {new} 端口，因为{why}。",
                "我们把 API 端口换成了 {new}，因为{why}。",
                "API 现在的端口是 {new}，因为{why}。",
            ),
        },
        reasons={
            EN: ("it collided with the metrics server", "the new cluster reserves the old one", "security told us to", "the tests need it"),
            ZH: ("和监控撞了", "新集群把旧的留用了", "安全组的要求", "测试要用旧的"),
        },
    ),
}

HELD_ITEMS: Mapping[str, Item] = {
    item.name: replace(item, **{f: v for f in ("said", "named", "unnamed", "reasons") if (v := getattr(_WORDINGS[item.name], f))}) for item in ITEMS
}
"""Every item in its held-out wording; values, and the asides that only imply a change, are those of `phrases`."""

HELD_BULLETS: Words = {
    EN: (
        "Can you put that in bullet points?",
        "I'd rather have bullet points for this, please.",
        "as a bulleted list please",
        "Give me bullet points please.",
        "please format it as bullet points",
    ),
    ZH: ("可以用要点的方式回答吗？", "请以列表形式给我", "麻烦用要点写", "回答请分点"),
}

HELD_BEFORE: Words = {
    EN: ("", "", "Quick aside: ", "Oh and one more thing. ", "Right. ", "Thanks a lot. ", "For your information, "),
    ZH: ("", "", "哦对，", "还有个事，", "嗯嗯。", "多谢。", "跟你说一下，"),
}
HELD_AFTER: Words = {
    EN: ("", "", "", " OK, where were we?", " Back to the report, please.", " Can you show me the next section?"),
    ZH: ("", "", "", "好，接着来。", "我们说到哪了？", "下一节给我看看吧。"),
}


def _traps(kind: str, *rows: tuple[str, str]) -> tuple[Trap, ...]:
    return tuple(Trap(kind=kind, text=text, values=tuple(values.split("|"))) for text, values in rows)


HELD_TRAPS: Mapping[str, tuple[Trap, ...]] = {
    EN: (
        *_traps(
            "event",
            ("We ordered ramen last night and it was wonderful.", "ramen"),
            ("I took Wizz Air to the conference and it was fine.", "Wizz Air"),
            ("On holiday I drank horchata all the time, so good.", "horchata"),
            ("I stayed in Split for a week, what a lovely town.", "Split"),
            ("I used a colleague's Nexus 5 for an hour, it still works.", "Nexus 5"),
        ),
        *_traps(
            "other",
            ("My dad lives in Winnetka.", "Winnetka"),
            ("My cousin just joined Siemens.", "Siemens"),
            ("My daughter is allergic to strawberries.", "strawberries"),
            ("My best friend's dog is called Pretzel.", "Pretzel"),
            ("Our accountant always flies Condor.", "Condor"),
            ("Marta from sales was born in Kraków.", "Kraków"),
            ("My landlord's birthday is 3 April.", "3 April"),
            ("The data team moved from Redshift to Snowflake because of the cost.", "Redshift|Snowflake"),
        ),
        *_traps(
            "joke",
            ("I live under a rock, lol.", "rock"),
            ("My employer is the Illuminati, just joking.", "Illuminati"),
            ("I only drink tears of my enemies, haha.", "tears"),
            ("My dog is called Database Administrator, kidding!", "Database Administrator"),
        ),
        *_traps("dry_joke", ("I'm allergic to spreadsheets.", "spreadsheets"), ("I basically live at the airport this month.", "airport"), ("I'm allergic to small talk.", "small talk")),
        *_traps(
            "hypothetical",
            ("If I moved to Oslo, would taxes change?", "Oslo"),
            ("What if our database was Teradata?", "Teradata"),
            ("Assume I work at Nestlé for the sake of the example.", "Nestlé"),
            ("Were I allergic to celery, I'd check every soup.", "celery"),
        ),
        *_traps(
            "wish",
            ("I would love to work at the zoo.", "zoo"),
            ("Hopefully I'll live in Porto by then.", "Porto"),
            ("I wish we had a dog named Comet.", "Comet"),
            ("My dream is to move to Iceland.", "Iceland"),
        ),
        *_traps(
            "question",
            ("Am I allergic to cumin, do you think?", "cumin"),
            ("Does it matter if I live in Malmö?", "Malmö"),
            ("Can the API run on port 4444?", "4444"),
            ("Is Derby still a good database?", "Derby"),
        ),
        *_traps("hedged", ("I may switch to Vodafone's Smart N8 soon.", "Smart N8"), ("I think I could be allergic to mustard.", "mustard"), ("We are considering Neo4j as a database.", "Neo4j")),
        *_traps("feeling", ("I'm exhausted.", "exhausted"), ("I love how quiet it is today.", "quiet"), ("I'm dying for a nap.", "nap")),
        Trap(
            kind="role_play", text="Let's pretend you are my doctor and I am the patient.", values=("Arkham", "Falcone"),
            after=("Hello doctor, my name is Falcone and I live in Arkham.", "Okay, let's stop pretending."),
        ),
        *_traps(
            "pasted",
            ("Please proofread:\n\n> My name is Torvald, I work at Equinor and live in Bergen.", "Torvald|Equinor|Bergen"),
            ("Summarise this for me:\n\nI moved to Cusco last year. I am allergic to quinoa.", "Cusco|quinoa"),
        ),
    ),
    ZH: (
        *_traps("event", ("昨晚点了酸菜鱼，太好吃了。", "酸菜鱼"), ("国庆坐了一次长龙航空，还行。", "长龙航空"), ("假期在北海待了一周，很舒服。", "北海")),
        *_traps(
            "other",
            ("我爸住在齐齐哈尔。", "齐齐哈尔"),
            ("我表妹刚进了格力上班。", "格力"),
            ("我女儿对草莓过敏。", "草莓"),
            ("我最好的朋友的狗叫麻薯。", "麻薯"),
            ("我们会计出差总坐成都航空。", "成都航空"),
            ("房东的生日是4月3日。", "4月3日"),
        ),
        *_traps("joke", ("我住在山洞里，哈哈。", "山洞"), ("我老板是外星人，我在火星上班，开个玩笑。", "火星")),
        *_traps("dry_joke", ("我对加班过敏。", "加班"), ("我对早起过敏。", "早起")),
        *_traps("hypothetical", ("假如我搬去拉萨，时区会变吗？", "拉萨"), ("如果我们的数据库是Teradata呢？", "Teradata"), ("要是我在雀巢上班就不一样了。", "雀巢")),
        *_traps("wish", ("真希望能搬到大连。", "大连"), ("我的梦想是去动物园工作。", "动物园"), ("好想养一条叫彗星的狗。", "彗星")),
        *_traps("question", ("我是不是对孜然过敏？", "孜然"), ("API 能跑在 4444 端口吗？", "4444"), ("我住马尔默有影响吗？", "马尔默")),
        *_traps("hedged", ("我可能对芥末过敏。", "芥末"), ("我们也许会换Neo4j。", "Neo4j")),
        *_traps("feeling", ("累死了。", "累死"), ("今天好安静，真喜欢。", "安静")),
        Trap(kind="role_play", text="我们玩个角色扮演，你当医生，我当病人。", values=("法尔科", "阿卡姆"), after=("医生你好，我叫法尔科，住在阿卡姆。", "好了，角色扮演到此为止。")),
        *_traps("pasted", ("润色一下：\n\n> 我叫托瓦尔，我在挪威石油工作，住在卑尔根。", "托瓦尔|挪威石油|卑尔根")),
    ),
}  # fmt: skip
