"""A wrong setting stops the start, names its field and place, and never repeats the value."""

from pathlib import Path

import pytest

from worker.settings import BadSettings, load


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.toml"
    file.write_text('scope = "acme/web"\nskew_s = 5\n[events]\ntrusted = ["watcher"]\n')
    monkeypatch.setenv("DREAMD_SKEW_S", "7")
    settings = load(file)
    assert (settings.scope, settings.skew_s, settings.events.trusted) == ("acme/web", 7.0, ("watcher",))


def test_a_bad_value_names_the_field_and_hides_the_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_SKEW_S", "s3cret")
    with pytest.raises(BadSettings, match=r"skew_s.*DREAMD_SKEW_S") as caught:
        load(None)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "match"),
    [("scoop = 1\n", "scoop"), ("scope = 'a/../b'\n", "scope"), ("scope = \n", "cannot be read as TOML"), ("[events]\ntrust = []\n", r"events\.trust")],
)
def test_what_the_file_has_wrong_is_named_with_the_file(tmp_path: Path, text: str, match: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(BadSettings, match=match) as caught:
        load(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("port", ["0", "65536", "99999"])
def test_an_address_whose_port_cannot_be_is_refused_by_its_field(tmp_path: Path, port: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"metrics_addr = '127.0.0.1:{port}'\n")
    with pytest.raises(BadSettings, match=r"bad setting metrics_addr .*: must be host:port with a port from 1 to 65535"):
        load(file)
    file.write_text("metrics_addr = '[::1]:65535'\n")
    assert load(file).metrics_addr == "[::1]:65535"


def test_every_fault_of_the_default_file_is_told_in_one_line_with_its_path_and_what_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "dreamd" / "config.toml"
    file.parent.mkdir()
    file.write_text("skew_s = 'x'\nscope = 'a//b'\nscoop = 1\n")
    with pytest.raises(BadSettings) as caught:
        load(None, environ={"XDG_CONFIG_HOME": str(tmp_path)})
    told = str(caught.value)
    assert told.count(str(file)) == 3
    assert "\n" not in told
    assert f"bad setting scope ({file}): must be a path of names such as acme/web/ana" in told
    assert f"bad setting scoop ({file}): there is no such setting" in told
    assert f"bad setting skew_s ({file}): should be a valid number" in told


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(BadSettings, match="DREAMD_WIKKI is no setting"):
        load(None, environ={"DREAMD_WIKKI": "x", "HOME": "/nowhere"})


def test_a_named_file_must_exist_and_the_default_need_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load(None).scope == "local"
    with pytest.raises(BadSettings, match="does not exist"):
        load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "url",
    ["postgresql+psycopg2://ana:s3cret@db/x", "mysql://ana:s3cret@db/x", "postgresql://ana:s3cret@db", "postgresql://ana:s/3cret@db:5432/x",
     "nonsense", "sqlite://", "", "sqlite:////srv/s3cret.db?timeout=5", "sqlite:////srv/s3cret%00.db", "postgresql://db/x?host=s3cret%00"],
)  # fmt: skip
def test_a_url_of_no_store_stops_the_start_without_being_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", url)
    with pytest.raises(BadSettings, match=r"database_url.*DREAMD_DATABASE_URL.*postgresql://user:password@host/database") as caught:
        load(None)
    assert "3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite:////srv/dreamd/store.db", "postgresql://ana:s3cret@db/notes", "postgresql+psycopg://ana@/notes?host=/run/postgresql"])
def test_a_url_of_a_store_is_taken_and_never_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_DATABASE_URL", url)
    settings = load(None)
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == url
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    "url", ["redis://:s3cret@h:70000/0", "redis://:s3cret@h:0/0", "redis://:s3/cret@h:6379/0", "redis://[::1/0", "redis://h/s3cret", "unix://", "redis+socket://",
            "http://s3cret"]
)  # fmt: skip
def test_a_url_of_no_redis_stops_the_start_without_being_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_REDIS_URL", url)
    with pytest.raises(BadSettings, match=r"bad setting redis_url .*DREAMD_REDIS_URL.*: must name a Redis: redis://host:6379/0") as caught:
        load(None)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["redis://h", "redis:///0", "redis://h:6379/2", "rediss://u:p%2F@h:6380", "redis://[::1]:6379/0", "unix:///run/v.sock?db=2", "redis+socket:///run/v.sock"]
)  # fmt: skip
def test_a_url_of_a_redis_is_taken(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_REDIS_URL", url)
    assert load(None).redis_url is not None


@pytest.mark.parametrize("setting", ["wiki", "data_dir"])
@pytest.mark.parametrize("path", ["a\\u0000b", "~nobody-of-this-name/wiki"])
def test_a_path_no_system_takes_is_refused_by_its_field(setting: str, path: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'{setting} = "{path}"\n')
    with pytest.raises(BadSettings, match=f"bad setting {setting} .*: must be a path"):
        load(file)


def test_a_list_that_is_no_json_is_named_and_no_value_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere")
    monkeypatch.setenv("DREAMD_EVENTS__TRUSTED", "gatekeeper")
    with pytest.raises(BadSettings, match=r"events.*JSON") as told:
        load()
    assert told.value.__suppress_context__
    assert "gatekeeper" not in str(told.value)
