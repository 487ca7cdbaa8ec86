"""The lexicon of statements: attribute words, words for scopes, words that mean the same; English and Chinese.

Hand-written and small on purpose: a word stands here only where mistaking it is unlikely. What is missing makes dreamd abstain, not err.
"""

# Word lists read better as text.
# ruff: noqa: SIM905

from __future__ import annotations

from dataclasses import dataclass

SINGLE: dict[str, str] = {
    "port": "port|port number|puerto|端口|端口号|ポート|ポート番号",
    "version": "version|versión|版本|版本号",
    "url": "url|link|endpoint|homepage|网址|链接|域名",
    "owner": "owner|maintainer|负责人|所有者|维护者",
    "date": "date|deadline|due date|day|日期|截止日期|期限",
    "time": "time|start time|时间",
    "limit": "limit|quota|cap|上限|限制|限额",
    "ttl": "ttl|time to live|expiry|expiration|expiration time|过期时间|有效期",
    "timeout": "timeout|time-out|超时|超时时间",
    "size": "size|大小|尺寸",
    "default": "default|default value|默认值|默认",
    "home": "home|hometown address|home address|place of residence|住址|住处|居住地",
    "employer": "employer|公司|单位|工作单位",
    "birthday": "birthday|date of birth|生日|出生日期",
    "age": "age|年龄|岁数",
    "name": "name|名字|姓名|名称",
    "email": "email|e-mail|email address|mail address|邮箱|邮箱地址|邮件地址",
    "phone": "phone|phone number|telephone number|mobile number|电话|电话号|电话号码|手机号|手机号码|联系电话",
    "height": "height|身高",
    "weight": "weight|体重",
    "job": "job|job title|occupation|profession|position at work|职业|职位|工作",
    "education": "education|degree|学历",
    "hometown": "hometown|birthplace|place of birth|老家|家乡|籍贯",
    "location": "location|path|folder|directory|路径|目录|位置",
    "direction": "direction|方向|方位",
    "color": "color|colour|颜色",
    "database": "database|db|数据库",
    "framework": "framework|框架",
    "language": "language|语言",
    "editor": "editor|ide|text editor|编辑器",
    "shell": "shell",
    "package manager": "package manager|包管理器|包管理工具",
    "formatter": "formatter|code formatter|格式化工具",
    "linter": "linter",
    "bundler": "bundler|打包工具",
    "test runner": "test runner|test framework|测试框架",
    "cache": "cache|缓存",
    "queue": "queue|message queue|broker|队列|消息队列",
    "license": "license|licence|许可证",
    "branch": "main branch|default branch|主分支|默认分支",
    "region": "region|区域|地区",
    "time zone": "time zone|timezone|时区",
    "operating system": "operating system|os|操作系统",
    "host": "host|hostname|主机|主机名",
    "file": "config file|configuration file|settings file|配置文件",
    "interval": "interval|frequency|period|间隔|频率|周期",
    "retention": "retention|retention days|retention period|保留天数|保留期|保留时间",
    "budget": "budget|预算",
    "price": "price|cost|价格|费用",
    "rate": "rate|比率|费率",
    "threshold": "threshold|阈值",
    "count": "replica count|replicas|worker count|副本数|数量",
    "format": "format|格式",
    "style": "style|风格",
    "theme": "theme|主题",
    "indent": "indent|indentation|缩进",
    "username": "username|user name|用户名",
    "currency": "currency|货币",
    "salary": "salary|工资|薪水",
    "status": "status|state|状态",
    "goal": "goal|目标",
    "password": "password|密码",
    "model": "model|模型",
    "provider": "provider|cloud provider|云服务商",
}
"""Single-valued attributes: canonical name → its spellings."""

ATTRIBUTE_OF: dict[str, str] = {form: name for name, forms in SINGLE.items() for form in forms.split("|")}

SINGLE_RELATIONS = frozenset({"platform", "tool", "state", "schedule", "value", "position", "home", "employer", "workplace", "written in"})
"""Single-valued attributes that a verb expresses ("runs on", "is enabled", "every Thursday"), not a noun."""

OF_CODE = frozenset({"port", "url", "version", "platform", "host", "timeout", "ttl", "location", "database", "region"})
"""Attributes no person has: "the client listens on port 5173" is about a program."""

QUALIFIERS: dict[str, str] = {
    "staging": "staging|stage environment|预发|预发布|预发环境",
    "production": "production|prod|live environment|生产环境|生产|线上环境|正式环境",
    "development": "development|dev|开发环境",
    "testing": "test environment|testing environment|qa|测试环境",
    "frontend": "frontend|front-end|front end|前端",
    "backend": "backend|back-end|back end|后端|后台",
    "local": "local|localhost|locally|本地",
    "ci": "in ci|on ci|ci environment",
    "windows": "windows",
    "macos": "macos|mac os",
    "linux": "linux",
    "ios": "ios",
    "android": "android|安卓",
    "mobile": "mobile app|移动端|手机端",
    "web": "web app|网页端",
}
"""What a statement is bound to: canonical name → its spellings, longest first when looked for."""

SAME_WORDS: dict[str, str] = {
    "answer": "answers reply replies response responses 回答 回复 答复",
    "short": "brief concise 简短 简洁 简明",
    "annotation": "annotations",
    "commit": "commits committing committed 提交",
    "database": "db databases 数据库",
    "server": "servers 服务器 服务 服务端",
    "client": "clients 客户端",
    "comment": "comments 注释",
    "deploy": "deploys deployment deployments deploying 部署 发布 上线",
    "release": "releases 发布版本",
    "test": "tests testing 测试",
    "run": "runs running 运行 跑",
    "directory": "dir folder folders directories",
    "repo": "repository repos repositories 仓库",
    "config": "configuration configurations 配置",
    "meeting": "meetings 会议",
    "user": "users 用户",
    "chinese": "中文 汉语",
    "english": "英文 英语",
    "javascript": "js",
    "typescript": "ts",
    "postgres": "postgresql",
    "favorite": "favourite",
    "color": "colour",
}
SAME_WORD_OF: dict[str, str] = {form: name for name, forms in SAME_WORDS.items() for form in forms.split()}
"""Words that name the same thing in the talk of agents and their users; compared after casefolding, before stemming."""

ENGLISH_KIN = frozenset(
    """wife husband partner spouse girlfriend boyfriend fiancé fiancée daughter son child kid baby mother mom mum father dad parent sister brother
    sibling aunt uncle cousin niece nephew grandmother grandma grandfather grandpa friend colleague coworker co-worker boss manager supervisor mentor
    neighbor neighbour roommate flatmate teammate client customer landlord teacher doctor therapist coach intern assistant buddy classmate girl boy
    guy lady man woman kids children parents fiance fiancee""".split()
)
CHINESE_KIN = frozenset(
    """妻子 老婆 太太 丈夫 老公 女朋友 男朋友 女友 男友 女儿 儿子 孩子 妈妈 母亲 爸爸 父亲 父母 姐姐 妹妹 哥哥 弟弟 姐 妹 哥 弟 表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 阿姨 姑姑 姑妈 姑父 姨妈 姨父 舅舅 舅妈 叔叔 婶婶 婶子 伯伯 伯父 伯母 嫂子 嫂嫂
    姐夫 妹夫 弟媳 岳父 岳母 公公 婆婆 孙子 孙女 侄子 侄女 外甥 外甥女 爷爷 奶奶 外公 外婆 姥姥 姥爷 朋友 同事 上司 下属 老板 经理 领导 邻居 室友 同学 老师 医生 客户 房东 队友 先生 爸 妈 爱人 徒弟 师傅 助理 秘书 会计 司机""".split()
)
KIN = ENGLISH_KIN | CHINESE_KIN
"""People other than the speaker, named by what they are to somebody."""

BELONGINGS = frozenset("dog cat pet car house flat apartment bike kids family".split()) | KIN
"""What only a person has: "Lisa's dog" is somebody else's, "the API's cache" is not."""

PERSON_VERBS = frozenset(
    """likes loves hates prefers enjoys drinks eats lives wants thinks says said told feels speaks moved dislikes works studies married plays wishes hopes
    bought visited enjoyed loved wanted asked""".split()
)
"""Verbs whose subject is a person: a capitalised subject before one of them is a name, not a product."""

IMPERATIVES = frozenset(
    """add answer always ask avoid begin build cache call check commit compile configure copy create define delete deploy disable document don't do edit
    enable ensure explain export fix follow format give go ignore import include install keep leave limit lint list log make merge move name never only
    open pin prefer print push put rebase reply remember remove rename replace reply respond restart return review run save send set show skip sort squash
    start stick stop store switch sync tag test treat try turn update upgrade use validate verify wait wrap write""".split()
)
"""Verbs that open an order in the talk of agents and their users."""

STATES: dict[str, str] = {
    "on": "on enabled active activated turned-on 开启 启用 打开 已开启 已启用",
    "off": "off disabled inactive deactivated turned-off 关闭 禁用 停用 已关闭 已禁用",
    "done": "done finished complete completed 完成 已完成 完工",
    "open": "open unresolved",
    "closed": "closed resolved",
    "broken": "broken",
    "fixed": "fixed",
    "deprecated": "deprecated 已废弃",
    "mandatory": "mandatory required 必需 必填",
    "optional": "optional 可选",
}
STATE_OF: dict[str, str] = {form: name for name, forms in STATES.items() for form in forms.split()}
"""One-word states a thing can be in, one at a time."""

TASKS = "deploy build test tests lint format start run install release migrate publish serve"
"""What projects have a command for."""

PROGRAMS = frozenset(
    """make npm npx pnpm yarn bun bunx node deno cargo go python python3 pip uv poetry pdm pytest tox nox ruff docker docker-compose podman kubectl helm terraform
    ansible-playbook just task rake bundle rails mix gradle mvn dotnet swift flutter composer php bash sh fly flyctl vercel netlify gcloud aws firebase heroku
    hatch bazel ninja cmake ctest vitest jest tsc eslint prettier invoke fab cap""".split()
)
"""Programs whose name opens a command line."""

SORTS: dict[str, str] = {
    "javascript packages": "npm yarn pnpm bun",
    "python packages": "pip poetry uv pdm pipenv",
    "javascript tests": "jest vitest mocha jasmine ava",
    "python tests": "pytest unittest nose",
    "bundling": "webpack vite rollup esbuild parcel turbopack",
    "javascript linting": "eslint biome tslint oxlint",
    "python linting": "ruff flake8 pylint",
    "python formatting": "black yapf autopep8",
    "database": "postgres postgresql mysql mariadb sqlite mongodb cockroachdb duckdb",
    "continuous integration": "jenkins circleci travis buildkite",
}
SORT_OF: dict[str, str] = {name: sort for sort, names in SORTS.items() for name in names.split()}
"""Tools that take each other's place: who says they use another one *now* has given the first up."""

USER = "user"
"""Subject of what the speaker states about themselves, when the log does not name the speaker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What a grammar read: subject and attribute as words, the value as it stands, `old` where the text itself says what is over.

    `against` is what a preference is preferred to. `person` is "speaker", "other", "unresolved", "group" or "thing".
    """

    subject: str
    attribute: str
    value: str | None
    person: str = "thing"
    negated: bool = False
    old: str | None = None
    against: str | None = None
    update: bool = False
    single: bool = False


def is_single(attribute: str) -> bool:
    """Whether an attribute has one value at a time."""
    return attribute in SINGLE or attribute in SINGLE_RELATIONS or attribute.startswith(("max ", "min ", "default ", "favorite "))


GLUE = frozenset(
    """about accord accept daily nightly all around as at be belong base best better born bind bound but by call change charge choose chose come currently decide default
    depend deploy each end equal every expect expose find for from get go good going got happen hold host i'm in instead into join joined keep keeps kept know known
    like likes love loves enjoy listen locate lie lies live located situated side made maintain make more moved name named no not now number of off on one only or out over
    own owned owns pick place plan planned prefer put reside responsible run running really relocate renamed replace scheduled serve set settle sit
    slipped stand start store stored support supported take than that them then there to target turned under up usual usually use used uses using was we
    were who will with work years old year 在 对 是 为 用 使用 的 地 得 采用 监听 请 一律 统一 呢 工作 上班 任职 就职 负责 改到 改成 改为 换成 跳槽 去 到 过敏 喜欢 不喜欢 讨厌 爱 最 很 吃 不吃 喝 每 每周 现在 目前 已经 都
    不能 号 叫 由 归 写 编写 allergic allergy always never must should don't doesn't do not isn't aren't doing cannot can't longer anymore 不 不是 而 从 把 将 了 决定 岁 今年 住
    住在 搬 搬到 入职 加入 里 上 中 边 面 开 关 应该 bump raise raised lower lowered increase increased decrease decreased reduce reduced update updated extend extended shorten shortened
    back push pushed postpone postponed delay delayed reschedule rescheduled""".split()
)
"""Words that carry a slot without adding to it: what is left of a sentence beyond these, its subject, its attribute and its value says more."""
