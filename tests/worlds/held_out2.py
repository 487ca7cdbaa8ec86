"""The second held-out wording of a world, as people type: lower case, "btw", "cos", arrows, brackets, the reason before the change.

Written on 30 November 2026, before the grammar was loosened and without looking at what it accepts, by somebody who had
read `phrases` and `held_out` but not the engine. Run it with `--half held2`. It is measured once before and once after a round of work; what it shows missing may
only be looked for in `phrases` and `held_out`.

First measure (30 November, seed 1): recall 28 %, precision 54 %, old shown as current 20 %, History 7 %, others' values 3 %, moods stored 9 %, allergies 7 of 20, bullet
points 14 of 20. Second, before anything of it had been looked at (seeds 1, 7, 11, 23): recall 86 to 89 %, precision 91 to 95 %, old 2 to 10 %, History 77 to 93 %, others
2 % and moods 1 % (two sentences), allergies 18 to 20, bullet points 14 to 18. Then its harm, allergies and bullet points were looked at and mended: it is a
development set now.

The values are other ones too, so that a rule that knows a value by name is found out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.worlds.phrases import EN, ITEMS, ZH, Item, Trap, Words

_ITEMS: Mapping[str, Mapping[str, Words]] = {
    "allergy": {
        "values": {
            EN: ("walnuts", "shrimp", "amoxicillin", "aspirin", "crab", "wasp stings", "pistachios", "almonds", "codeine", "lobster"),
            ZH: ("花生", "虾", "头孢", "桃子", "核桃", "蜂蜜"),
        },
        "said": {
            EN: (
                "btw im allergic to {v}, so nothing with that pls",
                "fyi I'm badly allergic to {v}",
                "Can you plan a menu for the offsite? Oh and I've got a bad {v} allergy.",
                "I react badly to {v} (a proper allergy, not just a dislike).",
                "I can't have {v} - allergy.",
                "please leave out anything with {v}, i'm super allergic to it",
                "Turns out I'm allergic to {v}, got the test results back.",
                "(side note: i have an allergy, {v})",
                "no {v} for me please, allergic :(",
                "I'm one of those people who are allergic to {v}, sorry.",
            ),
            ZH: ("对了我{v}过敏哈", "我不能吃{v}的，过敏", "我有个情况，碰到{v}就过敏。", "备注：本人对{v}过敏", "{v}千万别放，我过敏"),
        },
    },
    "name": {
        "values": {
            EN: (
                "Nadia Rahimi", "Piotr Zielinski", "Grace Adeyemi", "Henrik Dahl", "Lucia Ferraro", "Samir Khoury", "Beatrix Holm", "Ewan McAllister", "Yuki Tanabe", "Carlos Ibarra",
                "Freya Nordmann", "Theo Lambert",
            ),
            ZH: ("许安然", "罗子轩", "宋雨晴", "唐一诺", "韩书宁", "蒋明远"),
        },
        "said": {
            EN: (
                "name's {v} btw",
                "im {v}, hi",
                "I'm called {v}, not that it matters.",
                "you can put my name on it: {v}",
                "My name is {v} and I keep getting mail for someone else.",
                "hey, this is {v}",
                "Full name for the form: {v}.",
                "sign it as {v} (that's me)",
            ),
            ZH: ("我是{v}，你好", "我叫{v}哈", "名字写{v}就好，是我本人", "本人{v}。", "姓名那栏填{v}，这是我的名字"),
        },
    },
    "dog": {
        "values": {EN: ("Waffle", "Rufus", "Mabel", "Gizmo", "Pepper", "Ziggy", "Clementine", "Luna"), ZH: ("可可", "旺仔", "团子", "奥利奥", "小黑", "丸子")},
        "said": {
            EN: (
                "my dog's called {v} and he's a menace",
                "{v} (that's my dog) just ate a sock",
                "our dog {v} needs a walk, brb",
                "I've a dog named {v}",
                "we got a dog, {v}, she's lovely",
                "the dog's name is {v}, in case you hear barking",
                "dog = {v}, he's my boy",
                "I have a golden retriever called {v}.",
            ),
            ZH: ("我的狗叫{v}哈，在叫呢", "我家{v}（是只狗）又拆家了", "狗狗叫{v}，我养了三年", "我养的狗，名字叫{v}", "我们家的狗就叫{v}"),
        },
    },
    "birthday": {
        "values": {
            EN: ("3 February", "21 October", "8 December", "27 June", "16 August", "5 November", "12 January"),
            ZH: ("2月3日", "10月21日", "12月8日", "6月27日", "8月16日"),
        },
        "said": {
            EN: (
                "my bday is {v}",
                "my birthday is {v} btw",
                "I was born on {v}, so I'm off that day",
                "birthday's on {v}, mine I mean",
                "can you block {v}? it's my birthday",
                "fyi {v} is my birthday",
                "My birthday? {v}.",
                "I have my birthday on {v} and I don't want a fuss.",
            ),
            ZH: ("我的生日{v}", "{v}我生日", "我是{v}生的", "{v}这天我过生日，别约我", "我生日就是{v}哈"),
        },
    },
    "job": {
        "values": {
            EN: ("optician", "physiotherapist", "civil engineer", "pastry chef", "tax adviser", "primary school teacher", "court interpreter", "product designer", "electrician"),
            ZH: ("牙医", "会计师", "厨师", "产品经理", "律师", "电工"),
        },
        "said": {
            EN: (
                "im {a_v} by profession btw",
                "I'm {a_v}, so explain it simply please",
                "for what it's worth, I work as {a_v}",
                "I do this as a hobby, my day job is {v}",
                "My occupation is {v}.",
                "speaking as {a_v}: this form is awful",
                "I'm {a_v} and I've never written code before",
                "I've been working as {a_v} for ages",
            ),
            ZH: ("我是个{v}，不太懂代码", "职业是{v}哈", "我做{v}的，你讲简单点", "本职工作是{v}", "我是一名{v}"),
        },
    },
    "hometown": {
        "values": {EN: ("Plovdiv", "Galway", "Tartu", "Boulder", "Vigo", "Košice", "Lublin", "Hobart"), ZH: ("扬州", "襄阳", "遵义", "烟台", "九江", "赣州")},
        "said": {
            EN: (
                "I'm from {v} btw",
                "im originally from {v}",
                "grew up in {v}, so yes I know snow",
                "{v} born and raised",
                "I was raised in {v} and moved away after school",
                "my home town's {v}",
                "I spent my whole childhood in {v}",
                "I come from {v}, you can hear it",
            ),
            ZH: ("我{v}人", "我老家{v}的", "小时候在{v}长大的", "我是从{v}出来的，老家在那", "我的老家嘛，{v}"),
        },
    },
    "rule": {
        "values": {EN: ("`make check`", "`ruff check`", "`pnpm test`", "`go vet ./...`", "`just ci`"), ZH: ("`make check`", "`ruff check`", "`pnpm test`", "`just ci`")},
        "said": {
            EN: (
                "always run {v} before committing pls",
                "from now on please do {v} before any commit",
                "never ever commit without {v} passing first",
                "remember: {v} before each commit",
                "going forward, run {v} every time before you commit",
                "Before every commit you run {v}. Always.",
                "pls make sure to always run {v} before a commit",
                "whenever you commit, run {v} first",
            ),
            ZH: ("以后提交前都跑下 {v}", "记住每次commit之前跑 {v}", "往后每次提交，先跑 {v}", "提交前必须跑 {v}，别忘了", "永远先跑 {v} 再提交"),
        },
    },
    "home": {
        "values": {
            EN: ("Basel", "Rennes", "Malaga", "Duluth", "Turku", "Limerick", "Lund", "Padua", "Boise", "Nantes"),
            ZH: ("南京", "福州", "郑州", "济南", "无锡", "重庆"),
        },
        "said": {
            EN: (
                "im in {v} btw, in case the timezone matters",
                "I'm living over in {v}",
                "we're in {v}, been here for ages",
                "my place is in {v}, top floor",
                "I live just outside {v}, it's quiet",
                "Home's {v}.",
                "I've been in {v} for about 4 years now and I still get lost",
                "i live in {v} w my sister",
                "based in {v}, fyi",
            ),
            ZH: ("我人在{v}", "我住{v}这边", "家在{v}，所以有时差", "我这几年都住{v}", "住在{v}，离公司近"),
        },
        "named": {
            EN: (
                "so we moved, {old} -> {new}, because {why}",
                "I'm no longer in {old}, we're in {new} now cos {why}",
                "left {old} for {new} in the end because {why}",
                "Since {why}, I moved out of {old} and over to {new}.",
                "{why}, so I've moved from {old} to {new}",
                "correction to what I said earlier: I don't live in {old} any more, it's {new} now (because {why})",
                "I used to be in {old} but I live in {new} these days, as {why}",
                "goodbye {old}, hello {new}! we moved because {why}",
            ),
            ZH: (
                "我从{old}搬来{new}住了，因为{why}",
                "{why}，所以我从{old}搬到{new}了",
                "现在不住{old}了哈，住{new}，因为{why}",
                "之前在{old}住，后来搬{new}了，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "we ended up moving to {new} because {why}",
                "I'm in {new} now, bc {why}",
                "just got settled in {new}, because {why}",
                "{why}, so I've moved to {new}",
                "fyi my address changed, I'm living in {new} as of this month because {why}",
                "since {why}, home is now {new}",
                "I finally made the move to {new} because {why}",
                "moved to {new} last month btw, {why}",
            ),
            ZH: ("我搬{new}来了，因为{why}", "{why}，所以现在住{new}了", "刚搬的家，现在在{new}，因为{why}", "这个月起我住{new}，因为{why}"),
        },
        "reasons": {
            EN: ("my lease ran out", "our daughter starts uni there", "it was getting too expensive", "I wanted to be by the sea", "my boyfriend is from there"),
            ZH: ("租约到期了", "想离海近一点", "孩子转学了", "那边房子便宜"),
        },
    },
    "employer": {
        "values": {
            EN: ("Lantern Health", "Mosaic Insurance", "Petrel Systems", "Ardent Studios", "Northgate Rail", "Bluebird Analytics", "Corvid Games", "Hartmann Optik", "Zephyr Tools"),
            ZH: ("晨光教育", "鼎新制造", "青禾农业", "联瑞电子", "同舟设计"),
        },
        "said": {
            EN: (
                "I'm at {v}, fyi",
                "my day job is at {v}",
                "i work over at {v} and we have a weird expense policy",
                "I'm employed by {v} btw",
                "I've been with {v} since 2019",
                "currently working for {v}",
                "the company i work at is {v}",
                "{v} is where I work",
            ),
            ZH: ("我在{v}这边上班", "公司是{v}", "我是{v}的", "目前就职{v}", "我在{v}打工"),
        },
        "named": {
            EN: (
                "I've moved on from {old}, I'm with {new} now because {why}",
                "quit {old} and started at {new} because {why}",
                "no longer at {old} btw, I'm at {new} now since {why}",
                "{why}, so I left {old} and joined {new}",
                "I ended up leaving {old} for {new} because {why}",
                "I work at {new} now, not {old}. Reason: {why}.",
                "used to work at {old}, now I'm at {new}, cause {why}",
                "switched jobs from {old} to {new} bc {why}",
            ),
            ZH: (
                "我从{old}出来了，现在在{new}，因为{why}",
                "{why}，所以我离开{old}去{new}了",
                "已经不在{old}了，换到{new}上班，因为{why}",
                "之前在{old}，这个月起在{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "i'm now with {new} because {why}",
                "got a new job btw, I'm at {new} now cos {why}",
                "just started working for {new} because {why}",
                "{why}, so I took a job at {new}",
                "my new company is {new}, I switched because {why}",
                "as of this week I work at {new}, since {why}",
                "Ended up at {new} after all, because {why}.",
                "new employer: {new}, because {why}",
            ),
            ZH: ("我现在去{new}上班了，因为{why}", "换了份工作，在{new}，因为{why}", "{why}，所以我跳到{new}了", "新工作在{new}，因为{why}"),
        },
        "reasons": {
            EN: ("my contract was not renewed", "they offered me more money", "I was burnt out", "the office is round the corner", "I get to travel less"),
            ZH: ("合同到期了", "那边给得多", "太累了", "可以少出差"),
        },
    },
    "phone": {
        "values": {
            EN: ("Pixel 8a", "Galaxy A55", "iPhone 16", "Xiaomi 14", "Zenfone 11", "Fairphone 5", "Moto Edge 50"),
            ZH: ("红米K70", "小米15", "华为P70", "真我GT6", "努比亚Z60"),
        },
        "said": {
            EN: (
                "i'm on {a_v}, if that matters for the screenshots",
                "phone's {a_v} btw",
                "my phone? {a_v}.",
                "my daily phone is {a_v}",
                "The phone in my pocket is {a_v}.",
                "I own {a_v} and the browser on it is slow",
                "fyi I'm using {a_v} as my phone",
                "I've got {a_v}, that's my phone",
            ),
            ZH: ("手机是{v}", "我拿的是{v}手机", "我在用{v}，手机屏幕小", "我手机型号{v}", "用的{v}这款手机"),
        },
        "named": {
            EN: (
                "switched from the {old} to the {new} bc {why}",
                "I ditched my {old} and got {a_new} because {why}",
                "{why}, so I traded my {old} for {a_new}",
                "the {old} is gone, I'm on {a_new} now since {why}",
                "my phone's {a_new} now, not the {old} anymore, because {why}",
                "went from my {old} to {a_new} cos {why}",
                "Replaced the {old} with {a_new} because {why}.",
                "I don't use the {old} any longer, I'm on {a_new} now, as {why}",
            ),
            ZH: (
                "{old}不用了，换了{new}，因为{why}",
                "{why}，所以把{old}换成{new}了",
                "手机从{old}升级到{new}了，因为{why}",
                "之前用{old}，刚换{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I've got {a_new} now because {why}",
                "I'm now using {a_new}, because {why}",
                "just picked up {a_new} as my main phone because {why}",
                "{why}, so I'm on {a_new} now",
                "new phone btw: {a_new}, because {why}",
                "I upgraded to {a_new} last week cos {why}",
                "my phone's now {a_new}, as {why}",
                "I switched phones, I use {a_new} now because {why}",
            ),
            ZH: ("刚换了手机，{new}，因为{why}", "{why}，所以换{new}了", "现在手机用{new}，因为{why}", "新手机是{new}哈，因为{why}"),
        },
        "reasons": {
            EN: ("my old one died", "I sat on the other one", "the storage was full", "I needed a better camera", "my contract came with it"),
            ZH: ("旧的坏了", "被我坐碎了", "存储满了", "想拍照好一点"),
        },
    },
    "drink": {
        "values": {
            EN: ("green tea", "cold brew", "decaf", "ginger tea", "cappuccino", "lemon water", "jasmine tea", "cortado"),
            ZH: ("绿茶", "龙井", "冰美式", "热牛奶", "酸梅汤"),
        },
        "said": {
            EN: (
                "im a {v} drinker",
                "I drink {v} all day",
                "my drink is {v}, always was",
                "for me it's always {v} in the morning",
                "I start the day with {v}",
                "I mostly have {v} at work",
                "{v} is what I drink",
                "i drink a lot of {v} when i write",
            ),
            ZH: ("我爱喝{v}", "我天天喝{v}", "我工作的时候都喝{v}", "平时就喝{v}", "我喝的是{v}"),
        },
        "named": {
            EN: (
                "I've moved from {old} over to {new} because {why}",
                "swapped my {old} for {new} cos {why}",
                "{why}, so no more {old}, I drink {new} now",
                "i'm off {old}, drinking {new} now because {why}",
                "I've cut out {old} and have {new} instead because {why}",
                "I used to have {old}, now it's {new}, since {why}",
                "I dropped {old} and drink {new} now bc {why}",
                "I don't drink {old} any more, I drink {new}, as {why}",
            ),
            ZH: (
                "{old}戒了，现在喝{new}，因为{why}",
                "{why}，所以{old}换成{new}了",
                "不喝{old}了，改成{new}，因为{why}",
                "之前喝{old}，现在都喝{new}了，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I drink {new} now, {why}",
                "switched over to {new} because {why}",
                "{why}, so I drink {new} now",
                "these days it's {new} for me, because {why}",
                "I've started drinking {new} instead, since {why}",
                "my morning drink is now {new}, because {why}",
                "i only have {new} now bc {why}",
                "I went over to {new} cos {why}",
            ),
            ZH: ("现在改喝{new}，因为{why}", "{why}，所以我现在喝{new}", "我最近喝{new}，因为{why}", "饮料换成{new}了，因为{why}"),
        },
        "reasons": {
            EN: ("I was getting headaches", "my blood pressure is up", "I can't sleep otherwise", "coffee got too pricey", "my doctor told me off"),
            ZH: ("血压高", "老失眠", "医生不让", "太贵了"),
        },
    },
    "airline": {
        "values": {EN: ("Swiss", "SAS", "Delta", "Eurowings", "JetBlue", "Aegean", "ANA", "Cathay"), ZH: ("厦航", "山航", "首都航空", "天津航空")},
        "said": {
            EN: (
                "i fly {v} whenever i can",
                "for work trips I fly {v}",
                "my go-to airline is {v}",
                "I collect miles with {v}, that's my airline",
                "I always take {v} for flights",
                "airline-wise I'm with {v}",
                "If you book something: I fly {v}.",
                "fyi {v} is the airline i use",
            ),
            ZH: ("我飞{v}的", "我出差都飞{v}", "订票就订{v}，我一直坐这个", "我坐{v}比较多", "航司我用{v}"),
        },
        "named": {
            EN: (
                "I've gone off {old}, I fly {new} now because {why}",
                "switched airlines from {old} to {new} cos {why}",
                "{why}, so I dumped {old} for {new}",
                "no longer flying {old}, it's {new} now because {why}",
                "I fly {new} these days instead of {old} because {why}",
                "I ditched {old} and fly {new} now since {why}",
                "I used to fly {old}, now I'm with {new}, as {why}",
                "my airline's {new} now, not {old}, bc {why}",
            ),
            ZH: (
                "航空公司从{old}换{new}了，因为{why}",
                "{why}，所以不坐{old}了，坐{new}",
                "之前都坐{old}，现在改{new}，因为{why}",
                "不飞{old}了，现在飞{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I'm flying with {new} now, because {why}",
                "went over to {new} for flights bc {why}",
                "{why}, so I fly {new} now",
                "my new airline is {new}, because {why}",
                "I now take {new} on work trips because {why}",
                "btw for flights I use {new} now, because {why}",
                "I changed airline, I'm with {new} now cos {why}",
                "I've started flying {new} because {why}",
            ),
            ZH: ("现在出差改飞{new}，因为{why}", "{why}，所以现在坐{new}", "换航司了，现在是{new}，因为{why}", "我最近都飞{new}，因为{why}"),
        },
        "reasons": {
            EN: ("they dropped my route", "the delays got silly", "the fares are lower", "I got bumped twice", "the crew is nicer"),
            ZH: ("航线停了", "票便宜", "总是延误", "服务好一些"),
        },
    },
    "database": {
        "values": {
            EN: ("ClickHouse", "Postgres", "Firestore", "Neon", "Supabase", "Turso", "PlanetScale", "SQL Server"),
            ZH: ("ClickHouse", "Firestore", "openGauss", "SQL Server", "Doris"),
        },
        "said": {
            EN: (
                "we're on {v} for the db",
                "db is {v} btw",
                "the backend uses {v} as its database",
                "our data's in {v}",
                "we run {v} in production as the database",
                "fyi the database here is {v}",
                "this project runs on {v}, that's the db",
                "we use {v} to store everything",
            ),
            ZH: ("库用的是{v}", "数据库是{v}哈", "后端用{v}做数据库", "我们这边数据库用{v}", "项目的库是{v}"),
        },
        "named": {
            EN: (
                "we moved off {old} and onto {new} because {why}",
                "We moved from {old} to {new}, because {why}",
                "migrated from {old} -> {new} because {why}",
                "{why}, so we swapped {old} for {new}",
                "the db is {new} now instead of {old} cos {why}",
                "we ended up replacing {old} with {new} since {why}",
                "We're no longer on {old}; the database is now {new} because {why}.",
                "it used to be {old}, but the db is {new} now because {why}",
            ),
            ZH: (
                "库从{old}换到{new}了，因为{why}",
                "{why}，所以我们把{old}换成了{new}",
                "{old}不用了，数据库现在是{new}，因为{why}",
                "之前是{old}，现在数据库是{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "we're now on {new} because {why}",
                "the db is {new} now bc {why}",
                "we went with {new} for the database in the end because {why}",
                "{why}, so we migrated the db to {new}",
                "we've gone over to {new}, because {why}",
                "Database got moved to {new} because {why}.",
                "we switched the database over to {new} since {why}",
                "it's {new} for the database now, because {why}",
            ),
            ZH: ("库现在换{new}了，因为{why}", "{why}，所以数据库改用{new}了", "我们数据库上了{new}，因为{why}", "现在的库是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("the bill got out of hand", "we kept hitting locks", "it scales better", "our old host shut down", "the free tier ended"),
            ZH: ("账单太高", "老是锁表", "扩展方便", "免费额度没了"),
        },
    },
    "port": {
        "values": {EN: ("8088", "4000", "6060", "9443", "3333", "7007"), ZH: ("8088", "4000", "6060", "9443", "3333", "7007")},
        "said": {
            EN: (
                "api is on port {v} btw",
                "the api sits on port {v}",
                "the api runs at localhost:{v}",
                "our api is listening on {v}",
                "API port = {v}",
                "we have the api on port {v}",
                "fyi the API's port is {v}",
                "port {v} is the API",
            ),
            ZH: ("API 是 {v} 端口", "API 跑 {v}端口哈", "我们 API 用的 {v} 端口", "API 的端口就是 {v}"),
        },
        "named": {
            EN: (
                "the api moved from {old} to {new} because {why}",
                "we bumped the api port from {old} to {new} bc {why}",
                "{why}, so the api is on port {new} now instead of {old}",
                "the api isn't on {old} anymore, it listens on {new} now since {why}",
                "The API port is {new}, not {old} any more, because {why}.",
                "changed the api from port {old} to {new} cos {why}",
                "the api used to be on port {old}, it's on {new} now because {why}",
                "the api's no longer on {old}, we put it on {new} because {why}",
            ),
            ZH: (
                "API 从 {old} 端口挪到 {new} 了，因为{why}",
                "{why}，所以 API 端口从 {old} 换成 {new}",
                "API 端口不是 {old} 了，是 {new}，因为{why}",
                "之前 API 在 {old}，现在在 {new} 端口，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "the api is on port {new} now bc {why}",
                "api listens on {new} now, because {why}",
                "{why}, so the API port is {new} now",
                "we've put the api on port {new} because {why}",
                "the API's now at port {new} since {why}",
                "port for the api is {new} now, because {why}",
                "had to move the api to port {new} because {why}",
                "we ended up with port {new} for the API because {why}",
            ),
            ZH: ("API 端口换 {new} 了，因为{why}", "{why}，所以 API 现在用 {new} 端口", "API 挪到 {new} 端口了，因为{why}", "API 端口现在改成 {new}，因为{why}"),
        },
        "reasons": {
            EN: ("grafana sits on the old one", "the vpn eats it", "docker grabbed the other", "ops asked us to", "it kept colliding with the dev server"),
            ZH: ("被 grafana 占了", "VPN 不让走", "运维让改的", "老是冲突"),
        },
    },
}  # fmt: skip

HELD2_ITEMS: Mapping[str, Item] = {item.name: replace(item, **_ITEMS[item.name]) for item in ITEMS}  # type: ignore[arg-type]
"""Every item in this wording, with values of its own; the asides that only imply a change are those of `phrases`."""

HELD2_PAIRS: Mapping[tuple[str, str], Words] = {
    ("name", "job"): {
        EN: ("I'm {a}, {a_b} by trade.", "im {a} and i work as {a_b}", "My name is {a} and I'm {a_b}."),
        ZH: ("我叫{a}，职业是{b}。", "我是{a}，是个{b}"),
    },
    ("allergy", "dog"): {
        EN: ("I'm allergic to {a} and my dog is called {b}.", "two things: my dog's name is {b}, and i'm allergic to {a}"),
        ZH: ("我对{a}过敏，我的狗叫{b}。",),
    },
    ("hometown", "birthday"): {
        EN: ("I grew up in {a} and my birthday is {b}", "my birthday is on {b}, and I'm originally from {a}"),
        ZH: ("我老家在{a}，生日是{b}。",),
    },
}
"""Two things in one sentence: `{a}` and `{b}` are their values, `{a_b}` the second with its article."""

HELD2_BULLETS: Words = {
    EN: (
        "can you do that as bullet points instead?",
        "short bullet points please, no essays",
        "list it as bullets pls",
        "Could I have the summary in bullets rather than prose?",
        "bullets would be great, thx",
        "bullet points pls, im on my phone",
        "pls reply w bullet points",
        "can you put the answer into bullet points for me",
    ),
    ZH: ("分点说一下吧", "用列表的形式回我", "能列成要点吗", "要点形式就行，别写长文", "请一条一条列给我"),
}

HELD2_BEFORE: Words = {
    EN: ("", "", "btw ", "oh and ", "just so you know, ", "so, ", "can you rename the second column? also, ", "one more thing - ", "thx! ", "ah right, "),
    ZH: ("", "", "对了，", "顺便，", "哦还有，", "帮我看下第二列。另外，", "谢啦，"),
}
HELD2_AFTER: Words = {
    EN: ("", "", "", ". anyway, next step?", ". can you redo the chart?", " - ok back to work"),
    ZH: ("", "", "", "。继续吧", "。图再改一下？"),
}


def _traps(kind: str, *rows: tuple[str, str]) -> tuple[Trap, ...]:
    return tuple(Trap(kind=kind, text=text, values=tuple(values.split("|"))) for text, values in rows)


HELD2_TRAPS: Mapping[str, tuple[Trap, ...]] = {
    EN: (
        *_traps(
            "event",
            ("had pad see ew for lunch, so good", "pad see ew"),
            ("flew Pegasus once, never had so little legroom", "Pegasus"),
            ("we spent the long weekend in Ravenna and it was lovely", "Ravenna"),
            ("tried a mangonada at the fair, delicious", "mangonada"),
            ("I was on a Blackview for two days while mine was charging at home", "Blackview"),
            ("drank way too much sangria on friday", "sangria"),
            ("I stayed with friends in Tarragona last summer, loved the beach", "Tarragona"),
            ("ran the prototype on H2 yesterday just to see, worked fine", "H2"),
        ),
        *_traps(
            "other",
            ("my roommate's allergic to cinnamon so no cinnamon rolls in the office", "cinnamon"),
            ("Priyanka from support moved to Rotterdam btw", "Rotterdam"),
            ("mum's dog is called Biscotti", "Biscotti"),
            ("my gf works at Ocado", "Ocado"),
            ("the client is on Sybase", "Sybase"),
            ("my kid can't have blueberries, he's allergic", "blueberries"),
            ("our CTO drinks yerba mate all day because coffee makes him shaky", "yerba mate"),
            ("my brother in law used to fly Vueling, now he's with Transavia because it's cheaper", "Vueling|Transavia"),
            ("grandpa's birthday is 17 July", "17 July"),
            ("met Dana yesterday. she works at Zalando now", "Zalando"),
            ("my mate Lars switched from an HTC One to an LG Wing because he sat on it", "HTC One|LG Wing"),
            ("my parents live in Trieste, so we go there a lot", "Trieste"),
            ("the platform team moved off Aerospike and onto Scylla because it was slow", "Aerospike|Scylla"),
            ("fyi half my team is allergic to cats", "cats"),
        ),
        *_traps(
            "joke",
            ("i live in a pineapple under the sea haha", "pineapple"),
            ("my day job is being Spider-Man, jk", "Spider-Man"),
            ("my dog's called Kernel Panic lol", "Kernel Panic"),
            ("i switched from coffee to jet fuel, lmao", "jet fuel"),
            ("I'm allergic to losing, haha", "losing"),
            ("we store everything in a fax machine now 🤣", "fax machine"),
            ("my name is Bond, James Bond, just kidding", "Bond"),
            ("I fly broomstick only, haha", "broomstick"),
        ),
        *_traps(
            "dry_joke",
            ("I'm allergic to standups.", "standups"),
            ("im allergic to early mornings tbh", "early mornings"),
            ("I practically live in Jira.", "Jira"),
            ("I'm allergic to legacy code.", "legacy code"),
            ("my phone is a potato", "potato"),
            ("Apparently I work for my inbox now.", "my inbox"),
        ),
        *_traps(
            "hypothetical",
            ("if i was in Alaska i'd need a bigger coat", "Alaska"),
            ("say we were on Vertica, would the query be faster?", "Vertica"),
            ("Let's assume I'm allergic to fennel, what would you swap it for?", "fennel"),
            ("suppose I moved from here to Tbilisi, what about tax?", "Tbilisi"),
            ("what if my employer was Patagonia", "Patagonia"),
            ("imagine I'm a beekeeper, how would you explain it", "beekeeper"),
            ("if we'd gone with RethinkDB this would be over", "RethinkDB"),
            ("Hypothetically, my phone is a Sidekick. What then?", "Sidekick"),
        ),
        *_traps(
            "wish",
            ("i wish i lived in Funchal", "Funchal"),
            ("would love to work at NASA tbh", "NASA"),
            ("i really want a dog called Sputnik", "Sputnik"),
            ("one day I'll move to Queenstown, you'll see", "Queenstown"),
            ("hoping to switch to a Leica phone at some point", "Leica"),
            ("I'd kill for a horchata right now", "horchata"),
            ("if only we used Spanner", "Spanner"),
            ("my plan is to become a ferry captain when I'm fifty", "ferry captain"),
        ),
        *_traps(
            "question",
            ("am i allergic to turmeric or is that just a rash?", "turmeric"),
            ("should we move from what we have to Dgraph?", "Dgraph"),
            ("do you think i should live in Delft", "Delft"),
            ("isn't my dog called Bandit in that file?", "Bandit"),
            ("could the api be on port 5656?", "5656"),
            ("would you fly Wideroe in winter?", "Wideroe"),
            ("why does it say I work at Tchibo?", "Tchibo"),
            ("is it true that I was born in Minsk, according to that form?", "Minsk"),
        ),
        *_traps(
            "hedged",
            ("might move to Bilbao, not sure yet", "Bilbao"),
            ("we're toying with the idea of moving to Fauna", "Fauna"),
            ("i could be allergic to paprika, waiting for the test", "paprika"),
            ("probably going to join Bosch Rexroth but nothing's signed", "Bosch Rexroth"),
            ("I guess I might get a Razr next", "Razr"),
            ("we may end up on port 1212, tbd", "1212"),
            ("not sure but I think I could switch to Azores Airlines", "Azores Airlines"),
            ("I'm considering a job at Dyson", "Dyson"),
        ),
        *_traps(
            "feeling",
            ("im so done today", "done"),
            ("I hate mondays", "mondays"),
            ("ugh i can't stand this printer", "printer"),
            ("loving this playlist", "playlist"),
            ("I'm dead inside after that call", "dead inside"),
            ("i could murder a milkshake", "milkshake"),
            ("I'm stuck", "stuck"),
            ("I feel like a zombie", "zombie"),
        ),
        Trap(
            kind="role_play", text="ok let's do a mock interview, you ask and I'll answer as someone called Rex Harlan", values=("Wonka Industries", "Metropolis", "Rex Harlan"),
            after=("hi, I work at Wonka Industries and I live in Metropolis", "ok cool, mock interview over"),
        ),
        Trap(kind="role_play", text="pretend i'm a vampire called Lucian and write my bio", values=("vampire", "Lucian")),
        Trap(kind="role_play", text="In my novel I'm a smuggler from Tortuga and my phone is a Communicator.", values=("smuggler", "Tortuga", "Communicator")),
        Trap(kind="role_play", text="Let's act out a hotel check-in, I'm the guest.", values=("truffles", "Narnia"), after=("Hello, I'm allergic to truffles and I come from Narnia.", "ok end scene")),
        *_traps(
            "pasted",
            ("pls fix the typos:\n\n> hello, i am Renata, i works at Embraer and live in Recife", "Renata|Embraer|Recife"),
            ("rewrite this more formally: \"I moved from Genk to Hasselt because my wife asked. I drink Fanta.\"", "Genk|Hasselt|Fanta"),
            ("what do you think of this letter?\n\nDear Sirs,\nMy name is Oskar. I live in Gdynia and I am allergic to mint.\n", "Oskar|Gdynia|mint"),
            ("the reviewer wrote:\n\"\"\"\nWe use Informix and our API is on port 2323.\n\"\"\"\nhow do I reply", "Informix|2323"),
        ),
    ),
    ZH: (
        *_traps("event", ("中午吃了煲仔饭，不错", "煲仔饭"), ("上个月在阳朔玩了几天，很美", "阳朔"), ("昨天喝了杯荔枝冰，好喝", "荔枝冰"), ("周五坐了回华夏航空，挤死了", "华夏航空")),
        *_traps(
            "other",
            ("我男朋友在网易上班", "网易"),
            ("邻居家的狗叫可乐", "可乐"),
            ("隔壁部门从Kudu换成了Hive，因为便宜", "Kudu|Hive"),
            ("我表哥搬到乌鲁木齐了", "乌鲁木齐"),
            ("客户那边对接的 API 是 5566 端口", "5566"),
            ("我妈对螃蟹过敏", "螃蟹"),
            ("我奶奶生日是7月17日", "7月17日"),
            ("组长以前喝可口可乐，现在喝王老吉，因为血糖高", "可口可乐|王老吉"),
        ),
        *_traps("joke", ("我住在海底的菠萝里哈哈", "菠萝"), ("我的本职是蜘蛛侠，开玩笑啦", "蜘蛛侠"), ("我家狗叫蓝屏，逗你的", "蓝屏")),
        *_traps("dry_joke", ("我对早会过敏", "早会"), ("我对周报过敏。", "周报")),
        *_traps("hypothetical", ("要是我住在漠河，得买件大衣", "漠河"), ("假如我们用Vertica，会快一点吗", "Vertica"), ("如果我是养蜂人，你会怎么解释？", "养蜂人")),
        *_traps("wish", ("真想去威海住啊，可惜没钱", "威海"), ("好想去任天堂上班", "任天堂"), ("以后想养只狗叫卫星", "卫星")),
        *_traps("question", ("我是对姜黄过敏吗？", "姜黄"), ("API 改成 5656 端口行不行？", "5656"), ("我应该搬到珠海还是汕头？", "珠海|汕头")),
        *_traps("hedged", ("可能会搬去北海，还没定", "北海"), ("我们在想要不要换Fauna", "Fauna"), ("我大概对辣椒粉过敏，等结果", "辣椒粉")),
        *_traps("feeling", ("今天真的够了", "够了"), ("烦死这台打印机了", "打印机"), ("感觉自己像僵尸", "僵尸")),
        Trap(kind="role_play", text="来一场模拟面试，你来问，我扮演一个叫雷克斯的人", values=("旺卡工厂", "大都会", "雷克斯"), after=("你好，我在旺卡工厂上班，住在大都会", "好了，模拟面试结束")),
        Trap(kind="role_play", text="在我的小说里，我是个走私犯，老家在龟岛", values=("走私犯", "龟岛")),
        *_traps("pasted", ("改下错别字：\n\n> 您好，我叫雷娜塔，在巴航上班，住在累西腓", "雷娜塔|巴航|累西腓"), ("这段话怎么改正式点：“我从根特搬到哈瑟尔特了，因为老婆想去。”", "根特|哈瑟尔特")),
    ),
}  # fmt: skip
