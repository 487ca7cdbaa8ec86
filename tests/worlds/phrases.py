"""The wording of a world: what people say of themselves, in English and Chinese, as they would say it in passing.

Each item has at least six phrasings a language. `{v}` is the value said first, `{old}`, `{new}` and `{why}` belong to a change; `{a_v}`, `{a_new}` are the value
with its article. The phrases are written from how people talk, not from what an engine reads: change them only to be more like people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EN, ZH = "en", "zh"
Words = Mapping[str, tuple[str, ...]]
"""Language → phrasings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing a person says of themselves or of their project; those with `named` change over time."""

    name: str
    values: Words
    said: Words
    named: Words = field(default_factory=dict)
    unnamed: Words = field(default_factory=dict)
    implied: Words = field(default_factory=dict)
    reasons: Words = field(default_factory=dict)


# --- what lasts --------------------------------------------------------------------------------------------------------------------------

ALLERGY = Item(
    name="allergy",
    values={
        EN: ("peanuts", "shellfish", "penicillin", "latex", "sesame", "bee stings", "cashews", "ibuprofen", "kiwi", "soy"),
        ZH: ("芒果", "海鲜", "青霉素", "腰果", "芝麻", "牛奶"),
    },
    said={
        EN: (
            "One thing before you suggest anything: I'm allergic to {v}.",
            "I have an allergy to {v}, so keep that in mind.",
            "I am allergic to {v}, the hospital kind of allergic.",
            "No {v} for me, I have a bad allergy to {v}.",
            "I carry an EpiPen because I'm allergic to {v}.",
            "I can't have {v}, I'm allergic.",
            "My doctor confirmed that I'm allergic to {v}.",
            "Health note for you: I've been allergic to {v} since childhood.",
        ),
        ZH: (
            "顺便说一下，我对{v}过敏。",
            "我有{v}过敏，安排的时候要注意。",
            "提醒一句，我{v}过敏，很严重。",
            "我从小就对{v}过敏。",
            "我不能碰{v}，会过敏。",
            "医生确诊过，我对{v}过敏。",
        ),
    },
)
NAME = Item(
    name="name",
    values={
        EN: (
            "Mira Okafor", "Jonas Lindqvist", "Priya Raman", "Callum Reyes", "Ingrid Solheim", "Tomas Novak", "Leila Haddad", "Owen Prichard", "Sofia Marchetti", "Dmitri Volkov",
            "Hana Kobayashi", "Rufus Achterberg", "Elena Vasquez", "Martin Oberholzer", "Aoife Brennan", "Karim Benali",
        ),
        ZH: ("林若溪", "周子墨", "陈思远", "何雨桐", "沈嘉禾", "郑一凡"),
    },
    said={
        EN: (
            "My full name is {v}.",
            "I'm {v}, by the way.",
            "The name's {v}.",
            "Put {v} on the invoice, that's my name.",
            "For the cover letter: my name is {v}.",
            "I go by {v} at work and everywhere else.",
            "Hi, {v} here, that's my full name.",
        ),
        ZH: ("我叫{v}。", "我的名字是{v}。", "我全名叫{v}，写在封面上就行。", "落款写{v}，这是我的名字。", "自我介绍一下，我是{v}。", "我的全名是{v}。"),
    },
)  # fmt: skip
DOG = Item(
    name="dog",
    values={EN: ("Bramble", "Otis", "Juno", "Pickle", "Hazel", "Moose", "Tilly", "Nacho"), ZH: ("豆包", "年糕", "阿福", "布丁", "土豆", "雪球")},
    said={
        EN: (
            "We have a dog called {v}.",
            "My dog is called {v}.",
            "I've got a dog, {v}, he is seven.",
            "Our dog's name is {v}, in case I mention her.",
            "{v} is my dog.",
            "I have a dog and her name is {v}.",
            "I adopted a dog three years ago, her name is {v}.",
        ),
        ZH: ("我家的狗叫{v}。", "我养了一只狗，叫{v}。", "我的狗名叫{v}。", "我有一只狗，名字是{v}。", "{v}是我家的狗。", "我们家狗的名字叫{v}。"),
    },
)
BIRTHDAY = Item(
    name="birthday",
    values={
        EN: ("14 March", "2 August", "23 November", "19 May", "7 January", "30 September", "11 June"),
        ZH: ("3月14日", "8月2日", "11月23日", "5月19日", "1月7日", "9月30日"),
    },
    said={
        EN: (
            "My birthday is on {v}.",
            "My birthday falls on {v}.",
            "I was born on {v}.",
            "{v} is my birthday.",
            "My birthday's {v}, so keep that day free.",
            "I celebrate my birthday on {v}.",
        ),
        ZH: ("我的生日是{v}。", "我{v}出生。", "我生日在{v}。", "{v}是我的生日。", "我过生日是{v}。", "我是{v}出生的。"),
    },
)
JOB = Item(
    name="job",
    values={
        EN: (
            "veterinarian",
            "structural engineer",
            "translator",
            "paediatric nurse",
            "data analyst",
            "high school teacher",
            "landscape architect",
            "bookbinder",
            "sound engineer",
        ),
        ZH: ("兽医", "结构工程师", "翻译", "护士", "数据分析师", "高中老师"),
    },
    said={
        EN: (
            "I work as a {v}.",
            "I'm a {v} by trade.",
            "For context, I'm a {v}.",
            "By profession I'm a {v}.",
            "I've been a {v} for eleven years.",
            "My profession is {v}.",
            "I earn my living as a {v}.",
        ),
        ZH: ("我的职业是{v}。", "我做{v}已经十年了。", "我是{v}。", "我的工作是{v}。", "我是一个{v}。", "我的本职是{v}。"),
    },
)
HOMETOWN = Item(
    name="hometown",
    values={
        EN: ("Ljubljana", "Fargo", "Aberdeen", "Maribor", "Tromsø", "Coimbra", "Valletta", "Debrecen"),
        ZH: ("绍兴", "洛阳", "泉州", "湘潭", "大理", "景德镇"),
    },
    said={
        EN: ("I grew up in {v}.", "I'm originally from {v}.", "My hometown is {v}.", "I was born and raised in {v}.", "I come from {v}.", "I was born in {v}."),
        ZH: ("我老家在{v}。", "我是{v}人。", "我在{v}长大。", "我的家乡是{v}。", "我出生在{v}。", "我的老家是{v}。"),
    },
)
RULE = Item(
    name="rule",
    values={
        EN: ("`make lint`", "`cargo fmt`", "`npm run check`", "`./gradlew detekt`", "`mix credo`", "`tox -e types`"),
        ZH: ("`make lint`", "`cargo fmt`", "`npm run check`", "`mix credo`"),
    },
    said={
        EN: (
            "Always run {v} before you commit.",
            "Never commit without running {v} first.",
            "Every time you finish a change, run {v}.",
            "From now on run {v} before each commit.",
            "Remember to run {v} before every commit.",
            "As a standing rule, run {v} before committing, always.",
        ),
        ZH: (
            "以后每次提交前都要先跑 {v}。",
            "永远不要没跑 {v} 就提交。",
            "从现在起，提交之前一律跑 {v}。",
            "记住，提交前先运行 {v}。",
            "每次改完代码都跑一遍 {v}。",
            "提交之前务必跑 {v}，以后都这样。",
        ),
    },
)
LASTING = (ALLERGY, NAME, DOG, BIRTHDAY, JOB, HOMETOWN, RULE)

# --- what changes ------------------------------------------------------------------------------------------------------------------------

HOME = Item(
    name="home",
    values={
        EN: ("Leeds", "Utrecht", "Ghent", "Tampere", "Halifax", "Bergamo", "Graz", "Aarhus", "Cork", "Girona", "Brno", "Tucson"),
        ZH: ("成都", "青岛", "苏州", "武汉", "西安", "昆明", "宁波", "长沙"),
    },
    said={
        EN: (
            "I live in {v}, if the time zone matters.",
            "My flat is in {v}.",
            "I'm living in {v} with my partner.",
            "Home for me is {v}.",
            "I've lived in {v} for six years.",
            "{v} is where I live.",
            "I live near the old market in {v}.",
        ),
        ZH: ("我住在{v}。", "我家在{v}。", "我现在住{v}。", "我在{v}住了六年了。", "我定居在{v}。", "我人在{v}，住这边很多年了。"),
    },
    named={
        EN: (
            "I moved from {old} to {new} because {why}.",
            "We left {old} and moved to {new} because {why}.",
            "I don't live in {old} any more, I live in {new} now, because {why}.",
            "I relocated from {old} to {new}, the reason is that {why}.",
            "After years in {old} I've moved to {new}, because {why}.",
            "I gave up the flat in {old} and live in {new} now since {why}.",
            "My home is now {new} instead of {old}, because {why}.",
        ),
        ZH: (
            "我从{old}搬到{new}了，因为{why}。",
            "我不住{old}了，现在住在{new}，因为{why}。",
            "因为{why}，我从{old}搬家到了{new}。",
            "我离开{old}，搬到了{new}，因为{why}。",
            "我家已经从{old}搬去{new}了，原因是{why}。",
            "以前住{old}，现在住{new}，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "I live in {new} now, because {why}.",
            "We moved to {new} last week because {why}.",
            "I've settled in {new}, mainly because {why}.",
            "Since last month I live in {new}, because {why}.",
            "Home is {new} these days, because {why}.",
            "I've moved house, I'm in {new} now because {why}.",
            "My new home is in {new}. The reason is that {why}.",
        ),
        ZH: (
            "我搬到{new}了，因为{why}。",
            "我现在住在{new}，因为{why}。",
            "上周我搬家了，搬到{new}，因为{why}。",
            "因为{why}，我已经搬去{new}了。",
            "我的新家在{new}，因为{why}。",
            "我已经在{new}安家了，主要是因为{why}。",
        ),
    },
    implied={
        EN: (
            "Writing this between boxes in the new place in {new}, {why}.",
            "The town hall in {new} has finally registered us, {why}.",
            "My first winter in {new} is starting, {why}.",
        ),
        ZH: ("{new}的新家还堆着箱子，{why}。", "{new}这边的居住证总算办好了，{why}。"),
    },
    reasons={
        EN: (
            "my mother needs me nearby",
            "the rent had doubled",
            "Jonas got a post at the university there",
            "the commute was killing me",
            "the landlord sold the building",
            "we wanted a garden",
        ),
        ZH: ("妈妈需要人照顾", "房租涨了一倍", "孩子要上学", "通勤太远了", "房东把房子卖了", "那边气候更好"),
    },
)
EMPLOYER = Item(
    name="employer",
    values={
        EN: (
            "Brightwell Labs",
            "Nordlicht Energie",
            "Castellan Group",
            "Veridian Foods",
            "Halcyon Robotics",
            "Quayside Media",
            "Tamarack Software",
            "Osprey Logistics",
            "Kestrel Bank",
        ),
        ZH: ("云帆科技", "海岳能源", "明德医疗", "星桥物流", "金穗食品", "蓝湖软件"),
    },
    said={
        EN: (
            "My employer is {v}.",
            "I work for {v}.",
            "I work at {v}, in the back office.",
            "The company I work for is {v}.",
            "I'm with {v}, have been for four years.",
            "I'm employed at {v}.",
            "I've worked at {v} for a while.",
        ),
        ZH: ("我在{v}上班。", "我的公司是{v}。", "我任职于{v}。", "我就职于{v}。", "我目前在{v}工作。", "我在{v}干了四年了。"),
    },
    named={
        EN: (
            "I quit {old} and joined {new} because {why}.",
            "I don't work at {old} any more, I'm at {new} now because {why}.",
            "I changed jobs, from {old} to {new}, because {why}.",
            "I went from {old} to {new} because {why}.",
            "I handed in my notice at {old} and work for {new} now, since {why}.",
            "I've left {old} and now work at {new}, because {why}.",
        ),
        ZH: (
            "我从{old}跳槽到{new}了，因为{why}。",
            "我不在{old}干了，现在在{new}上班，因为{why}。",
            "我离开{old}，去了{new}，因为{why}。",
            "因为{why}，我从{old}换到了{new}。",
            "我辞掉了{old}的工作，加入了{new}，因为{why}。",
            "以前在{old}，现在在{new}工作，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "I work for {new} now because {why}.",
            "I joined {new} last month because {why}.",
            "My employer is {new} now, because {why}.",
            "I've got a new job at {new}, I changed because {why}.",
            "I'm working at {new} these days because {why}.",
            "I started at {new} on Monday because {why}.",
        ),
        ZH: (
            "我现在在{new}上班，因为{why}。",
            "我换工作了，去了{new}，因为{why}。",
            "我上个月加入了{new}，因为{why}。",
            "因为{why}，我跳槽到了{new}。",
            "我的新公司是{new}，因为{why}。",
            "我已经入职{new}了，因为{why}。",
        ),
    },
    implied={
        EN: ("My {new} badge came in the mail, {why}.", "Onboarding at {new} is a bit of a maze, {why}.", "The {new} laptop finally boots, {why}."),
        ZH: ("{new}的工牌终于拿到了，{why}。", "{new}的入职培训好长，{why}。"),
    },
    reasons={
        EN: (
            "they let me work four days",
            "my old manager was impossible",
            "the project got cancelled",
            "they pay for the train",
            "I wanted to build hardware again",
            "the team moved abroad",
        ),
        ZH: ("那边可以远程", "原来的领导太难相处", "项目被砍了", "离家近", "薪水更高", "团队搬走了"),
    },
)
PHONE = Item(
    name="phone",
    values={
        EN: ("Pixel 9", "Galaxy S24", "iPhone 15", "Fairphone 4", "Xperia 10", "Nothing Phone 2", "OnePlus 12", "Moto G84"),
        ZH: ("小米14", "华为Mate 60", "一加12", "荣耀100", "OPPO Find X7", "vivo X100"),
    },
    said={
        EN: (
            "My phone is {a_v}.",
            "I use {a_v} as my phone.",
            "The phone I carry is {a_v}.",
            "My mobile is {a_v}.",
            "I have {a_v}, if you need the model of my phone.",
            "The model of my phone is {v}.",
        ),
        ZH: ("我的手机是{v}。", "我用的手机是{v}。", "我手机用的是{v}。", "我现在用{v}。", "我的手机型号是{v}。", "我平时用的是{v}手机。"),
    },
    named={
        EN: (
            "I swapped the {old} for {a_new} because {why}.",
            "I traded in my {old} for {a_new} because {why}.",
            "My phone is {a_new} now, not the {old}, because {why}.",
            "I've replaced the {old} with {a_new} because {why}.",
            "I went from the {old} to {a_new} because {why}.",
            "I no longer have the {old}, my phone is {a_new} now, because {why}.",
        ),
        ZH: (
            "我把{old}换成了{new}，因为{why}。",
            "我不用{old}了，现在用{new}，因为{why}。",
            "我的手机从{old}换成{new}了，因为{why}。",
            "因为{why}，我用{new}换掉了{old}。",
            "手机现在是{new}，不是{old}了，因为{why}。",
            "以前用{old}，现在改用{new}了，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "My phone is {a_new} now because {why}.",
            "I have a new phone, {a_new}, because {why}.",
            "I bought {a_new} and use it as my phone now, because {why}.",
            "I've switched to {a_new} because {why}.",
            "The phone I use now is {a_new}, because {why}.",
            "I'm on {a_new} now because {why}.",
        ),
        ZH: (
            "我换手机了，换成了{new}，因为{why}。",
            "我的手机现在是{new}，因为{why}。",
            "我现在用的手机是{new}，因为{why}。",
            "因为{why}，我换了{new}。",
            "我的新手机是{new}，因为{why}。",
            "我改用{new}了，因为{why}。",
        ),
    },
    implied={
        EN: ("Still setting up the {new}, {why}.", "The case for the {new} arrived too late, {why}."),
        ZH: ("还在给{new}导数据，{why}。", "{new}的手机壳今天到了，{why}。"),
    },
    reasons={
        EN: (
            "the battery died by noon",
            "the screen cracked",
            "the camera was useless",
            "I dropped the old one in the lake",
            "it got no more updates",
            "work wanted a second SIM",
        ),
        ZH: ("电池不行了", "屏幕摔碎了", "拍照太差", "旧的掉水里了", "系统不再更新了", "信号一直不好"),
    },
)
DRINK = Item(
    name="drink",
    values={
        EN: ("black coffee", "oat latte", "rooibos", "earl grey", "matcha", "hot chocolate", "chai", "espresso", "kombucha", "mint tea"),
        ZH: ("美式咖啡", "乌龙茶", "普洱", "拿铁", "菊花茶", "豆浆"),
    },
    said={
        EN: (
            "I drink {v} in the morning.",
            "My usual drink is {v}.",
            "I usually drink {v} at my desk.",
            "My go-to drink is {v}.",
            "What I drink at work is {v}.",
            "I drink {v} every day.",
        ),
        ZH: ("我平时喝{v}。", "我每天都喝{v}。", "我一般喝{v}。", "我早上喝{v}。", "我常喝的是{v}。", "我上班的时候喝{v}。"),
    },
    named={
        EN: (
            "I switched from {old} to {new} because {why}.",
            "I gave up {old} and drink {new} now because {why}.",
            "I drink {new} instead of {old} now, because {why}.",
            "No more {old} for me, I drink {new} now because {why}.",
            "I've gone from {old} to {new} because {why}.",
            "I stopped drinking {old} and drink {new} instead, because {why}.",
        ),
        ZH: (
            "我不喝{old}了，改喝{new}，因为{why}。",
            "我从{old}换成了{new}，因为{why}。",
            "我把{old}戒了，现在喝{new}，因为{why}。",
            "因为{why}，我现在喝{new}，不喝{old}了。",
            "以前喝{old}，现在喝{new}，因为{why}。",
            "我用{new}代替了{old}，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "I drink {new} now because {why}.",
            "My usual drink is {new} now, because {why}.",
            "These days I drink {new}, because {why}.",
            "I've switched to {new} because {why}.",
            "My go-to drink has become {new}, because {why}.",
            "I only drink {new} nowadays, since {why}.",
        ),
        ZH: (
            "我现在喝{new}，因为{why}。",
            "我改喝{new}了，因为{why}。",
            "最近我都喝{new}，因为{why}。",
            "因为{why}，我换成{new}了。",
            "我现在每天喝{new}，因为{why}。",
            "我现在只喝{new}，因为{why}。",
        ),
    },
    implied={
        EN: ("The big pot of {new} is on my desk again, {why}.", "Another round of {new}, third one today, {why}."),
        ZH: ("桌上又泡好了一壶{new}，{why}。", "今天第三杯{new}了，{why}。"),
    },
    reasons={
        EN: (
            "my stomach complained",
            "it kept me awake",
            "my dentist asked me to",
            "I get migraines",
            "the doctor wants less caffeine",
            "I wanted to sleep better",
        ),
        ZH: ("胃不舒服", "晚上睡不着", "牙医建议的", "总是头疼", "医生让我少喝咖啡因", "想睡得好一点"),
    },
)
AIRLINE = Item(
    name="airline",
    values={
        EN: ("KLM", "Finnair", "Iberia", "Air Canada", "Qantas", "TAP", "Emirates", "Norwegian", "Austrian"),
        ZH: ("国航", "东航", "南航", "海航", "川航", "深航"),
    },
    said={
        EN: (
            "When I travel for work I fly {v}.",
            "My airline is {v}.",
            "I usually fly with {v}.",
            "For flights I use {v}.",
            "The airline I use is {v}.",
            "I fly {v}, I have their card.",
        ),
        ZH: ("我出差坐{v}。", "我一般坐{v}的飞机。", "我常用的航空公司是{v}。", "我出门都坐{v}。", "我的航空公司是{v}。", "我坐飞机用{v}。"),
    },
    named={
        EN: (
            "I fly {new} instead of {old} now because {why}.",
            "I don't fly {old} any more, I fly {new}, because {why}.",
            "I dropped {old} and fly with {new} now because {why}.",
            "I've changed my airline from {old} to {new} because {why}.",
            "My airline is {new} now, not {old}, because {why}.",
            "For flights I went from {old} to {new} because {why}.",
        ),
        ZH: (
            "我不坐{old}了，改坐{new}，因为{why}。",
            "我的航空公司从{old}换成{new}了，因为{why}。",
            "以前坐{old}，现在坐{new}，因为{why}。",
            "因为{why}，我从{old}换到了{new}。",
            "我现在坐{new}，不坐{old}了，因为{why}。",
            "我把{old}换成了{new}，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "I fly {new} now because {why}.",
            "My airline is {new} now, because {why}.",
            "I fly with {new} these days because {why}.",
            "For flights I use {new} now, since {why}.",
            "I've changed airlines and fly {new} because {why}.",
            "The airline I use now is {new}, because {why}.",
        ),
        ZH: (
            "我现在坐{new}，因为{why}。",
            "我改坐{new}了，因为{why}。",
            "我换航空公司了，现在坐{new}，因为{why}。",
            "我的航空公司现在是{new}，因为{why}。",
            "因为{why}，我出差改坐{new}了。",
            "我现在出差都坐{new}，因为{why}。",
        ),
    },
    implied={
        EN: ("My {new} card went silver today, {why}.", "The {new} app shows my new frequent flyer number, {why}."),
        ZH: ("{new}的会员卡今天升银了，{why}。", "{new}的常旅客号码下来了，{why}。"),
    },
    reasons={
        EN: (
            "they lost my bags twice",
            "the lounge closed",
            "I was cancelled on three times",
            "the direct flight was dropped",
            "the seats are kinder to my knees",
            "my status ran out",
        ),
        ZH: ("行李丢了两次", "老是晚点", "航班取消了三次", "直飞航线没了", "座位宽一点", "会员等级到期了"),
    },
)
DATABASE = Item(
    name="database",
    values={
        EN: ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "CockroachDB", "MariaDB", "DuckDB"),
        ZH: ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "TiDB", "MariaDB"),
    },
    said={
        EN: (
            "The project uses {v}.",
            "We use {v} as our database.",
            "Our database is {v}.",
            "The project's database is {v}.",
            "We store everything in {v}.",
            "For the database we use {v}.",
        ),
        ZH: ("项目用的数据库是{v}。", "我们的数据库是{v}。", "我们用{v}做数据库。", "数据库用的是{v}。", "这个项目用{v}。", "数据都存在{v}里。"),
    },
    named={
        EN: (
            "We moved from {old} to {new} because {why}.",
            "We migrated the database from {old} to {new} because {why}.",
            "We replaced {old} with {new} because {why}.",
            "The database is {new} now, not {old}, because {why}.",
            "We dropped {old} and use {new} now because {why}.",
            "We use {new} instead of {old} now, because {why}.",
        ),
        ZH: (
            "我们的数据库从{old}换成{new}了，因为{why}。",
            "我们把{old}换成了{new}，因为{why}。",
            "数据库已经从{old}迁移到{new}，因为{why}。",
            "我们不用{old}了，现在用{new}，因为{why}。",
            "因为{why}，数据库从{old}改成了{new}。",
            "数据库现在是{new}，不是{old}了，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "We use {new} now, because {why}.",
            "Our database is {new} now, because {why}.",
            "We've switched the database to {new} because {why}.",
            "The project uses {new} now because {why}.",
            "We store everything in {new} now, because {why}.",
            "The database is now {new}. The reason is that {why}.",
        ),
        ZH: (
            "我们现在用{new}，因为{why}。",
            "数据库换成{new}了，因为{why}。",
            "我们的数据库现在是{new}，因为{why}。",
            "因为{why}，数据库已经迁移到{new}了。",
            "项目的数据库改成{new}了，因为{why}。",
            "我们改用{new}了，因为{why}。",
        ),
    },
    implied={
        EN: ("The first {new} backup went through tonight, {why}.", "The {new} dashboards are green, {why}."),
        ZH: ("{new}的第一次备份跑完了，{why}。", "{new}的监控都绿了，{why}。"),
    },
    reasons={
        EN: (
            "the licence changed",
            "we needed replication",
            "the host dropped support",
            "backups took too long",
            "nobody here could tune it",
            "the ops team asked for it",
        ),
        ZH: ("许可证变了", "我们需要主从复制", "云厂商不再支持", "备份太慢", "没人会调优", "运维要求的"),
    },
)
PORT = Item(
    name="port",
    values={EN: ("8081", "9090", "7443", "3100", "5051", "8642"), ZH: ("8081", "9090", "7443", "3100", "5051", "8642")},
    said={
        EN: (
            "The API listens on port {v}.",
            "Our API is on port {v}.",
            "The API's port is {v}.",
            "The API port is {v}.",
            "We serve the API on port {v}.",
            "The API runs on port {v}.",
        ),
        ZH: ("API 的端口是 {v}。", "我们的 API 跑在 {v} 端口。", "API 监听 {v} 端口。", "API 用的端口是 {v}。", "API 端口：{v}。", "API 在 {v} 端口上。"),
    },
    named={
        EN: (
            "We moved the API from port {old} to port {new} because {why}.",
            "The API listens on port {new} now, not {old}, because {why}.",
            "The API port changed from {old} to {new} because {why}.",
            "We changed the API's port from {old} to {new} because {why}.",
            "The API is on port {new} instead of {old} now, because {why}.",
            "The API port is no longer {old}, it's {new} now, because {why}.",
        ),
        ZH: (
            "API 的端口从 {old} 改成 {new} 了，因为{why}。",
            "我们把 API 的端口从 {old} 换到了 {new}，因为{why}。",
            "API 现在的端口是 {new}，不是 {old} 了，因为{why}。",
            "因为{why}，API 端口从 {old} 改到了 {new}。",
            "API 不用 {old} 端口了，现在用 {new}，因为{why}。",
            "API 的端口以前是 {old}，现在是 {new}，因为{why}。",
        ),
    },
    unnamed={
        EN: (
            "The API listens on port {new} now, because {why}.",
            "The API port is {new} now because {why}.",
            "We moved the API to port {new} because {why}.",
            "Our API is now on port {new}, because {why}.",
            "The API's port is now {new}, since {why}.",
            "The API runs on port {new} now because {why}.",
        ),
        ZH: (
            "API 的端口现在是 {new}，因为{why}。",
            "API 端口改成 {new} 了，因为{why}。",
            "我们把 API 挪到了 {new} 端口，因为{why}。",
            "因为{why}，API 端口换成 {new} 了。",
            "API 现在监听 {new} 端口，因为{why}。",
            "API 现在跑在 {new} 端口，因为{why}。",
        ),
    },
    implied={
        EN: ("The API answered on {new} all night without a hiccup, {why}.", "Monitoring of the API on {new} looks clean, {why}."),
        ZH: ("API 在 {new} 上跑了一夜都没问题，{why}。", "{new} 上的 API 监控都正常，{why}。"),
    },
    reasons={
        EN: (
            "the old one clashed with the proxy",
            "the firewall blocks it",
            "another team took it",
            "macOS grabs that port",
            "the auditors wanted it",
            "the load balancer expects it",
        ),
        ZH: ("和代理冲突了", "防火墙拦住了", "被别的组占了", "系统占用了那个端口", "审计要求的", "负载均衡要求的"),
    },
)
PERSONAL = (HOME, EMPLOYER, PHONE, DRINK, AIRLINE)
PROJECT = (DATABASE, PORT)
ITEMS = (*LASTING, *PERSONAL, *PROJECT)

BULLETS: Words = {
    EN: (
        "bullet points please",
        "Bullet points please, I read these on the train.",
        "bullet points please :)",
        "Bullets please, not paragraphs.",
        "Could you use bullet points please?",
        "Please answer in bullet points.",
        "Can I get that as bullet points please",
    ),
    ZH: ("请用要点列出来", "用要点回答吧", "麻烦分点列一下", "请分条列出来，我好看", "回答用列表吧，谢谢", "能不能用要点的形式回答？"),
}
"""Asked for once, inside a task: a draft of how this person likes answers, never a rule."""

# --- what must never be stored as the person's ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """A message with words in it that must not become the person's: `kind` says why, `values` are the words."""

    kind: str
    text: str
    values: tuple[str, ...]
    after: tuple[str, ...] = ()
    """Messages that follow in the same session and belong to it (the role goes on, and ends)."""


def _traps(kind: str, *rows: tuple[str, str]) -> tuple[Trap, ...]:
    return tuple(Trap(kind=kind, text=text, values=tuple(values.split("|"))) for text, values in rows)


TRAPS: Mapping[str, tuple[Trap, ...]] = {
    EN: (
        *_traps(
            "event",
            ("I had sushi yesterday, it was great.", "sushi"),
            ("We went to a Thai place on Saturday and the curry was superb.", "curry|Thai"),
            ("I flew Ryanair to the wedding and it was surprisingly pleasant.", "Ryanair"),
            ("Tried the lamb at the new place last night, loved it.", "lamb"),
            ("I spent the weekend in Naples and adored it.", "Naples"),
            ("I drank three mojitos at the party, delicious.", "mojitos"),
            ("I borrowed a Nokia 3310 for the hike and the battery was brilliant.", "Nokia 3310"),
            ("I watched a documentary about beekeeping, absolutely loved it.", "beekeeping"),
            ("This morning I had a flat white for once and it was lovely.", "flat white"),
            ("I ran the demo on Firebird the other day, nice little database.", "Firebird"),
        ),
        *_traps(
            "other",
            ("My colleague Tom has a dog called Biscuit.", "Biscuit"),
            ("A friend of mine moved to Reykjavik in spring.", "Reykjavik"),
            ("My nephew is allergic to eggs.", "eggs"),
            ("My sister works at Ferrero.", "Ferrero"),
            ("My boss flies Etihad wherever he goes.", "Etihad"),
            ("My brother's phone is a Razr 40.", "Razr 40"),
            ("Hannah, who sits next to me, is allergic to wheat.", "wheat"),
            ("My nephew is visiting this weekend. He can't have hazelnuts, he's allergic.", "hazelnuts"),
            ("The intern's birthday is on 9 October.", "9 October"),
            ("My ex lives in Calgary these days.", "Calgary"),
            ("My friend Paula left Bosch and works at Miele now because she wanted shorter days.", "Bosch|Miele"),
            ("My neighbour drinks nettle tea instead of coffee now because of his heart.", "nettle tea"),
            ("The other team uses Oracle as their database.", "Oracle"),
            ("My flatmate moved from Dresden to Leipzig because her course starts there.", "Dresden|Leipzig"),
            ("My wife's hometown is Kaunas.", "Kaunas"),
            ("Our neighbours have a dog named Zorro.", "Zorro"),
            ("Ben told me: \"I live in Winnipeg and I love it.\"", "Winnipeg"),
        ),
        *_traps(
            "joke",
            ("I live on the moon these days, just kidding.", "moon"),
            ("I work for Santa Claus, haha.", "Santa Claus"),
            ("My real name is Batman, obviously 😂", "Batman"),
            ("I only drink rocket fuel now, lol.", "rocket fuel"),
            ("jk, my phone is a carrier pigeon", "carrier pigeon"),
            ("I'm joking of course, but my dog is called Chairman Meow.", "Chairman Meow"),
            ("Our database is a shoebox now, lmao.", "shoebox"),
            ("I fly Hogwarts Express, haha, never had a delay.", "Hogwarts Express"),
        ),
        *_traps(
            "dry_joke",
            ("I'm allergic to Mondays.", "Mondays"),
            ("I'm allergic to meetings before ten.", "meetings"),
            ("At this point I live in this spreadsheet.", "spreadsheet"),
            ("My phone is a brick today.", "brick"),
            ("My middle name is Trouble.", "Trouble"),
            ("I work for my cat, basically.", "my cat"),
        ),
        *_traps(
            "hypothetical",
            ("If I lived in Honolulu I'd surf all day.", "Honolulu"),
            ("Suppose I worked at Pixar, would that change your advice?", "Pixar"),
            ("Let's say my phone was a BlackBerry, what then?", "BlackBerry"),
            ("Imagine we used Cassandra for this.", "Cassandra"),
            ("Say I were allergic to gluten, what would the menu look like?", "gluten"),
            ("Had I stayed in Toulouse, I'd be a baker now.", "Toulouse|baker"),
            ("In another life I'm a lighthouse keeper.", "lighthouse keeper"),
            ("Picture this: I fly Icelandair every week.", "Icelandair"),
        ),
        *_traps(
            "wish",
            ("I'd love to live in Kyoto one day.", "Kyoto"),
            ("I wish I worked at Lego.", "Lego"),
            ("I want a dog called Waffles someday.", "Waffles"),
            ("I'm dreaming of moving to Bali.", "Bali"),
            ("I hope to fly Singapore Airlines once in my life.", "Singapore Airlines"),
            ("If only my phone were a Vertu.", "Vertu"),
            ("I'd rather be a park ranger.", "park ranger"),
            ("It would be nice if we used FoundationDB.", "FoundationDB"),
        ),
        *_traps(
            "question",
            ("Do I sound like someone who lives in Paris?", "Paris"),
            ("Should I move to Antwerp?", "Antwerp"),
            ("Would I like working at Spotify?", "Spotify"),
            ("Is Couchbase a better database for us?", "Couchbase"),
            ("Could I be allergic to nickel?", "nickel"),
            ("What happens when the API runs on port 6666?", "6666"),
            ("did I tell you my dog is called Rocket?", "Rocket"),
            ("I'm a morning person, aren't I?", "morning person"),
        ),
        *_traps(
            "hedged",
            ("I might move to Bristol next year.", "Bristol"),
            ("We're thinking about switching to ScyllaDB.", "ScyllaDB"),
            ("Maybe I'm allergic to lupin, no idea.", "lupin"),
            ("I could end up working at Vestas, we'll see.", "Vestas"),
            ("Perhaps I'll get a Huawei P60 next.", "Huawei P60"),
            ("I was this close to booking Lufthansa.", "Lufthansa"),
        ),
        *_traps(
            "feeling",
            ("I'm so tired today.", "tired"),
            ("Ugh, I hate this week.", "this week"),
            ("I love this weather.", "weather"),
            ("I can't look at another slide.", "slide"),
            ("I'm over the moon, the talk went well!", "moon"),
            ("I'm starving, I could eat a horse.", "horse"),
            ("I'm a bit grumpy, sorry.", "grumpy"),
            ("I could drink a bucket of lemonade right now.", "lemonade"),
        ),
        Trap(
            kind="role_play", text="Let's role-play: you are the recruiter and I'm the candidate.", values=("Initech", "Springfield"),
            after=("Hello, I work at Initech and I live in Springfield.", "ok, end of the role-play, thanks"),
        ),
        Trap(kind="role_play", text="Pretend I'm a pilot named Maverick Stone and introduce me.", values=("pilot", "Maverick Stone")),
        Trap(kind="role_play", text="I'll be the customer and you the waiter.", values=("garlic",), after=("Good evening! I'm allergic to garlic.", "Great, we can stop the game here.")),
        Trap(kind="role_play", text="In this story I'm a baker in Lyon and my dog is called Croissant.", values=("baker", "Lyon", "Croissant")),
        Trap(
            kind="role_play", text="Interview exercise: for the next answers I am Doctor Quill.", values=("Gotham", "Quill"),
            after=("I live in Gotham and my phone is a Batphone.", "Exercise over, back to work."),
        ),
        *_traps(
            "pasted",
            ("Can you fix the grammar in this mail?\n\n> Hi, I am Pedro and I lives in Cádiz since two years.", "Pedro|Cádiz"),
            ("Translate this into German:\n\nMy name is Agnes. I work at Wayfair and I live in Boston.", "Agnes|Wayfair|Boston"),
            ("The customer wrote:\n\"\"\"\nI moved to Perth because of my wife. I am allergic to lanolin.\n\"\"\"\nWhat should we answer?", "Perth|lanolin"),
            ("Shorten this bio: \"I live in Tallinn, I fly Air Baltic and I drink oolong.\"", "Tallinn|Air Baltic|oolong"),
        ),
    ),
    ZH: (
        *_traps(
            "event",
            ("昨天吃了火锅，真香。", "火锅"),
            ("上周末去了趟厦门，特别喜欢。", "厦门"),
            ("昨晚喝了一杯杨枝甘露，味道不错。", "杨枝甘露"),
            ("上次坐春秋航空回家，意外地舒服。", "春秋航空"),
            ("前天看了部讲养蜂的纪录片，超好看。", "养蜂"),
            ("今天早上尝了尝螺蛳粉，挺好吃的。", "螺蛳粉"),
            ("上周借了同事的诺基亚用了两天，电池真耐用。", "诺基亚"),
        ),
        *_traps(
            "other",
            ("我同事小王养了只狗叫旺财。", "旺财"),
            ("我一个朋友春天搬到哈尔滨了。", "哈尔滨"),
            ("我侄子对鸡蛋过敏。", "鸡蛋"),
            ("我姐姐在海底捞上班。", "海底捞"),
            ("我老板出差都坐吉祥航空。", "吉祥航空"),
            ("我弟弟的手机是魅族20。", "魅族20"),
            ("坐我旁边的小李对花粉过敏。", "花粉"),
            ("我侄子周末要来。他不能吃榛子，会过敏。", "榛子"),
            ("实习生的生日是10月9日。", "10月9日"),
            ("隔壁组的数据库用的是达梦。", "达梦"),
            ("室友从合肥搬到了南昌，因为她在那边读书。", "合肥|南昌"),
            ("我老婆的老家在桂林。", "桂林"),
            ("小张跟我说：“我住在贵阳，特别喜欢。”", "贵阳"),
        ),
        *_traps(
            "joke",
            ("我现在住在月球上，开玩笑的。", "月球"),
            ("我给圣诞老人打工，哈哈。", "圣诞老人"),
            ("我真名叫蝙蝠侠😂", "蝙蝠侠"),
            ("我现在只喝火箭燃料，哈哈哈。", "火箭燃料"),
            ("我们的数据库是个鞋盒，说笑的。", "鞋盒"),
            ("我的手机是信鸽，逗你玩的。", "信鸽"),
        ),
        *_traps("dry_joke", ("我对周一过敏。", "周一"), ("我对开会过敏。", "开会"), ("我都快住在公司了。", "公司"), ("我的手机今天就是块砖。", "砖")),
        *_traps(
            "hypothetical",
            ("如果我住在三亚，天天去冲浪。", "三亚"),
            ("假设我在皮克斯上班，你的建议会变吗？", "皮克斯"),
            ("假如我们用达梦数据库会怎么样。", "达梦"),
            ("要是我对麸质过敏，菜单怎么改？", "麸质"),
            ("想象一下，我是个灯塔看守人。", "灯塔看守人"),
            ("比方说我坐的是祥鹏航空。", "祥鹏航空"),
        ),
        *_traps(
            "wish",
            ("真想住在丽江啊。", "丽江"),
            ("我希望有一天能在乐高工作。", "乐高"),
            ("以后想养只狗叫华夫。", "华夫"),
            ("好想搬到海南去。", "海南"),
            ("要是我的手机是折叠屏就好了。", "折叠屏"),
            ("但愿我们能用上FoundationDB。", "FoundationDB"),
        ),
        *_traps(
            "question",
            ("我像住在上海的人吗？", "上海"),
            ("我该不该搬到杭州？", "杭州"),
            ("我会不会对镍过敏？", "镍"),
            ("Couchbase是不是更适合我们？", "Couchbase"),
            ("我跟你说过我的狗叫火箭吗？", "火箭"),
            ("API 跑在 6666 端口会怎样？", "6666"),
        ),
        *_traps(
            "hedged",
            ("明年我可能搬到珠海。", "珠海"),
            ("我们在考虑换成OceanBase。", "OceanBase"),
            ("我也许对羽扇豆过敏，不确定。", "羽扇豆"),
            ("说不定我会去比亚迪上班。", "比亚迪"),
        ),
        *_traps(
            "feeling",
            ("今天好累啊。", "累"),
            ("真讨厌这一周。", "这一周"),
            ("好喜欢今天的天气。", "天气"),
            ("饿死了，我能吃下一头牛。", "牛"),
            ("我有点烦，抱歉。", "烦"),
            ("我现在能喝一桶柠檬水。", "柠檬水"),
        ),
        Trap(kind="role_play", text="我们来角色扮演，你是面试官，我是应聘者。", values=("齐云集团", "敦煌"), after=("你好，我在齐云集团工作，住在敦煌。", "好，角色扮演结束，谢谢。")),
        Trap(kind="role_play", text="假装我是个叫雷霆的飞行员，介绍一下我。", values=("雷霆", "飞行员")),
        Trap(kind="role_play", text="在这个故事里，我是个面包师，住在楼兰。", values=("面包师", "楼兰")),
        *_traps(
            "pasted",
            ("帮我改一下这封邮件的语法：\n\n> 你好，我叫佩德罗，我住在加的斯两年。", "佩德罗|加的斯"),
            ("翻译成英文：\n\n我叫艾格尼丝，我在唯品会工作，住在珀斯。", "艾格尼丝|唯品会|珀斯"),
        ),
    ),
}  # fmt: skip

GUEST: Words = {
    EN: (
        "Hi, {who} here for a minute. I live in {v} and I'm in the same project.",
        "I'm {who}, I live in {v}.",
        "{who} again: I moved to {v} because my lease ended.",
    ),
    ZH: ("我是{who}，我住在{v}。", "{who}插一句，我搬到{v}了，因为租约到期。"),
}
"""Another person speaks in the same conversation: what they say is theirs."""
GUESTS: Mapping[str, tuple[tuple[str, str], ...]] = {EN: (("Ruben", "Ostrava"), ("Mei", "Fukuoka"), ("Sven", "Bodø")), ZH: (("小赵", "兰州"), ("阿梅", "柳州"))}

ASSUMED: Mapping[str, tuple[tuple[str, str], ...]] = {
    EN: (
        ("Since you live in Valencia, I set the time zone to Europe/Madrid.", "Valencia"),
        ("As you are allergic to pollen, I left the meadow route out.", "pollen"),
        ("You work at Unilever, so I used their template.", "Unilever"),
        ("Noted: your phone is a Lumia 950.", "Lumia 950"),
        ("You always fly Aeroflot, so I sorted those flights first.", "Aeroflot"),
    ),
    ZH: (("既然你住在沈阳，我把时区设成了东八区。", "沈阳"), ("你对螨虫过敏，所以我去掉了草地路线。", "螨虫"), ("你在宜家上班，我用了他们的模板。", "宜家")),
}
"""What the assistant takes for granted about the person: never theirs until they say so."""

# --- small talk and tasks ----------------------------------------------------------------------------------------------------------------

SMALL: Words = {
    EN: (
        "good morning", "thanks, that helps", "ok", "hm, let me look", "Nice.", "One moment, the door.", "back now", "Can you check the second paragraph again?",
        "What does the error mean?", "Could you make the table a bit smaller?", "looks good", "Why is the total different from last time?", "Please try again.", "no idea, you tell me",
        "Can you summarise what we have so far?", "great, next one", "Hold that thought.", "Is there a shorter way to say it?", "and the chart?", "See you tomorrow.",
        "lunch first", "How long does the report take to build?", "sure", "that was quick", "It's raining cats and dogs here.", "The train is late again.", "Weekend at last.",
    ),
    ZH: (
        "早上好", "谢谢，有用", "好的", "我看看", "不错", "等一下，有人敲门。", "回来了", "能再检查一下第二段吗？", "这个报错是什么意思？", "表格能小一点吗？", "看起来可以", "为什么总数和上次不一样？",
        "再试一次。", "没头绪，你说呢", "总结一下目前的进展？", "下一个", "有没有更短的说法？", "图呢？", "明天见。", "先吃饭", "外面下大雨了。", "地铁又晚点了。", "终于周末了。",
    ),
}  # fmt: skip
BEFORE: Words = {
    EN: ("", "", "Oh, before I forget. ", "By the way, something about me. ", "ok, that works. ", "Thanks! ", "Small thing on the side. ", "While that runs: "),
    ZH: ("", "", "对了。", "说起来，", "好的。", "谢谢！", "顺便说一句，"),
}
AFTER: Words = {
    EN: ("", "", "", " Anyway, can you continue with the draft?", " Now, back to the table.", " What's next?", " Could you check the totals?"),
    ZH: ("", "", "", "继续刚才的吧。", "回到表格上来。", "接下来做什么？", "能检查一下总数吗？"),
}


def with_article(value: str) -> str:
    """ "a Pixel 9", "an iPhone 15"; "a OnePlus 12" as it is spoken."""
    vowel = value[:1].lower() in "aeiou" and not value.startswith(("One", "Uni"))
    return f"{'an' if vowel else 'a'} {value}"
