"""What lies in Redis, by name, and how it is reached: the plain list of platforms (`worker.redis_list`), and Celery's two queues below a prefix of ours.

Redis is imported where it is asked: the embedded default never loads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pipelines.errors import Refused

if TYPE_CHECKING:
    import redis

KEY_PREFIX: Final = "dream:"
"""Before every key of Celery's; a platform sets it as `global_keyprefix`."""
CONNECT_S: Final = 2.0
SOCKET_S: Final = 5.0
"""The longest anything waits for a Redis that hangs."""


def connect(url: str) -> redis.Redis:
    """A client that never waits for ever on a Redis that hangs. Takes Celery's spelling of a socket, too (redis+socket:///path?virtual_host=0).

    Raises Refused for options redis does not know; nothing is asked of a server.
    """
    import redis

    if url.startswith("redis+socket://"):
        url = url.replace("redis+socket://", "unix://", 1).replace("virtual_host=", "db=", 1)
    try:
        client = redis.Redis.from_url(url, socket_timeout=SOCKET_S, socket_connect_timeout=CONNECT_S)
        client.connection_pool.make_connection()
    except (TypeError, ValueError) as error:  # its words may hold the value
        raise Refused("redis_url has an option that cannot be: after ? stand those of redis-py, such as ssl_cert_reqs=none") from error
    return client


def broker_url(url: str) -> str:
    """A Redis URL as Celery spells it: a socket is redis+socket:///path?virtual_host=0 there."""
    if url.startswith("unix://"):
        return url.replace("unix://", "redis+socket://", 1).replace("db=", "virtual_host=", 1)
    return url


def bells_of(queue: str) -> str:
    """The queue bells go to, beside the queue of requests."""
    return f"{queue}:bells"


def consumers_of(queue: str) -> str:
    """The set of every consumer of the plain list that may have taken messages."""
    return f"{queue}:consumers"


def alive_of(queue: str, consumer: str) -> str:
    """The key that says, as long as it is there, that a consumer lives."""
    return f"{queue}:alive:{consumer}"


def reply_of(queue: str, name: str) -> str:
    """The list answers go to."""
    return f"{queue}:reply:{name}"


def kinds(queue: str) -> Mapping[str, str]:
    """The keys all others depend on, and the type each has."""
    return {queue: "list", consumers_of(queue): "set", f"{KEY_PREFIX}{queue}": "list", f"{KEY_PREFIX}{bells_of(queue)}": "list"}
