"""The third held-out wording of a world, as thirty different people would say it: dictated, terse, chatty, British, Indian, from other tongues, put right inside the sentence.

Written on 30 November 2026 by somebody who had read `phrases` and `held_out2`, but neither the engine nor any failure of either, and measured once before anything was
mended after it. Run it with `--half held3`.

First measure (30 November, seeds 1, 7, 11, 23, 42, 101; before any mend): others' values 0, moods stored 8 to 9 %, recall 36 to
43 %, precision 64 to 68 %, old shown as current 8 to 12 %, History 29 to 38 %, allergies 4 to 9 of 20, bullet points 20 of 20.
Second, after `held_out2` was mended and nothing of this one looked at: the same but for a point of History (30 to 40 %): what mends one wording does not reach another. Then its
moods, wrong values, allergies and unread changes were looked at: moods 0, recall 57 to 66 %, precision 90 to 93 %, old 13 to 20 %, History 50 to 59 %, allergies 18 to 20. It is
a development set now, with much left to mend.

The values are other ones too, so that a rule that knows a value by name is found out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.worlds.phrases import EN, ITEMS, ZH, Item, Trap, Words

_ITEMS: Mapping[str, Mapping[str, Words]] = {
    "allergy": {
        "values": {
            EN: ("lupin seeds", "turbot", "raspberries", "sulfa drugs", "hazelnut", "squid", "buckwheat", "lentils", "house dust", "iodine"),
            ZH: ("荔枝", "螃蟹肉", "阿司匹林", "榛果", "荞麦", "鱿鱼"),
        },
        "said": {
            EN: (
                "okay so one thing you should know um I'm allergic to {v}",
                "I am having an allergy to {v}, kindly note.",
                "Since I was a child I am allergic against {v}.",
                "allergies: {v}",
                "Could you swap that recipe for something else? I can't do {v}, I come out in hives.",
                "I'm afraid I'm rather allergic to {v}.",
                "{v} is a no-go for me, I'm allergic.",
                "My allergy is {v}, nothing else.",
                "The allergist says it's {v} I'm allergic to.",
                "I get an allergic reaction from {v}, so never put it on the list.",
                "I've got a severe allergy: {v}.",
                "turns out my rash was an allergy, I'm allergic to {v}",
            ),
            ZH: ("我这人对{v}过敏，你记一下", "吃饭的时候注意点，我{v}过敏", "查出来了，我对{v}过敏", "过敏原：{v}，我的", "我一吃{v}就过敏"),
        },
    },
    "name": {
        "values": {
            EN: (
                "Anil Deshpande", "Rosalind Pike", "Mateus Carvalho", "Kerstin Vogt", "Fatima Zahra", "Declan Hurley", "Noor Siddiqui", "Stefan Ilic", "Meera Pillai", "Gwen Trevithick",
                "Luca Bertolini", "Asha Menon",
            ),
            ZH: ("钱思齐", "孟晓岚", "顾承泽", "白若兰", "夏知远", "方亦晨"),
        },
        "said": {
            EN: (
                "Myself {v}.",
                "hello my name's {v} and I'm new here",
                "{v} is my name, just so it's on the record",
                "you can address me as {v}, it's my full name",
                "This is {v} speaking.",
                "I'm {v}, nice to meet you.",
                "My name is spelled {v}, please get it right in the letter.",
                "People know me as {v}.",
                "name: {v}",
                "and the author, that is me, is called {v}",
            ),
            ZH: ("大家好，我是{v}", "我名叫{v}，记得写对", "我的大名是{v}", "作者就是我，{v}", "称呼我{v}就行，这是我的全名"),
        },
    },
    "dog": {
        "values": {EN: ("Simba", "Poppy", "Toffee", "Brutus", "Laika", "Marmalade", "Dobby", "Freya"), ZH: ("花卷", "汤圆", "饭团", "黑豆", "将军", "乐乐")},
        "said": {
            EN: (
                "sorry for the noise that's {v} my dog",
                "I'm having one dog, his name is {v}.",
                "There's a dog in the house, {v}, and she's ours.",
                "the dog (she's called {v}) is asleep on my keyboard",
                "Our dog answers to {v}.",
                "We named our dog {v} after a book.",
                "I've had my dog {v} since lockdown",
                "I must walk the dog at six, {v} doesn't wait.",
                "I own a dog by the name of {v}.",
                "my pup's name is {v}",
            ),
            ZH: ("{v}在叫，它是我养的狗", "我给我的狗起名叫{v}", "我养狗的，叫{v}", "家里有条狗，名字叫{v}", "我那只狗，{v}，又饿了"),
        },
    },
    "birthday": {
        "values": {
            EN: ("9 April", "18 July", "28 February", "1 December", "25 October", "6 May", "13 September"),
            ZH: ("4月9日", "7月18日", "2月28日", "12月1日", "10月25日"),
        },
        "said": {
            EN: (
                "my date of birth is {v}",
                "I turn forty on {v}",
                "my birthday comes on {v} every year",
                "{v} is the day I was born",
                "Please don't schedule anything for {v}, that's my birthday.",
                "It's my birthday on {v}.",
                "Birthday: {v}.",
                "I am born on {v}.",
                "when is my birthday again, right, {v}",
                "my birthday isn't in the summer, it's on {v}",
            ),
            ZH: ("我出生日期是{v}", "{v}是我出生的日子", "我每年{v}过生日", "记一下，我的生日在{v}", "{v}那天是我的生日，我不上班"),
        },
    },
    "job": {
        "values": {
            EN: ("radiographer", "beekeeping instructor", "quantity surveyor", "tram driver", "speech therapist", "patent attorney", "glass artist", "school librarian", "actuary"),
            ZH: ("药剂师", "建筑师", "记者", "裁缝", "导游", "图书管理员"),
        },
        "said": {
            EN: (
                "By qualification I am {a_v}.",
                "I earn my bread as {a_v}",
                "what do I do for a living well I'm {a_v}",
                "I trained as {a_v} and that's still what I do",
                "profession: {v}",
                "as {a_v} I see this kind of form all the time",
                "I'm {a_v}, nothing to do with computers",
                "I make my living as {a_v}.",
                "I work as {a_v} since ten years.",
                "my job is {v}, has been for decades",
            ),
            ZH: ("我干的是{v}这行", "我从事{v}工作", "我就是个{v}，别讲太深", "我靠做{v}吃饭", "我的职业：{v}"),
        },
    },
    "hometown": {
        "values": {EN: ("Mysuru", "Whitby", "Ponferrada", "Klagenfurt", "Gdansk", "Duluth Heights", "Nagpur", "Viseu"), ZH: ("嘉兴", "南阳", "宜宾", "潍坊", "景洪", "韶关")},
        "said": {
            EN: (
                "My native place is {v}.",
                "I hail from {v}.",
                "{v} is where I grew up",
                "I'm a {v} lad, born and bred.",
                "I was born in {v} and lived there till I was eighteen",
                "my family is from {v}, I grew up there",
                "Originally? {v}.",
                "I'm coming from {v}, you hear the accent.",
                "Where I'm from: {v}.",
                "I spent my youth in {v}",
            ),
            ZH: ("我老家是{v}那边的", "我打小在{v}长大", "我祖籍{v}，在那长大", "我是土生土长的{v}人", "{v}是我的家乡"),
        },
    },
    "rule": {
        "values": {EN: ("`make verify`", "`hatch run lint`", "`yarn typecheck`", "`mypy .`", "`bundle exec rubocop`"), ZH: ("`make verify`", "`yarn typecheck`", "`mypy .`", "`gradle check`")},
        "said": {
            EN: (
                "No commit without {v}, ever.",
                "Kindly ensure you always run {v} before committing.",
                "I want you to always run {v} before you commit anything",
                "Rule for this repo: {v} before every commit.",
                "{v} first, then commit, every single time please",
                "please get into the habit of running {v} before each commit from now on",
                "You must always run {v} prior to committing.",
                "Don't ever commit until {v} is green.",
                "in future run {v} before you commit",
                "each time you are about to commit, run {v}",
            ),
            ZH: ("以后只要提交，就先跑 {v}", "规矩：提交前先跑 {v}，每次都要", "今后提交之前都先执行 {v}", "没跑过 {v} 一律不准提交", "每次提交前都必须运行 {v}"),
        },
    },
    "home": {
        "values": {
            EN: ("Pune", "Norwich", "Zaragoza", "Innsbruck", "Wroclaw", "Savannah", "Kochi", "Galway City", "Trondheim", "Liège"),
            ZH: ("徐州", "太原", "唐山", "南宁", "海口", "长春"),
        },
        "said": {
            EN: (
                "I am staying in {v} only.",
                "I'm calling from {v}, that's where I live",
                "I'm a resident of {v}.",
                "we live in a small flat in {v}",
                "home is {v}, so central time doesn't help me",
                "I am living in {v} since three years.",
                "I live in the middle of {v}",
                "Where do I live? {v}.",
                "my address is in {v}",
                "our house is in {v}, near the river",
                "I'm currently living in {v}",
            ),
            ZH: ("我住的地方在{v}", "我目前住在{v}", "我一家人都住{v}", "我住{v}市中心", "我常住{v}"),
        },
        "named": {
            EN: (
                "We have shifted from {old} to {new} because {why}.",
                "okay update we don't live in {old} anymore we live in {new} now because {why}",
                "I packed up in {old} and moved to {new}, mainly because {why}.",
                "As {why}, we've upped sticks from {old} to {new}.",
                "not {old} any more, I live in {new} now, because {why}",
                "I sold the place in {old} and bought one in {new} because {why}.",
                "{why}. So I moved from {old} to {new}.",
                "My move from {old} to {new} is done; I moved because {why}.",
                "Instead of {old} I live in {new} now because {why}.",
                "I said {old} before, but I've since moved to {new}, because {why}.",
                "Until recently I lived in {old}, now I live in {new}, because {why}.",
            ),
            ZH: (
                "我已经不在{old}住了，搬到了{new}，因为{why}",
                "因为{why}，我们一家从{old}搬到{new}来了",
                "我把{old}的房子退了，现在住{new}，因为{why}",
                "我原来住{old}，现在搬到{new}了，因为{why}",
                "{why}，就从{old}搬到{new}了，我现在住这",
            ),
        },
        "unnamed": {
            EN: (
                "I live in {new} these days, because {why}",
                "We've shifted to {new} because {why}.",
                "We're in {new} now. Moved because {why}.",
                "because {why} I now live in {new}",
                "My address has changed to {new}, because {why}.",
                "so {why} and long story short we live in {new} now",
                "I relocated to {new}, seeing as {why}.",
                "It's {new} I live in now, since {why}.",
                "Since January we are living in {new}, because {why}.",
                "{new} is home now, because {why}",
                "I'm in Porto, no sorry, in {new} now, because {why}",
            ),
            ZH: ("我如今住在{new}，因为{why}", "我家搬到{new}去了，因为{why}", "因为{why}，我现在人住{new}", "我刚搬到{new}，因为{why}", "现在我住的是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("the schools are better", "my husband got transferred", "we couldn't afford the mortgage", "I wanted to be near my grandchildren", "the damp was making us ill"),
            ZH: ("学校更好", "丈夫调动了", "还不起房贷", "老房子太潮"),
        },
    },
    "employer": {
        "values": {
            EN: ("Silverline Freight", "Mahua Textiles", "Pennine Water", "Larkspur Dental", "Norrland Pulp", "Cobalt Bikes", "Sundial Software", "Ferrovia Sud", "Harbour Trust"),
            ZH: ("长风软件", "瑞和保险", "九州出版", "绿野农场", "天工机械"),
        },
        "said": {
            EN: (
                "I am working in {v}.",
                "I'm on the payroll of {v}",
                "{v} pays my salary",
                "I do accounts for a living at {v}",
                "my employer's {v}, the one with the blue vans",
                "I've been working at {v} for three years now",
                "where I work: {v}",
                "My workplace is {v}.",
                "I have a job at {v}",
                "I'm an employee of {v}.",
            ),
            ZH: ("我上班的公司是{v}", "我在{v}做事", "我供职于{v}", "我单位是{v}", "我在{v}任职好几年了"),
        },
        "named": {
            EN: (
                "I have resigned from {old} and joined {new} because {why}.",
                "I'm not with {old} anymore I'm with {new} now because {why}",
                "I jumped ship from {old} to {new} because {why}.",
                "{why}. That's why I left {old} for {new}.",
                "After {old} I started at {new}, because {why}.",
                "I was at {old} until May, now I work for {new}, because {why}",
                "my employer isn't {old} any longer, it's {new}, because {why}",
                "Given that {why}, I moved from {old} to {new}.",
                "I've swapped {old} for {new} as my employer because {why}",
                "I work for {new} now rather than {old} because {why}.",
            ),
            ZH: (
                "我从{old}辞职了，现在在{new}，因为{why}",
                "因为{why}，我不在{old}做了，去了{new}",
                "我原来在{old}，现在到{new}了，因为{why}",
                "我由{old}跳到{new}了，因为{why}",
                "{old}我不干了，现在在{new}上班，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I work at {new} these days because {why}",
                "I got hired by {new} and took it because {why}",
                "because {why} I've joined {new}",
                "My new employer is {new}, as {why}.",
                "I have joined {new} recently because {why}.",
                "well I changed jobs, it's {new} now, because {why}",
                "I'm working for {new} now on account of the fact that {why}",
                "Change of job: {new}. Because {why}.",
                "I've been at {new} since last week because {why}",
                "these days it's {new} that employs me, because {why}",
            ),
            ZH: ("我现在任职于{new}，因为{why}", "我换单位了，现在是{new}，因为{why}", "因为{why}，我来{new}上班了", "我刚入职{new}，因为{why}", "我现在的公司是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("the shifts were killing me", "I wanted to work closer to home", "they closed our branch", "the pay was a joke", "I fell out with the director"),
            ZH: ("倒班太累", "想离家近点", "分公司关了", "和主管合不来"),
        },
    },
    "phone": {
        "values": {
            EN: ("Pixel 7", "Galaxy Z Flip 6", "iPhone SE", "Redmi Note 13", "Honor Magic 6", "Fairphone 6", "Realme 12"),
            ZH: ("红米Note 13", "小米Civi 4", "华为Nova 12", "魅族21", "三星S24"),
        },
        "said": {
            EN: (
                "I am using {a_v}, that's my handset.",
                "the mobile I have is {a_v}",
                "my mobile's {a_v}",
                "phone: {v}",
                "I've got {a_v} for a phone",
                "I make all my calls on {a_v}, it's my only phone",
                "I'm typing this on my phone, {a_v}",
                "My phone's a Nokia, no, hang on, {a_v}.",
                "What phone do I have? {a_v}.",
                "as a phone I have {a_v}",
            ),
            ZH: ("我这手机是{v}", "我手机，{v}", "我一直用的手机是{v}", "我手上这部手机是{v}", "我的手机就是{v}，够用了"),
        },
        "named": {
            EN: (
                "I gave my {old} away and use {a_new} now because {why}",
                "I have changed my phone from {old} to {new} because {why}.",
                "bye bye {old}, I have {a_new} as my phone now, because {why}",
                "{why}. So the {old} went and {a_new} came.",
                "I upgraded from the {old} to the {new} because {why}",
                "I'm done with the {old} and on {a_new} now because {why}",
                "My phone isn't the {old} anymore, it's {a_new}, because {why}.",
                "The {old} has been replaced by {a_new} because {why}.",
                "Due to the fact that {why}, I exchanged my {old} for {a_new}.",
                "I had {a_new} put in place of my {old} because {why}",
            ),
            ZH: (
                "我手机原来是{old}，现在是{new}，因为{why}",
                "因为{why}，我的手机从{old}换成了{new}",
                "我把{old}卖了，现在用{new}，因为{why}",
                "我的{old}不用了，手机换成{new}，因为{why}",
                "{old}退役了，我现在的手机是{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I'm using {a_new} these days because {why}",
                "So I went and bought {a_new}, that's my phone now, because {why}.",
                "because {why} I now have {a_new} as my phone",
                "My new phone is {a_new}, because {why}.",
                "I have taken {a_new} as my new phone because {why}.",
                "Got myself a new mobile, {a_new}, because {why}.",
                "it's {a_new} I carry around now, as {why}",
                "my phone is {a_new} from now on because {why}",
                "I've moved to {a_new} as my phone since {why}",
                "Phone change: {new}, because {why}.",
            ),
            ZH: ("我的手机换成了{new}，因为{why}", "我新买了{new}当手机用，因为{why}", "因为{why}，我手机改用{new}了", "我现在的手机是{new}，因为{why}", "我入手了{new}，现在用它，因为{why}"),
        },
        "reasons": {
            EN: ("the old one kept freezing", "the speaker broke", "my son needed one", "I couldn't hear people any more", "the bank app stopped working"),
            ZH: ("老是死机", "喇叭坏了", "儿子要用", "银行软件不支持了"),
        },
    },
    "drink": {
        "values": {
            EN: ("filter coffee", "builder's tea", "masala chai", "hibiscus tea", "flat whites", "barley water", "sencha", "hot lemon"),
            ZH: ("红茶", "铁观音", "酸奶", "大麦茶", "咖啡"),
        },
        "said": {
            EN: (
                "I take {v} in the mornings.",
                "I can't start work without {v}, I drink it daily",
                "I'm a {v} person",
                "what I drink is {v}",
                "{v} is my drink",
                "I am drinking {v} daily.",
                "I run on {v}",
                "I drink {v} with breakfast every day",
                "my tipple at work is {v}",
                "I always drink {v} when I read",
            ),
            ZH: ("我一直喝{v}", "我上班必喝{v}", "我习惯喝{v}", "我只喝{v}", "我每天早上都喝{v}"),
        },
        "named": {
            EN: (
                "I have stopped {old} and am taking {new} nowadays because {why}.",
                "I've packed in the {old} and drink {new} now because {why}",
                "{why}. So it's {new} now instead of {old}.",
                "I used to drink {old} but now I drink {new} because {why}",
                "I don't touch {old} any more, I drink {new} now, because {why}",
                "I replaced {old} with {new} because {why}",
                "I moved on from {old} to {new} because {why}",
                "{new} for me now, not {old}, because {why}",
                "I've quit {old} and I'm drinking {new} now because {why}.",
                "Rather than {old} I drink {new} now since {why}.",
            ),
            ZH: (
                "我以前喝{old}，现在改喝{new}了，因为{why}",
                "因为{why}，我不喝{old}，改喝{new}了",
                "我把{old}换成了{new}，因为{why}",
                "{old}我不喝了，现在喝{new}，因为{why}",
                "我从喝{old}改成喝{new}了，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "{new} it is from now on, because {why}",
                "I'm on {new} these days because {why}",
                "I am now taking {new} only because {why}.",
                "because {why} I drink {new} now",
                "I've taken to drinking {new} because {why}",
                "nowadays I drink {new}, because {why}",
                "I've changed what I drink, it's {new} now, because {why}",
                "my drink is {new} now, because {why}",
                "I've got into {new}, I drink it every day now because {why}",
                "my usual has changed to {new}, because {why}",
            ),
            ZH: ("我如今喝{new}，因为{why}", "我现在都喝{new}了，因为{why}", "因为{why}，我开始喝{new}了", "我现在习惯喝{new}，因为{why}", "我现在的饮料是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("I was shaking all afternoon", "the nurse recommended it", "my teeth went yellow", "I had heartburn every night", "we have a proper machine at last"),
            ZH: ("手抖", "护士建议的", "牙齿变黄了", "晚上烧心"),
        },
    },
    "airline": {
        "values": {EN: ("Icelandic Air", "Vistara", "Air Dolomiti", "LOT", "Edelweiss Air", "Flybe", "IndiGo", "Alaska Airlines"), ZH: ("春航", "吉祥", "祥鹏", "长安航空")},
        "said": {
            EN: (
                "I am always travelling by {v}.",
                "{v} is my airline",
                "when I fly it's with {v}",
                "I fly {v} when I visit clients",
                "preferred airline: {v}",
                "I stick with {v} for all my flights",
                "For flying I use {v}, I have the gold card.",
                "I book {v} when I have to fly",
                "we fly {v}, my company has a contract",
                "my airline of choice is {v}",
            ),
            ZH: ("我坐飞机都选{v}", "我的航司是{v}", "我出差都买{v}的票", "我飞机一直坐{v}", "我出行坐{v}"),
        },
        "named": {
            EN: (
                "I have stopped flying {old}, now I'm flying {new}, because {why}.",
                "I gave up on {old} and fly {new} now because {why}",
                "{why}. So I switched from {old} to {new} for flights.",
                "My airline used to be {old} and now it's {new}, because {why}.",
                "I'm with {new} for flights now, {old} is history, because {why}",
                "I've left {old} for {new} as my airline because {why}",
                "I fly {new} rather than {old} now because {why}",
                "not {old} any more, I fly {new} now, since {why}",
                "I moved all my flights from {old} to {new} because {why}",
                "I won't fly {old} again, I fly {new} now because {why}",
            ),
            ZH: (
                "我以前坐{old}，现在改坐{new}了，因为{why}",
                "因为{why}，我不坐{old}，改坐{new}了",
                "我的航司从{old}换成了{new}，因为{why}",
                "{old}我不坐了，现在坐{new}，因为{why}",
                "我从坐{old}改成坐{new}了，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "I fly {new} nowadays because {why}",
                "{new} is my airline now, because {why}",
                "because {why} I fly with {new} now",
                "I am flying {new} these days because {why}.",
                "From now on I fly {new}, because {why}.",
                "my new airline's {new}, as {why}",
                "I've gone with {new} for my flights because {why}",
                "I only fly {new} now because {why}",
                "I've changed my airline to {new}, because {why}",
                "My airline changed, it's {new} now, because {why}.",
            ),
            ZH: ("我如今坐{new}，因为{why}", "我的航司换成{new}了，因为{why}", "因为{why}，我现在坐{new}", "我现在都坐{new}了，因为{why}", "我现在的航空公司是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("they stopped serving my airport", "the strikes never end", "I get free baggage", "they were rude to my mother", "my company has a deal"),
            ZH: ("不飞我们这了", "老是罢工", "行李免费", "公司有协议价"),
        },
    },
    "database": {
        "values": {
            EN: ("CouchDB", "YugabyteDB", "Citus", "DynamoDB", "EdgeDB", "SurrealDB", "Vitess", "TimescaleDB"),
            ZH: ("CouchDB", "达梦8", "Citus", "DynamoDB", "Doris"),
        },
        "said": {
            EN: (
                "We are having {v} as database.",
                "the database is {v}, hosted in Frankfurt",
                "database: {v}",
                "all our data lives in {v}",
                "as a database we have {v}",
                "The thing runs against {v}, that's our database.",
                "the database behind it is {v}",
                "We have {v} for a database.",
                "our db is {v}",
                "In this project the database is {v}.",
            ),
            ZH: ("我们项目数据库是{v}", "我们的库用{v}", "数据库：{v}", "后台的数据库是{v}", "我们一直用{v}当数据库"),
        },
        "named": {
            EN: (
                "We have shifted the database from {old} to {new} because {why}.",
                "the database isn't {old} anymore it's {new} because {why}",
                "We chucked out {old} and put in {new} because {why}.",
                "{why}. So the database went from {old} to {new}.",
                "The database was {old} until last week, now it's {new}, because {why}.",
                "We've retired {old}; the database is {new} now because {why}.",
                "{old} got replaced by {new} because {why}",
                "We use {new} now rather than {old} because {why}",
                "we've ported everything from {old} to {new} because {why}",
                "Given that {why}, we changed the database from {old} to {new}.",
            ),
            ZH: (
                "我们的数据库原来是{old}，现在是{new}，因为{why}",
                "因为{why}，我们的数据库从{old}换成了{new}",
                "我们把数据库从{old}迁到了{new}，因为{why}",
                "数据库不是{old}了，现在是{new}，因为{why}",
                "我们弃用了{old}，数据库现在用{new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "we're on {new} these days for the database because {why}",
                "the database is {new} now because {why}",
                "because {why} we use {new} as our database now",
                "We have moved the database to {new} because {why}.",
                "{new} is our database now, because {why}",
                "From now on the database is {new}, because {why}.",
                "We've just finished moving to {new} for the database, because {why}.",
                "the new database is {new}, as {why}",
                "our db runs on {new} now because {why}",
                "Change of database: {new}, because {why}.",
            ),
            ZH: ("我们数据库现在是{new}，因为{why}", "数据库已经换成了{new}，因为{why}", "因为{why}，我们数据库改成{new}了", "新的数据库是{new}，因为{why}", "我们现在的数据库是{new}，因为{why}"),
        },
        "reasons": {
            EN: ("the writes were too slow", "the customer insisted", "the vendor went bust", "we wanted proper transactions", "the upgrade path was a nightmare"),
            ZH: ("写入太慢", "客户坚持", "厂商倒闭了", "需要事务"),
        },
    },
    "port": {
        "values": {EN: ("8444", "5055", "6443", "9191", "3210", "7788"), ZH: ("8444", "5055", "6443", "9191", "3210", "7788")},
        "said": {
            EN: (
                "The API is running in port {v}.",
                "you reach the API on port {v}",
                "API port: {v}",
                "the API is bound to port {v}",
                "The API can be found at port {v}.",
                "for the API it's port {v}",
                "our API uses port {v}",
                "The API is exposed on port {v}.",
                "port for the API: {v}",
                "the api is at port {v}",
            ),
            ZH: ("API 绑的端口是 {v}", "我们 API 的端口是 {v}", "API 端口是 {v}", "API 用 {v} 端口", "API 开在 {v} 端口"),
        },
        "named": {
            EN: (
                "We have shifted the API from port {old} to port {new} because {why}.",
                "the API's not on port {old} anymore it's on port {new} because {why}",
                "{why}. So the API went from port {old} to {new}.",
                "The API was on port {old}, now it's on port {new}, because {why}.",
                "We swapped port {old} for {new} on the API because {why}",
                "The API no longer uses port {old}, it uses port {new} now, because {why}.",
                "Port {new} replaces port {old} for the API because {why}.",
                "The API uses port {new} now rather than {old} because {why}.",
                "Given that {why}, we changed the API port from {old} to {new}.",
                "we switched the API from {old} over to {new} because {why}",
            ),
            ZH: (
                "API 的端口原来是 {old}，现在是 {new}，因为{why}",
                "因为{why}，API 的端口从 {old} 换成了 {new}",
                "API 端口不再是 {old}，改成 {new} 了，因为{why}",
                "API 端口由 {old} 改为 {new}，因为{why}",
                "我们把 API 从 {old} 端口移到了 {new}，因为{why}",
            ),
        },
        "unnamed": {
            EN: (
                "the API is on port {new} these days because {why}",
                "The API uses port {new} now because {why}.",
                "because {why} the API is on port {new} now",
                "We have changed the API port to {new} because {why}.",
                "From now on the API is on port {new}, because {why}.",
                "the new API port is {new}, as {why}",
                "The API got a new port, {new}, because {why}.",
                "we've switched the API to port {new} because {why}",
                "New port for the API: {new}, because {why}.",
                "port {new} it is for the API now, because {why}",
            ),
            ZH: ("API 的端口现在换成 {new} 了，因为{why}", "API 现在开在 {new} 端口，因为{why}", "因为{why}，API 现在用的是 {new} 端口", "API 的新端口是 {new}，因为{why}", "API 端口已经改为 {new}，因为{why}"),
        },
        "reasons": {
            EN: ("the printer uses the old one", "the hospital network forbids it", "two services were fighting over it", "the monitoring expects that", "the old one was scanned constantly"),
            ZH: ("打印机占了", "内网不允许", "两个服务抢", "老被扫描"),
        },
    },
}  # fmt: skip

HELD3_ITEMS: Mapping[str, Item] = {item.name: replace(item, **_ITEMS[item.name]) for item in ITEMS}  # type: ignore[arg-type]
"""Every item in this wording, with values of its own; the asides that only imply a change are those of `phrases`."""

HELD3_PAIRS: Mapping[tuple[str, str], Words] = {
    ("name", "hometown"): {
        EN: ("Myself {a}, native of {b}.", "my name is {a} and I come from {b}", "{a} here, originally from {b}"),
        ZH: ("我叫{a}，{b}人。", "我是{a}，老家在{b}"),
    },
    ("job", "allergy"): {
        EN: ("I'm {a_a} and I'm allergic to {b}", "I work as {a_a}, and one more thing, I have an allergy to {b}"),
        ZH: ("我是{a}，对{b}过敏",),
    },
    ("dog", "birthday"): {
        EN: ("my dog is called {a} and we share a birthday, mine is on {b}", "I was born on {b} and I have a dog called {a}"),
        ZH: ("我的狗叫{a}，我的生日是{b}",),
    },
}
"""Two things in one sentence: `{a}` and `{b}` are their values, `{a_a}` and `{a_b}` the same with their articles."""

HELD3_BULLETS: Words = {
    EN: (
        "bullet form please",
        "Kindly give it in bullet points.",
        "can we have that in bullets please, my eyes are tired",
        "I'd prefer bullet points for this one",
        "as bullet points if you don't mind",
        "just bullet points please not an essay",
        "make it bullet points",
        "Would you mind writing this as bullet points?",
    ),
    ZH: ("麻烦用要点写", "写成要点的形式吧", "用分点的方式回答一下", "给我列个要点就好", "请用列表回答"),
}

HELD3_BEFORE: Words = {
    EN: (
        "", "", "", "well, ", "okay ", "One thing: ", "I should mention, ", "right, ", "Sorry, one more thing. ", "can you make the font bigger? and ", "yes good. ", "As an aside, ", "for your information, ",
        "Dear assistant, ",
    ),
    ZH: ("", "", "嗯，", "跟你说一下，", "对了，有件事。", "字体能大一点吗？还有，", "补充一句，"),
}  # fmt: skip
HELD3_AFTER: Words = {
    EN: (
        "",
        "",
        "",
        "",
        " Please do the needful.",
        ", so there you go",
        ". Right, where were we?",
        " Now please translate the next page.",
        ", just so you know",
    ),
    ZH: ("", "", "", "。好，下一页", "。我们说到哪了？"),
}


def _traps(kind: str, *rows: tuple[str, str]) -> tuple[Trap, ...]:
    return tuple(Trap(kind=kind, text=text, values=tuple(values.split("|"))) for text, values in rows)


HELD3_TRAPS: Mapping[str, tuple[Trap, ...]] = {
    EN: (
        *_traps(
            "event",
            ("We stayed in Girne for the half-term and the kids adored it.", "Girne"),
            ("had a gorgeous ristretto at the station this morning", "ristretto"),
            ("I was on Air Malta on Tuesday and they had proper sandwiches", "Air Malta"),
            ("Went to Hampi with the family on the weekend, superb place.", "Hampi"),
            ("they gave me a Doro 8080 at the repair shop for the week", "Doro 8080"),
            ("last night I had a lassi, it was too good", "lassi"),
            ("for the workshop we ran everything on Derby, just that day", "Derby"),
            ("I worked a shift at the Red Cross stall on Sunday", "Red Cross"),
        ),
        *_traps(
            "other",
            ("my husband is allergic to okra", "okra"),
            ("My uncle has shifted to Bhopal because his pension is small.", "Bhopal"),
            ("the lady next door has a dog called Figaro", "Figaro"),
            ("My manager is working in Infosys earlier, now he is in Wipro.", "Infosys|Wipro"),
            ("our supplier changed from Teradata to Greenplum because of the cost", "Teradata|Greenplum"),
            ("my aunt was born on 3 June", "3 June"),
            ("According to Sanjay his phone is a Lava Agni.", "Lava Agni"),
            ("the other branch has its API on port 2929", "2929"),
            ("my daughter drinks bubble tea now instead of milk because her friends do", "bubble tea"),
            ("my father grew up in Sligo", "Sligo"),
            ("One of my tenants is a taxidermist.", "taxidermist"),
            ("my cousin flies AirAsia now because it's cheap", "AirAsia"),
            ("Fiona, you know, from accounts, lives in Peebles now", "Peebles"),
            ("the customer says: we moved from Ingres to Progress because it was dying", "Ingres|Progress"),
        ),
        *_traps(
            "joke",
            ("my dog is called Segfault, no not really, haha", "Segfault"),
            ("I live in a yellow submarine 😂", "yellow submarine"),
            ("I work for the Mafia, only joking", "Mafia"),
            ("our database is three monks with quills, ha ha", "three monks"),
            ("I fly Dragon Airways, the fiery one, lol", "Dragon Airways"),
            ("By profession I'm a couch potato, hehe", "couch potato"),
            ("my name is Queen Elizabeth, I'm kidding", "Queen Elizabeth"),
        ),
        *_traps(
            "dry_joke",
            ("I'm allergic to small talk.", "small talk"),
            ("I'm allergic to Excel.", "Excel"),
            ("I live in my inbox.", "my inbox"),
            ("Caffeine is my employer, really.", "Caffeine"),
            ("I'm allergic to deadlines.", "deadlines"),
        ),
        *_traps(
            "hypothetical",
            ("If we were on Snowflake this query would fly.", "Snowflake"),
            ("Assuming I moved to Muscat, which visa would I need?", "Muscat"),
            ("had I been a surgeon, would you talk to me like that", "surgeon"),
            ("Let us suppose my employer is Tata Steel.", "Tata Steel"),
            ("what if the API was on port 2020 instead", "2020"),
            ("pretend for a second that I drink absinthe, would it interact?", "absinthe"),
            ("in case I'm allergic to quinoa, what else could go in?", "quinoa"),
            ("even if I lived in Oslo I couldn't ski", "Oslo"),
        ),
        *_traps(
            "wish",
            ("I would so love to live in Positano", "Positano"),
            ("my dream is to work at Pininfarina", "Pininfarina"),
            ("I am hoping to shift to Canberra in some years.", "Canberra"),
            ("if only my dog was called Zeus", "Zeus"),
            ("we should really be on Aurora by now", "Aurora"),
            ("wouldn't it be lovely to be a vicar", "vicar"),
            ("I fancy a mocha", "mocha"),
            ("I'd give anything for an Ericsson T39 again", "Ericsson T39"),
        ),
        *_traps(
            "question",
            ("Is it true people with hay fever are allergic to parsley?", "parsley"),
            ("shall I shift to Jaipur or not?", "Jaipur"),
            ("does it look as if I work at Lidl?", "Lidl"),
            ("Which is better for us, TiKV or Riak?", "TiKV|Riak"),
            ("who says I was born in Cleveland?", "Cleveland"),
            ("Can the API run on port 1717?", "1717"),
            ("would a Cat S75 be a good phone for me?", "Cat S75"),
            ("was my dog called Bosun in the first draft?", "Bosun"),
        ),
        *_traps(
            "hedged",
            ("I may be moving to Hull, nothing decided.", "Hull"),
            ("we are planning to shift to Exasol, let us see", "Exasol"),
            ("I suspect I'm allergic to coriander but who knows", "coriander"),
            ("I'm half tempted to fly Wizz from now on", "Wizz"),
            ("I reckon I'll end up at Greggs", "Greggs"),
            ("there's talk of moving the API to port 1818", "1818"),
            ("I'm toying with buying an Oppo Reno", "Oppo Reno"),
            ("possibly I'm switching to chicory, not sure", "chicory"),
        ),
        *_traps(
            "feeling",
            ("I am having a headache.", "headache"),
            ("I'm knackered, honestly", "knackered"),
            ("I love Fridays so much", "Fridays"),
            ("I'm lost in this spreadsheet", "spreadsheet"),
            ("I could do with a brandy", "brandy"),
            ("I'm a nervous wreck before presentations today", "nervous wreck"),
            ("can't bear this heat", "heat"),
        ),
        Trap(
            kind="role_play", text="Let us do one role play. You are the visa officer and I am the applicant.", values=("Acme Exports", "Timbuktu"),
            after=("Good morning sir, I work at Acme Exports and I live in Timbuktu.", "Okay, role play over."),
        ),
        Trap(kind="role_play", text="Pretend that I'm a wizard named Alaric and write me a greeting.", values=("wizard", "Alaric")),
        Trap(kind="role_play", text="In my play I'm a widow from Verona and my dog is called Tybalt.", values=("widow", "Verona", "Tybalt")),
        Trap(
            kind="role_play", text="let's rehearse the call, I'm the angry customer", values=("aniseed", "Grimsby"),
            after=("hello, I live in Grimsby and I'm allergic to aniseed", "ok stop, that was good practice"),
        ),
        *_traps(
            "pasted",
            ("correct the English please:\n\n> I am Matteo, I am working at Barilla and I am living in Parma since ever", "Matteo|Barilla|Parma"),
            ("make this shorter: \"I switched from Lumia to Jolla because I like sailing. I live in Kemi.\"", "Lumia|Jolla|Kemi"),
            ("the email says:\n\"\"\"\nOur API is on port 2727 and we use Adabas.\n\"\"\"\nis that right?", "2727|Adabas"),
            ("What is wrong with this letter?\n\nDear Madam,\nMy name is Ottoline. I live in Ripon and I am allergic to lavender.\n", "Ottoline|Ripon|lavender"),
        ),
    ),
    ZH: (
        *_traps("event", ("周末去了平遥，古城真美", "平遥"), ("今早喝了杯豆汁，怪怪的", "豆汁"), ("上周二坐了长龙航空，餐不错", "长龙航空"), ("修手机那几天借了台步步高用", "步步高")),
        *_traps(
            "other",
            ("我丈夫对秋葵过敏", "秋葵"),
            ("我舅舅搬到银川了，因为退休金少", "银川"),
            ("楼下大妈的狗叫来福", "来福"),
            ("我爸在铁路局上班", "铁路局"),
            ("供应商的数据库从Teradata换成Greenplum了", "Teradata|Greenplum"),
            ("我闺女的生日是6月3日", "6月3日"),
            ("另一个部门的 API 在 2929 端口", "2929"),
            ("我表妹现在喝奶盖茶，因为流行", "奶盖茶"),
        ),
        *_traps("joke", ("我家狗叫段错误，骗你的哈哈", "段错误"), ("我住在龙宫里，开个玩笑", "龙宫"), ("我给财神爷打工，哈哈", "财神爷")),
        *_traps("dry_joke", ("我对加班过敏。", "加班"), ("我对Excel过敏", "Excel")),
        *_traps("hypothetical", ("要是我们用Snowflake，早跑完了", "Snowflake"), ("假如我搬到马斯喀特，要什么签证？", "马斯喀特"), ("如果我是外科医生，你还这么讲吗？", "外科医生")),
        *_traps("wish", ("好想住在凤凰古城", "凤凰古城"), ("做梦都想去法拉利上班", "法拉利"), ("以后想养条狗叫宙斯", "宙斯")),
        *_traps("question", ("我会对香菜过敏吗？", "香菜"), ("我要不要搬到桂林去？", "桂林"), ("API 能跑在 1717 端口吗？", "1717")),
        *_traps("hedged", ("可能要搬到保定，还没定", "保定"), ("我们打算换Exasol，再看看", "Exasol"), ("我怀疑我对薰衣草过敏，不确定", "薰衣草")),
        *_traps("feeling", ("今天头好痛", "头"), ("热死了", "热"), ("周五真好", "周五")),
        Trap(kind="role_play", text="我们来演一段，你是签证官，我是申请人", values=("宏达外贸", "楼兰古国"), after=("您好，我在宏达外贸上班，住在楼兰古国", "好，演完了")),
        Trap(kind="role_play", text="假装我是个叫阿拉里克的巫师，写句问候", values=("巫师", "阿拉里克")),
        *_traps("pasted", ("帮我改改这句：\n\n> 你好，我叫马泰奥，我在百味来工作，住在帕尔马", "马泰奥|百味来|帕尔马"), ("这段缩短一点：“我从凯米搬到了图尔库港，因为喜欢海。”", "凯米|图尔库港")),
    ),
}  # fmt: skip
