"""What commands that serve share: how they tell what they do, the store they work on, and the bell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipelines.store import Store, open_store
from worker import engines, logsetup, settings, wiring
from worker.bell import Bell, silent


def start(config: Path | None) -> settings.Settings:
    """Settings of a process that serves, with its logs set up: a line for whatever it does unless the settings say otherwise, with secrets masked."""
    loaded = settings.load(config)
    level = loaded.log_level if "log_level" in loaded.model_fields_set else "info"
    redactor = wiring.redactor()
    logsetup.configure(level, mask=lambda data: redactor.mask(data).data)
    return loaded


@contextlib.contextmanager
def open_serving(wiki: Path | None, loaded: settings.Settings) -> Iterator[tuple[Store, str | None]]:
    """The shared store the settings name, for which no wiki is needed; else the store of the wiki, and this machine's lasting name there."""
    if loaded.database_url is None:
        place = wiring.place_of(wiring.find_wiki(wiki, loaded), loaded, create=False)
        with wiring.open_only_store(place) as store:
            yield store, place.host
        return
    store = open_store(loaded.database_url.get_secret_value(), now=wiring.utc_now, setting="database_url (DREAMD_DATABASE_URL)", busy=wiring.tell_busy)
    try:
        yield store, None
    finally:
        store.close()


def plain_params(loaded: settings.Settings, *, nightly: bool = False) -> Mapping[str, object]:
    """What decides a dream nobody asks anything special of: the settings of the host that asks, so that every trigger's dream is the command's; only a
    nightly one may take its time and ask in batches. Raises Refused for an engine that costs money and has no budget."""
    engines.require(loaded, loaded.engine, works=False)
    return wiring.defaults_of(loaded, nightly=nightly).as_json()


def bell(loaded: settings.Settings) -> Bell:
    """How workers hear of due jobs: by Celery where a Redis is set. In the embedded default nobody has to be told: whoever runs jobs looks for them."""
    if loaded.redis_url is None:
        return silent
    url, queue, made = loaded.redis_url.get_secret_value(), loaded.queue, list[Bell]()

    def ring(jobs: Sequence[int]) -> None:
        if not made:  # only now: a command with nothing to ring for does not wait for Celery to load
            from worker.celery_app import make_app
            from worker.doorbell import Doorbell

            made.append(Doorbell(make_app(url, queue=queue)))
        made[0](jobs)

    return ring


def masked(text: str) -> str:
    """Text with its secrets masked, for what is kept of a message nobody could act on."""
    return wiring.redactor().mask(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "replace")
