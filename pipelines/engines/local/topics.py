"""The topics people tell of themselves by, as data: words that name a topic, how a value stands to them, and names that give a topic away.

A form is a pattern over a sentence whose names were replaced by marks (`frames`): `@` is the mark of the value. A topic's `forms` state outright what holds;
`weak` ones do so only beside a word of the topic (`cue`) or where the name itself is of its sort.
"""

# Word lists read better as text.

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One attribute of the speaker: `value` and `old` (what is over) are words of the sentence, `single` says that a newer value replaces it.

    `team` marks what is the project's, not the person's.
    """

    attribute: str
    value: str
    old: str | None = None
    single: bool = True
    negated: bool = False
    team: bool = False


UNTOLD = "use"
"""The attribute of what was given up for what when nothing tells the topic: it ends the old value wherever that stands (`notes.relate`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One attribute people tell: `words` may stand in a sentence about it, `cue` shows that a sentence is; `cue` "" never does."""

    attribute: str
    words: str
    cue: str
    forms: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    team: bool = False


_A = r"(?:(?:a|an|the|my|our|now|just|over|back|right|currently|mostly|mainly|only|always|usually|again|new|some|plain|btw|from|town|of|called|with) )*"
"""What may stand between a form's last word and the value."""
_HAVE = r"(?:i|we)(?:'ve| have)?"
_AM = r"(?:i'm|we're|i am|we are)"
_GO = r"(?:moved|shifted|switched|went|gone|going|changed|upgraded|relocated|migrated|jumped|came)"
_NOW = r"(?:now|nowadays|lately)"

TOPICS = (
    Topic(
        attribute="home",
        words="live living lived based settled settle reside residing home house flat apartment place address location town city area boxes base here",
        cue=r"\b(?:live|living|based|settled|reside|home|house|flat|apartment|address|relocated)\b|\b(?:moved|move)\b(?! (?:on|off)\b)|\bin (?:the )?@",
        forms=(
            rf"\b(?:live|living|based|reside|residing|settled(?: down)?)(?: \w+){{0,2}} (?:in|near|outside|over in) {_A}@",
            rf"(?:'ve|have) (?:\w+ )?(?:been living|lived|settled|been)(?: \w+)? in {_A}@",
            rf"\b(?:{_HAVE}|^|and) ?(?:\w+ )?(?:moved|shifted|relocated|upped sticks|made the move)(?: house| home| away| out| on| back| over| down| up)* to {_A}@",
            rf"\bmoved into (?:a|the|our|my) (?:new )?(?:flat|place|house|apartment) in {_A}@",
            rf"\b(?:home|place|flat|apartment|house)(?: for me)?(?: is|'s)(?: \w+)?(?: in)? {_A}@",
            r"@ is (?:now )?(?:where (?:i|we) (?:\w+ )?live|(?:my|our) home\b(?! ?town)|home\b(?! ?town))",
            r"(?:^|[,;:] )(?:now )?based in @",
            r"^@ based\b",
            r"\b(?:my|our) (?:address|home) (?:has |is )?(?:now )?(?:changed|moved) to @",
            rf"{_AM} (?:\w+ )?in {_A}@ (?:(?:btw|since|for|as|{_NOW})\b)",
            rf"{_AM} (?:{_NOW}|settled|living) in {_A}@",
            rf"{_AM} in @, (?:been here|if|in case)",
        ),
    ),
    Topic(
        attribute="employer",
        words="work works working worked job jobs employer employers employed company firm joined join notice career role office position hired ship salary backend frontend payroll",
        cue=r"\b(?:work|working|worked|jobs?|employers?|employed|joined|resigned|quit|company|firm|notice)\b|\bat @|\bi'm (?:now )?with @",
        forms=(
            rf"\b(?:work|working|worked|employed)(?: \w+){{0,2}} (?:at|for|by|with) {_A}@",
            rf"\b(?:joined|hired by) {_A}@",
            rf"\bstarted(?: working| work| a job| a new job)?(?: \w+)? (?:at|for|with) {_A}@",
            r"\b(?:employer|company|firm)(?: (?:i|we) work (?:for|at))?(?: is|'s|:)(?: now)? @",
            rf"\bjob(?: is|'s)? (?:now )?(?:at|with) {_A}@",
            r"@ is (?:now )?(?:(?:my|our) (?:new |current )?(?:employer|company)|where (?:i|we) work|who i work for)",
            rf"{_AM} (?:(?:{_NOW}|already) )?with @,? (?:{_NOW}|since|have been|has been|for)\b",
            rf"{_AM} {_NOW} (?:with|at) @",
            rf"{_AM} at @ {_NOW}",
            r"\bi've been (?:with|at) @ (?:since|for|now)\b",
            r"\b(?:i|we)(?:'ve)? (?:ended up|landed|signed on) (?:at|with) @",
            r"^ended up at @",
            r"\bwork at @ now\b",
        ),
    ),
    Topic(
        attribute="airline",
        words="collect fly flying flights flight airline airlines book booking trips trip miles loyal loyalty card frequent flyer flier travel ever whenever carrier bookings planes plane wise",
        cue=r"\b(?:fly|flying|flights?|airlines?|miles|flyer)\b",
        forms=(
            r"(?:^|\b(?:i|we|and|now) )(?:\w+ ){0,3}(?:fly|book) (?:only )?(?:with |on )?@",
            r"\b(?:now|always|mostly|only|usually|started) flying (?:only )?(?:with |on )?@",
            rf"\bflying (?:with |on )?@ (?:{_NOW}|instead)\b",
            rf"\bairline(?: (?:i|we) (?:use|fly|book|take)(?: {_NOW})?)?(?: is|'s)(?: now)? @",
            r"@ is (?:now )?(?:(?:my|the|our) (?:\w+ )?airline)",
            r"\bi'm (?:now )?(?:a|an) @ (?:flyer|flier)",
        ),
        weak=(
            rf"\b(?:use|take|taking|book|using|prefer) {_A}@",
            r"\b(?:i'm|i am)(?: now| mostly| always)? with @",
            r"\bit's (?:now |always |mostly )?@",
            rf"\b{_GO}(?: \w+){{0,2}} to @",
            r"\b(?:miles|loyal|card)(?: \w+)? (?:with|to|from|of) @",
        ),
    ),
    Topic(
        attribute="phone",
        words="phone phones mobile cell handset smartphone model daily driver pocket carry carrying carried bought own device number wise",
        cue=r"\b(?:phone|mobile|handset|smartphone|cell)\b",
        forms=(
            rf"\b(?:phone|mobile|handset|smartphone)(?: (?:i|in my pocket)(?: \w+){{0,2}}| for work)?(?: is|'s|:|,| btw:| btw,)(?: now)? {_A}@",
            r"@ is (?:now )?my (?:\w+ )?(?:phone|mobile|handset)",
            rf"\b(?:phone|mobile)(?: \w+)?: {_A}@",
        ),
        weak=(
            rf"\b(?:use|using|own|carry|have|got|'ve|bought|picked up|got myself|on|to|it's) {_A}@",
        ),
    ),
    Topic(
        attribute="drink",
        words="drink drinking drinks drinker person beverage cup cups mug pot morning mornings desk litres liters lots lot start day days only choice",
        cue=r"\b(?:drink|drinking|drinker|beverage|cup|mug)\b",
        forms=(
            rf"\b(?:drink|drinking)(?: (?:a lot of|lots of|a cup of|a pot of|\w+))? ?{_A}@",
            r"\bdrink(?: of choice)?(?: is|'s| has become| became)(?: now)? @",
            r"@ is (?:now )?(?:(?:my|the) (?:\w+ )?drink\b|what i (?:\w+ )?drink)",
            r"\bwhat i (?:\w+ )?drink (?:[\w ]+ )?is @",
            r"\b(?:a|an) @ (?:drinker|person)",
        ),
        weak=(
            rf"\b(?:i|we)(?:'ve)? (?:(?:now|mostly|always|usually|only|just) )*have {_A}@ (?:every|each|in the|at|now|for|nowadays|instead)\b",
            rf"\b(?:start|begin) (?:the|my|every) (?:day|morning) with {_A}@",
            rf"\b(?:i'm|it's|i am)(?: \w+)? (?:on |having )?{_A}@ (?:for me|{_NOW}|all day|in the morning|every)\b",
            r"\bfor me it's (?:\w+ )?@",
            rf"\b{_GO}(?: over| back| my \w+)* to {_A}@",
            rf"\b(?:started|taken) (?:on|to|having) {_A}@",
            rf"{_AM} {_NOW} (?:on|having) {_A}@",
        ),
    ),
    Topic(
        attribute="database",
        team=True,
        words="its database databases db data store stores storage stored backend app project service everything production prod migrated migrate migrating hosted persistence runs run lives talks dbms host",
        cue=r"\b(?:database|databases|db|data)\b",
        forms=(
            r"\b(?:database|db)(?: (?:here|of this project|we use))?(?: is|'s|:| runs on| lives on| got moved to| was moved to| moved to)(?: now)?(?: on| in)? @",
            r"@ is (?:now )?(?:(?:my|our|the) (?:\w+ )?(?:database|db))",
            r"\b(?:data|everything)(?: is|'s| lives| stays| sits)?(?: now)? (?:in|on) @",
        ),
        weak=(
            rf"\b(?:we|project|app|backend|service|it|this)(?:'re|'ve| are| is| have)?(?: \w+){{0,2}} (?:use|uses|using|run|runs|running|on|runs on|have|got|talks? to) (?:on )?{_A}@",
            rf"\b(?:we|we're|we've)(?: \w+)? (?:on|with|onto) {_A}@",
            rf"\b{_GO}(?: over| across| everything| it| (?:the |our )?(?:database|db|data))*(?: over)? (?:to|onto) {_A}@",
            rf"\b(?:went|ended up|gone|going) with {_A}@",
            r"\bit's @",
        ),
    ),
    Topic(
        attribute="hometown",
        words="from originally grew grown up raised born bred childhood spent whole hometown come came hear school tell roots native",
        cue="",
        forms=(
            r"\b(?:grew up|raised|born and raised|born and bred|brought up) in @",
            r"\b(?:i'm|i am) (?:originally )?from @(?: originally)?",
            r"\boriginally from @",
            r"\bi come from @",
            r"\b(?:childhood|youth) in @",
            r"\bhome ?town(?: is|'s) @",
            r"@ is (?:(?:my|our) (?:home ?town|birthplace)|where i (?:grew up|was (?:born|raised)))",
            r"^@ born and (?:raised|bred)",
            r"\bi was born in @",
        ),
    ),
    Topic(
        attribute="name",
        words="name named called calling speaking sign signed hi hello hey form invoice full first last legal real self introduction myself spelled put letter cover",
        cue="",
        forms=(
            r"\b(?:my|the|full|first|last|real|legal)? ?name(?:'s| is) @",
            r"\b(?:my|full|real|legal) name(?: (?:on it|for [a-z ]{3,20}))?: @",
            r"\bi'm called @",
            r"\bi go by @",
            r"\bthis is @(?: speaking|$|, (?:hi|hello|hey))",
            r"\bsign (?:it|this|that|them) (?:with|as) @,? (?:which is my name|that's (?:me|my name))",
            r"^@ is my (?:\w+ )?name",
            r"\bput @ on [\w ]+, that's my name",
            r"^(?:\w+, )?@ here, (?:that's|this is) my",
        ),
        weak=(r"^(?:\w+, )?(?:i'm|i am) @(?:$|,? (?:btw|by the way|hi|hello|hey|and i))",),
    ),
)  # fmt: skip

PETS = (
    "dog|cat|puppy|kitten|parrot|rabbit|bunny|hamster|horse|pony|bird|turtle|tortoise|fish|goldfish|lizard|gecko|snake|ferret|guinea pig|labrador|beagle|poodle|corgi|husky"
    "|golden retriever|terrier|cockatiel|budgie|dachshund|spaniel|collie|mutt|hound|pup|pooch"
)
_PET = rf"(?P<kind>{PETS})"
PET_FORMS = (
    rf"\b(?:my|our|the) {_PET}(?:'s| is)? (?:called|named) @",
    rf"\b(?:my|our|the) {_PET}(?:'s)? name(?: is|'s) @",
    rf"\b(?:my|our) {_PET},? @ (?:is|has|was|needs|just|wants|and|loves|hates|sleeps|barks)\b",
    rf"(?:^|[:,;.] )@,?(?: that's| is| who's)? (?:my|our) {_PET}\b",
    rf"\bnamed (?:my|our|the) {_PET} @",
    rf"\b(?:have|own|got|adopted|'ve|'ve got)(?: \w+)? (?:a|an)(?: \w+){{0,2}} {_PET}(?:,| named| called|, named|, called|,? and (?:his|her|its) name is) @",
    rf"^(?:my |our |the )?{_PET}(?: name)? ?(?:=|:|is) @",
)
"""Forms of what an animal is called; the attribute is its `kind`."""

COMMON = frozenset(
    ["i", "i'm", "i've", "i'd", "we", "we're", "we've", "it", "it's", "is", "are", "am", "be", "been", "being", "was", "were", "has", "have", "had", "having", "do", "does", "don't", "doesn't", "didn't", "isn't", "aren't", "not", "no", "longer", "anymore", "more", "than", "the", "a", "an", "this", "these", "that's", "that", "what", "where", "who", "my", "our", "me", "us", "mine", "ours", "to", "from", "for", "with", "by", "at", "of", "as", "on", "in", "onto", "into", "over", "off", "out", "up", "down", "back", "near", "outside", "around", "and", "but", "so", "then", "now", "just", "also", "too", "still", "already", "finally", "actually", "recently", "currently", "lately", "officially", "nowadays", "very", "much", "mostly", "mainly", "usually", "generally", "typically", "only", "always", "both", "instead", "rather", "after", "all", "before", "since", "previously", "earlier", "ago", "about", "roughly", "week", "weeks", "month", "months", "year", "years", "last", "spring", "summer", "autumn", "fall", "winter", "moment", "end", "time", "ages", "while", "morning", "noon", "evening", "afternoon", "night", "daily", "every", "each", "day", "days", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "moved", "move", "shifted", "ported", "upped", "sticks", "retired", "chucked", "touch", "switched", "uses", "switch", "went", "gone", "go", "changed", "change", "upgraded", "relocated", "migrated", "migrate", "jumped", "swapped", "swap", "traded", "trade", "exchanged", "replaced", "replace", "ditched", "dropped", "drop", "dumped", "left", "quit", "resigned", "joined", "started", "start", "took", "taken", "take", "taking", "got", "get", "getting", "gotten", "given", "gave", "up", "gave", "giving", "cut", "used", "use", "using", "ended", "ending", "made", "put", "settled", "done", "stopped", "stop", "sold", "picked", "bought", "became", "become", "come", "came", "packed", "handed", "hello", "goodbye", "bye", "history", "new", "old", "former", "quite", "usual", "current", "away", "main", "regular", "preferred", "favourite", "favorite", "go-to", "choice", "own", "little", "bit", "long", "years", "turns", "turned", "sort", "story", "short", "said", "know", "correction", "btw", "fyi", "way", "there", "here's", "yes", "well", "hi", "hey", "hello", "ok", "thing", "things", "hand", "number", "reason", "once", "whenever", "can", "lots", "happy", "happily", "permanently", "soon", "one", "two", "three", "four", "five", "six", "seven", "eight", "ten", "rid", "myself", "things", "mind", "listen", "note", "stuff", "trips", "trip"]
)  # fmt: skip
"""Words of any sentence people tell of themselves; neither another person nor a plan, a doubt or a condition is among them."""


# --- names that give their topic away ----------------------------------------------------------------------------------------------------

DRINKS = (
    "coffee|espresso|cappuccino|latte|lattes|macchiato|cortado|americano|mocha|tea|chai|matcha|rooibos|oolong|sencha|mate|kombucha|kefir|water|lemonade|juice|soda|cola|coke|milk"
    "|cocoa|hot chocolate|decaf|cold brew|smoothies?|beer|wine|cider|ale|darjeeling|assam|earl grey|flat white|lassi|ayran|infusion"
)
"""Heads of the names of drinks; up to two words may stand before one."""
AIRLINES = (
    "Delta|United|Lufthansa|KLM|Emirates|Qatar(?: Airways)?|Ryanair|[Ee]asyJet|Southwest|JetBlue|Alaska(?: Airlines)?|American Airlines|British Airways|Air France|ANA|Singapore Airlines"
    "|Swiss|Iberia|TAP|Turkish(?: Airlines)?|Qantas|Finnair|SAS|Air Canada|Cathay(?: Pacific)?|Norwegian|Austrian|Wizz(?: Air)?|Vueling|Aer Lingus|Virgin Atlantic|Korean Air|Etihad|JAL"
    "|Japan Airlines|Air New Zealand|LOT|Eurowings|Aegean|Transavia|Condor|Icelandair|Avianca|LATAM|Copa|Aeromexico|[\\w ]+ (?:Airlines|Airways|Air)"
)
PHONES = (
    "iPhone|Pixel|Galaxy|Android|Fairphone|OnePlus|Nokia|Xiaomi|Huawei|Xperia|Nothing Phone|Moto|Motorola|Zenfone|Redmi|Poco|Realme|Honor|Oppo|OPPO|Vivo|vivo|HTC|LG|Razr|BlackBerry|Sony Xperia"
    "|Samsung(?: Galaxy)?|Google Pixel|Asus Zenfone"
)
DATABASES = (
    "PostgreSQL|Postgres|MySQL|MariaDB|SQLite|MongoDB|DuckDB|CockroachDB|Cassandra|ClickHouse|Oracle|SQL Server|DynamoDB|Firestore|Neo4j|Supabase|TiDB|OceanBase|Neon|PlanetScale|Turso|Redis"
    "|Firebase|Elasticsearch|OpenSearch|Snowflake|BigQuery|Redshift|Spanner|Couchbase|CouchDB|InfluxDB|TimescaleDB|Timescale|ScyllaDB|Scylla|RethinkDB|SurrealDB|FaunaDB|Fauna|Dgraph|Vertica"
    "|Teradata|Doris|openGauss|libSQL|Valkey|QuestDB|Yugabyte(?:DB)?|H2|Derby|Firebird|Sybase|Informix|Db2|[A-Z]\\w*(?:DB|SQL)"
)
FIRMS = (
    "Labs Lab Group Foods Food Media Bank Banking Software Logistics Robotics Inc Corp GmbH Ltd LLC AG SA BV Technologies Technology Tech Systems Consulting Industries Energie Energy Solutions "
    "Studio Studios Health Healthcare Insurance Analytics Games Gaming Rail Railways Optik Optics Tools Partners Ventures Capital Pharma Motors Electric Electronics Networks Digital Security "
    "Holdings Services Interactive Entertainment Publishing Press University College Hospital Clinic Institute Foundation Airlines Aerospace Semiconductor Semiconductors Telecom Mobile Telekom "
    "Construction Engineering Design Designs Architects Retail Stores Brewery Bakery Agency Cloud Data AI Works & Co Company Sons Brothers"
)
"""Last words of the names of firms."""
PRODUCTS = (
    "Heroku|Railway|Vercel|Netlify|Render|Fly\\.io|AWS|GCP|Azure|DigitalOcean|Hetzner|Cloudflare|Linode|GitHub(?: Actions)?|GitLab(?: CI)?|Bitbucket|Jenkins|CircleCI|Travis(?: CI)?|Buildkite|Docker|Podman|Kubernetes|Nomad"
    "|Terraform|Pulumi|Ansible|Kafka|RabbitMQ|Celery|Sidekiq|Jest|Vitest|Mocha|Cypress|Playwright|Selenium|Webpack|Vite|Rollup|Parcel|Turbopack|ESLint|Biome|Prettier|Black|Ruff|Flake8|React|Vue|Svelte|Angular|Solid"
    "|Next(?:\\.js)?|Nuxt|Remix|Astro|Gatsby|Django|Flask|FastAPI|Rails|Laravel|Phoenix|Express|NestJS|Spring(?: Boot)?|TypeScript|JavaScript|Python|Rust|Go|Golang|Kotlin|Java|Swift|Elixir|Ruby|PHP|Scala|Node(?:\\.js)?|Deno|Bun"
    "|Slack|Discord|Teams|Notion|Confluence|Jira|Linear|Trello|Asana|Figma|Sentry|Datadog|Grafana|Prometheus|Stripe|Auth0|Clerk|Prisma|Drizzle|TypeORM|Sequelize|SQLAlchemy|GraphQL|REST|gRPC|tRPC|Tailwind|Bootstrap"
    "|CommonJS|ESM|Makefile|Poetry|Pipenv|OpenAI|Anthropic|Claude|Gemini|GPT-\\S+|[\\w-]+\\.(?:js|ts|io|dev|ai)"
)
"""What projects are made with and run on: what moves from one of these to another is no household."""

OTHER_SORTS = {
    "operating system": r"(?:Arch |Ubuntu|Debian|Fedora|NixOS|Arch|Linux|macOS|Windows|FreeBSD|Mint|Manjaro|openSUSE|Pop!?_?OS|ChromeOS)(?:\s+(?:Linux|\d[\w.]*))?",
    "editor": r"Neovim|Vim|Emacs|VS ?Code|Visual Studio Code|Sublime(?: Text)?|Zed|Helix|PyCharm|IntelliJ(?: IDEA)?|WebStorm|Cursor|Nano|Kate|Notepad\+\+|Xcode",
    "browser": r"Firefox|Chrome|Safari|Brave|Edge|Vivaldi|Opera|Arc",
    "car": r"(?:Tesla|Toyota|Honda|Ford|BMW|Audi|Volkswagen|VW|Volvo|Subaru|Mazda|Kia|Hyundai|Renault|Peugeot|Fiat|Skoda|Porsche|Nissan|Jeep|Chevy|Chevrolet|Polestar)(?:\s+[\w-]+){0,2}",
}
"""Sorts whose names alone tell what a person uses ("I use Neovim")."""

SORT_OF_NAME = (
    ("drink", re.compile(rf"(?:\S+ ){{0,2}}(?:{DRINKS})", re.IGNORECASE)),
    ("airline", re.compile(AIRLINES)),
    ("phone", re.compile(rf"(?:{PHONES})(?: [\w+-]+){{0,3}}")),
    ("database", re.compile(DATABASES, re.IGNORECASE)),
    *((sort, re.compile(names)) for sort, names in OTHER_SORTS.items()),
    (UNTOLD, re.compile(PRODUCTS)),
    ("employer", re.compile(rf"\S+(?: \S+)*? (?:{'|'.join(FIRMS.split())})")),
)
"""The sort of a name by its spelling, the first that fits it whole."""
