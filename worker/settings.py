"""The only reader of the environment and of the settings file.

Order of precedence: command line, `DREAMD_*`, the TOML file. A bad value, an unknown field in the file and an unknown `DREAMD_*` variable all stop
the start with the field's name and what is allowed; no value is ever repeated in a message, since it may be a secret.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from pipelines.errors import Refused

_PREFIX = "DREAMD_"
SCOPE_CHARS_MAX = 200
PORT_MAX = 65_535
_DATABASE = re.compile(r"/?|/[0-9]{1,6}")  # the number of a database of a Redis
_READ_BY_SCRIPTS = frozenset({"DREAMD_VENV", "DREAMD_PYTHON", "DREAMD_CONFIG"})


class BadSettings(Refused):
    """A setting is wrong; the message names the field, where it was set and what it must be."""


class Events(BaseModel, frozen=True, extra="forbid"):
    """Whose `status: verified` rows count as verified beside files named on the command line."""

    trusted: tuple[str, ...] = Field(default=(), description="producers whose status: verified rows count as verified")


class Health(BaseModel, frozen=True, extra="forbid"):
    """From when on `dreamd doctor`, /healthz and /metrics call something a problem; `pipelines.run.health.Limits` is what is judged by."""

    success_age_s: float = Field(default=172_800, gt=0, description="no dream completed for so long, although there is something to dream")
    wait_s: float = Field(default=3_600, gt=0, description="a request, a due unit or a session end in the spool waits for so long")
    worker_idle_s: float = Field(default=900, gt=0, description="a worker finished nothing for so long, while work is due or in its hands")
    seen_s: float = Field(default=120, gt=0, description="a process that told nothing for so long is not there")
    stalled_dreams: int = Field(default=3, ge=1, description="dreams in a row that confirm nothing, although something is eligible")
    failed_dreams: int = Field(default=1, ge=1, description="dreams in a row that failed")
    behind_s: float = Field(default=3_600, gt=0, description="a wiki folder shows an older revision for so long")
    unreadable_share: float = Field(default=0.05, ge=0, le=1, description="of the newest archived bytes may be unreadable")


Days = Annotated[int, Field(ge=0, le=36_500)]
DAYS_MIN = 14
"""Days the work log shows: what it shows is kept."""


def _kept(days: int | None) -> int | None:
    if days and days < DAYS_MIN:
        raise ValueError(f"must be 0, for ever, or at least {DAYS_MIN}: the work log shows so many days")
    return days


class ScopeRetention(BaseModel, frozen=True, extra="forbid"):
    """What is kept otherwise in one scope; what is left out is as for the scope above it."""

    turns_days: Days | None = None
    archive_days: Days | None = None

    _keeps_the_work_log = field_validator("turns_days", "archive_days")(_kept)


class Retention(BaseModel, frozen=True, extra="forbid"):
    """For how long what sessions said is kept, beside what was learnt of it; `pipelines.run.retention.Keep` is what goes by it."""

    turns_days: Days = Field(default=0, description="turns nothing rests on are kept for so many days (14 at least) after their session; 0: for ever")
    archive_days: Days = Field(
        default=0, description="archived log lines are kept for so many days (14 at least), cited ones too, which can then not be checked again; 0: for ever"
    )
    scopes: dict[str, ScopeRetention] | None = Field(default=None, description="the same for a scope and those below it, where it is to be otherwise")

    _keeps_the_work_log = field_validator("turns_days", "archive_days")(_kept)

    @field_validator("scopes")
    @classmethod
    def _name_scopes(cls, scopes: dict[str, ScopeRetention] | None) -> dict[str, ScopeRetention] | None:
        return scopes and {scope_path(scope): kept for scope, kept in scopes.items()}


HOSTED = "https://api.anthropic.com"
USD_MAX = 1_000_000
Usd = Annotated[Decimal, Field(ge=0, le=USD_MAX, max_digits=13, decimal_places=6)]
"""An amount of dollars, to a millionth."""
Effort = Literal["", "low", "medium", "high", "xhigh", "max"]


class ModelPrice(BaseModel, frozen=True, extra="forbid"):
    """What a model costs, in dollars a million tokens."""

    input: Usd
    output: Usd


class Stage(BaseModel, frozen=True, extra="forbid"):
    """Who answers the requests of a stage; what is left open is as `pipelines.engines.claude.config.default_stages` has it."""

    model: str | None = Field(default=None, min_length=1, max_length=200, description="who is asked; default: claude.model, else as here")
    effort: Effort | None = Field(
        default=None, description='how hard it thinks, "" leaves that to the model; default: "" where calls cost nothing, else as here'
    )
    max_tokens: int | None = Field(
        default=None,
        ge=256,
        le=128_000,
        description="the longest answer, the thinking before it included; default: as here, at most 8000 where calls cost nothing",
    )


class Claude(BaseModel, frozen=True, extra="forbid", hide_input_in_errors=True):
    """How a model is asked, and what that may cost. Without a budget nothing is asked that costs anything."""

    base_url: str | None = Field(
        default=None, description="a gateway or local server that speaks the Messages API, without /v1; default: Anthropic's own, which needs a key"
    )
    allow_remote: bool = Field(default=False, description="base_url may be on another machine than this one: what sessions say is sent there")
    paid: bool | None = Field(default=None, description="whether calls cost money, so that they need a budget; default: all but those to this machine")
    api_key: SecretStr | None = Field(
        default=None, description="better as the variable DREAMD_CLAUDE__API_KEY; default: ANTHROPIC_API_KEY, which is looked at only when there is a budget"
    )
    budget_usd: Usd | None = Field(default=None, description="the most one dream may cost, in dollars; none, and none on the command line: nothing is asked")
    day_usd: Usd | None = Field(default=None, description="the most all dreams of one day (UTC) may cost")
    scope_usd: Usd | None = Field(default=None, description="the most one scope may cost, ever")
    batch: Literal["never", "nightly", "always"] = Field(
        default="nightly", description="which dreams ask in batches, which cost half and take up to a day; where calls cost nothing none does"
    )
    batch_min: int = Field(
        default=5,
        ge=0,
        le=1_000,
        description="of the questions that follow reading, fewer than this are asked at once, at the full price, not waited for another day",
    )
    model: str | None = Field(default=None, min_length=1, max_length=200, description="one model for every stage that names none of its own")
    tier: Literal["capable", "small"] | None = Field(
        default=None, description="prompts for a capable model or a small one; default: small where calls cost nothing, else capable"
    )
    window_bytes: int | None = Field(
        default=None, ge=2_000, le=90_000, description="bytes of a session that are sent at once; default: 12000 where calls cost nothing, else 48000"
    )
    instructions: str = Field(default="", max_length=4_096, description="what dreams shall look for or leave out, in your words")
    calls_at_once: int | None = Field(default=None, ge=1, le=256, description="calls one process has in flight; default: 2 where they cost nothing, else 16")
    calls_per_minute: int | None = Field(default=None, ge=1, le=100_000, description="calls all processes of a store send in a minute; default: any number")
    timeout_s: float = Field(default=600, ge=1, le=3_600, description="how long an answer may take")
    prices: dict[str, ModelPrice] | None = Field(default=None, description="dollars a million tokens, of models that dreamd has no list price of")
    extract: Stage = Field(default=Stage(), description="reading sessions")
    check: Stage = Field(default=Stage(), description="whether a quote supports what is said to follow from it")
    relate: Stage = Field(default=Stage(), description="how two statements stand to each other")
    answer: Stage = Field(default=Stage(), description="looking up what a session left open")
    insight: Stage = Field(default=Stage(), description="what follows from several")

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, url: str | None) -> str | None:
        return None if url is None else messages_url(url)

    @field_validator("api_key")
    @classmethod
    def _can_be_sent(cls, key: SecretStr | None) -> SecretStr | None:
        return None if key is None else _sendable(key.get_secret_value())

    @model_validator(mode="after")
    def _stays_here(self) -> Claude:
        if self.base_url is not None and self.base_url != HOSTED and not self.local and not self.allow_remote:
            raise ValueError("base_url is on another machine: set allow_remote = true if what sessions say may be sent there")
        return self

    @property
    def local(self) -> bool:
        """Whether the server asked is on this machine."""
        return self.base_url is not None and is_loopback(self.base_url)

    @property
    def costs(self) -> bool:
        """Whether calls cost money."""
        return not self.local if self.paid is None else self.paid


def messages_url(url: str) -> str:
    """An address as the SDK wants it, which adds `/v1` itself: one copied with it, or with a slash at its end, names the same server."""
    wrong = "must be an address such as http://127.0.0.1:11434, without user, password, question mark or #"
    try:
        parts = urlsplit(url.strip())
        sound = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and not (parts.username or parts.password)
    except ValueError:
        raise ValueError(wrong) from None
    if not sound or parts.query or parts.fragment:
        raise ValueError(wrong)
    path = re.sub(r"/v1(/messages)?$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own by its form: no name is looked up."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _sendable(key: str) -> SecretStr | None:
    """A key as it can stand in a header; None for an empty one. Raises ValueError, which does not show it."""
    if not re.fullmatch(r"[\x21-\x7e]{0,500}", key.strip()):
        raise ValueError("must be visible ASCII without blanks")
    return SecretStr(key.strip()) if key.strip() else None


def claude_key(settings: Settings, environ: Mapping[str, str] | None = None) -> SecretStr | None:
    """The key of the provider: the setting, else for a server that is paid ANTHROPIC_API_KEY. Raises BadSettings when it cannot be one."""
    if settings.claude.api_key is not None or not settings.claude.costs:
        return settings.claude.api_key
    try:
        return _sendable((os.environ if environ is None else environ).get("ANTHROPIC_API_KEY", ""))
    except ValueError as error:
        raise BadSettings(f"bad key in the environment variable ANTHROPIC_API_KEY: {error}") from None


class Settings(BaseSettings):
    """Frozen settings of one process."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", hide_input_in_errors=True)

    wiki: Path | None = Field(default=None, description="the wiki folder commands work on")
    wikis: str = Field(default="~/dreamd", min_length=1, description="the folder in which a project's wiki is made that no --wiki names")
    data_dir: Path | None = Field(default=None, description="where store and archive lie; default: the user's data folder")
    database_url: SecretStr | None = Field(default=None, description="a shared store instead of one a wiki")
    scope: str = Field(default="local", description="the tenant/project/user path notes belong to")
    engine: Literal["auto", "local", "claude"] = Field(
        default="auto", description="what reads meaning: local (rules), claude (rules and a model), auto (claude where it has a budget or a local server)"
    )
    processes: int | None = Field(
        default=None, ge=1, le=64, description="processes that share what dreamd dream does here; default: where there is much to do, one a core, at most 4"
    )
    skew_s: float = Field(default=120, ge=0, le=86_400, description="times of two sessions closer than this give no order")
    change_share_max: float = Field(default=0.5, gt=0, le=1, description="a dream that would change more of a scope's notes is held for review")
    audience: str = Field(
        default="",
        pattern=r"^([a-z0-9][a-z0-9._-]{0,39})?$",
        description='whom is said to what sessions say that are taken in here, by a name such as "work"; default: nobody in particular',
    )
    edits_are_mine: bool = Field(
        default=False, description="what is changed in the wiki folder is your word at once, rules and retractions too: no agent may write there"
    )
    events: Events = Field(default=Events(), description="logs of events")
    redis_url: SecretStr | None = Field(default=None, description="where workers are rung for and the platform's plain list lies; default: one process")
    queue: str = Field(default="dreamd:requests", pattern=r"^[\w:.-]{1,100}$", description="the Redis list a platform pushes its requests to")
    nightly: str | None = Field(default=None, description="when the scope dreams by itself, as five cron fields such as 0 3 * * *; default: never")
    zone: str = Field(default="UTC", description="the time zone of nightly schedules")
    quiet_s: float = Field(default=600, ge=0, le=86_400, description="a session whose log is quiet for so long has ended")
    dream_at_end: bool = Field(
        default=True, description="the end of a session starts a dream, at most every half hour, where no worker serves and the engine costs nothing"
    )
    metrics_addr: str | None = Field(
        default=None, pattern=r"^(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5}$", description="host:port where a serving process answers /healthz and /metrics"
    )
    claude: Claude = Field(default=Claude(), description="asking a model")
    retention: Retention = Field(default=Retention(), description="for how long what was said is kept")
    health: Health = Field(default=Health(), description="from when on something is a problem")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="warning", description="the least severe event that is logged")

    @field_validator("scope")
    @classmethod
    def _is_a_path_of_names(cls, scope: str) -> str:
        return scope_path(scope)

    @field_validator("database_url")
    @classmethod
    def _names_a_store(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not _is_store_url(url.get_secret_value()):
            raise ValueError(
                "must name a file, sqlite:////path/to/store.db, or a PostgreSQL database, postgresql://user:password@host/database "
                "(in a password write / as %2F, @ as %40, : as %3A)"
            )
        return url

    @field_validator("metrics_addr")
    @classmethod
    def _has_a_port(cls, address: str | None) -> str | None:
        if address is not None and not 1 <= int(address.rpartition(":")[2]) <= PORT_MAX:
            raise ValueError(f"must be host:port with a port from 1 to {PORT_MAX}")
        return address

    @field_validator("redis_url")
    @classmethod
    def _is_a_redis(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not _is_redis_url(url.get_secret_value()):
            raise ValueError("must name a Redis: redis://host:6379/0, rediss://… or unix:///path/to/socket (in a password write / as %2F, @ as %40, : as %3A)")
        return url

    @field_validator("wiki", "data_dir")
    @classmethod
    def _is_a_path(cls, path: Path | None) -> Path | None:
        try:
            if path is None or "\0" not in str(path.expanduser()):
                return path
        except RuntimeError:  # the home of a user there is not
            pass
        raise ValueError("must be a path, without control characters and with a ~user that exists")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """No .env file, no secrets folder: one file, one prefix. What `load` passes in is the file's content, below the environment."""
        return env_settings, InitSettingsSource(settings_cls, init_settings())


def _is_store_url(url: str) -> bool:
    """Whether a URL has the form of one the store knows; nothing is opened."""
    if "\0" in unquote(url):
        return False
    if url.startswith("sqlite:///"):
        return "?" not in url  # options of the driver, of which the store sets those it needs
    try:
        parts = urlsplit(url)
        return parts.scheme in {"postgresql", "postgresql+psycopg"} and parts.port != 0 and bool(parts.path.strip("/"))
    except ValueError:  # a port that is no number: an unescaped password, as a rule
        return False


def _is_redis_url(url: str) -> bool:
    """Whether a URL has the form of one redis and Celery both read; nothing is opened."""
    try:
        parts = urlsplit(url)
        if parts.scheme in {"unix", "redis+socket"}:
            return len(parts.path) > 1
        return parts.scheme in {"redis", "rediss"} and parts.port != 0 and _DATABASE.fullmatch(parts.path) is not None
    except ValueError:  # a port that is no number: an unescaped password, as a rule
        return False


def scope_path(scope: str) -> str:
    """The scope, if it is one. Raises ValueError saying what a scope must be."""
    from pipelines.store.core import scope_path as storable_scope  # only here: most commands name no scope, and reading settings shall not load the store

    try:
        if len(scope) <= SCOPE_CHARS_MAX:
            return storable_scope(scope)
    except Refused:
        pass
    raise ValueError(
        "must be a path of names such as acme/web/ana: no empty part, no '.', no '..', no backslash, no blanks at the ends of a name, no control characters, "
        f"at most {SCOPE_CHARS_MAX} characters"
    )


def load(path: Path | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from one TOML file and the environment.

    `path` (or `DREAMD_CONFIG`) must exist when named; the default `$XDG_CONFIG_HOME/dreamd/config.toml` may be missing. Raises BadSettings.
    """
    env = os.environ if environ is None else environ
    _refuse_unknown(env)
    named = path or (Path(env["DREAMD_CONFIG"]) if env.get("DREAMD_CONFIG") else None)
    content = _read(named, must_exist=True) if named else _read(_default_file(env), must_exist=False)
    try:
        return Settings(**content)
    except ValidationError as error:
        raise BadSettings("; ".join(_explain(error, env, named or _default_file(env)))) from None
    except SettingsError as error:  # its cause holds the value
        field = re.search(r'field "(\w+)"', str(error))
        raise BadSettings(f'bad setting {field[1] if field else ""} (environment): must be JSON, such as ["watcher"] for a list of names') from None


def data_folder(settings: Settings) -> Path:
    """Where store and archive lie: the setting, else `$XDG_DATA_HOME/dreamd`, else `~/.local/share/dreamd`."""
    if settings.data_dir:
        return settings.data_dir.expanduser()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "dreamd"


def wikis_folder(settings: Settings) -> Path:
    """Where the wikis of projects are made."""
    return Path(settings.wikis).expanduser().absolute()


def cache_folder() -> Path:
    """What can be made again: `$XDG_CACHE_HOME/dreamd`, else `~/.cache/dreamd`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dreamd"


def _default_file(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "dreamd" / "config.toml"


def _read(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise BadSettings(f"settings file {path} does not exist: name another with --config or DREAMD_CONFIG, or leave it out") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"settings file {path} cannot be read as TOML: {error}") from error


def _refuse_unknown(env: Mapping[str, str]) -> None:
    known = {f"{_PREFIX}{name}".upper() for name in Settings.model_fields}
    for name in sorted(env):
        top = name.upper().split("__")[0]
        if name.upper().startswith(_PREFIX) and top not in known and name not in _READ_BY_SCRIPTS and not name.startswith("DREAMD_TEST_"):
            raise BadSettings(f"{name} is no setting: the environment may set {', '.join(sorted(known))}")


def _explain(error: ValidationError, env: Mapping[str, str], path: Path) -> list[str]:
    out = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        field = "__".join(str(x) for x in problem["loc"]) or "settings"
        variable = f"{_PREFIX}{field}".upper()
        place = f"environment variable {variable}" if variable in env else str(path)
        out.append(f"bad setting {field.replace('__', '.')} ({place}): {_what(problem['type'], problem['msg'])}")
    return out


def _what(kind: str, message: str) -> str:
    """What is wrong, without the words of the library that found it."""
    if kind == "extra_forbidden":
        return "there is no such setting"
    return message.removeprefix("Value error, ").replace("Input should", "should", 1)
