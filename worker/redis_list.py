"""Requests from any language over a plain Redis list: push a message, read the answer from a list of your own.

    RPUSH <queue> '{"version": 1, "request_id": "…", "scope": "…", "reply": "mine"}'      BLPOP <queue>:reply:mine 30

A message is moved to this consumer's own list (BLMOVE), its request is committed, its answer pushed, and only then it is removed (LREM). A consumer that dies
leaves its list behind; the next one takes it back. So a message is acted on at least once, and the request's id makes it once. What Redis itself
loses (FLUSHALL) before the answer came, the sender sends again.

Keys, all below the queue's name:
    <queue>                    list: messages, oldest first
    <queue>:taken:<consumer>   list: messages a consumer is at
    <queue>:consumers          set: every consumer that may have such a list
    <queue>:alive:<consumer>   text, expires: the consumer lives
    <queue>:reply:<name>       list, expires: answers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import redis
import structlog

from pipelines.errors import DreamdError
from worker.bell import Bell
from worker.messages import FAULTS_MAX, RequestAnswer, RequestStore, answer, reply_name, set_aside
from worker.queues import alive_of, consumers_of, reply_of

DOOR: Final = "redis-list"
WAIT_S: Final = 1.0
"""How long one look at an empty queue waits: a stop is heard within it."""
AGAIN_MAX_S: Final = 8.0
"""What goes wrong is tried again after WAIT_S, then after twice as long each time, up to this; below ALIVE_S, so that nobody thinks us dead."""
ALIVE_S: Final = 30
TAKE_BACK_S: Final = 30
REPLY_KEPT_S: Final = 86_400

log = structlog.get_logger("dreamd.redis_list")


class Consumer:
    """Takes messages off one queue. `name` is this process's own (host:pid:start); `step` is the failure tests' way in."""

    def __init__(
        self,
        client: redis.Redis,
        store: RequestStore,
        *,
        queue: str,
        name: str,
        params: Mapping[str, object],
        ring: Bell,
        mask: Callable[[str], str],
        step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client: Any = client
        self.store = store
        self.queue = queue
        self.name = name
        self.params = params
        self.ring = ring
        self.mask = mask
        self.step = step
        self.taken = f"{queue}:taken:{name}"
        self._faults = (b"", 0)  # the message we last failed at, and how often in a row

    def run(self, *, stopped: Callable[[float], bool], clock: Callable[[], float]) -> None:
        """Consume until stopped. `stopped(s)` waits up to s seconds and says whether to stop; `clock` gives seconds that only grow."""
        due, wait_s, told = 0.0, WAIT_S, ""
        while not stopped(0):
            try:
                if clock() >= due:
                    self.begin()
                    due = clock() + TAKE_BACK_S
                self.one(wait_s=WAIT_S)
                wait_s, told = WAIT_S, ""
            except Exception as error:  # the thread's edge: a fault of ours ends no consuming either, since nobody would hear of that
                name = type(error).__name__
                if name != told:
                    tell = log.warning if isinstance(error, redis.RedisError | DreamdError) else log.error
                    tell("requests_not_consumed", error=name)
                told, due = name, 0.0
                stopped(wait_s)
                wait_s = min(AGAIN_MAX_S, wait_s * 2)
        self._leave()

    def begin(self) -> int:
        """Say that we live, and take back what dead consumers were at, ourselves before a restart included. Returns how many messages."""
        self._live()
        back = 0
        for other in self.client.smembers(consumers_of(self.queue)):
            name = other.decode("utf-8", "replace")
            if name != self.name and not self.client.exists(alive_of(self.queue, name)):
                back += self._take_back(name)
        return back + self._take_back(self.name)

    def one(self, *, wait_s: float) -> RequestAnswer | None:
        """Act on the oldest message; None when none came in time. What goes wrong leaves the message in our list."""
        self._live()
        raw = self.client.blmove(self.queue, self.taken, wait_s, "LEFT", "RIGHT")
        if raw is None:
            return None
        self.step("taken")
        said = self._act_on(raw)
        self.step("committed")
        self._reply(raw, said)
        self.step("answered")
        self.client.lrem(self.taken, 1, raw)
        return said

    def _act_on(self, raw: bytes) -> RequestAnswer:
        """Act on a message. A fault of ours at it is raised, and it is tried again; one that finds it each time sets it aside."""
        try:
            return answer(self.store, raw, door=DOOR, params=self.params, ring=self.ring, mask=self.mask)
        except DreamdError:
            raise
        except Exception as error:  # the edge of a message: it must not hold up those behind it
            self._faults = (raw, self._faults[1] + 1 if self._faults[0] == raw else 1)
            if self._faults[1] < FAULTS_MAX:
                raise
            log.error("request_set_aside", error=type(error).__name__)
            return set_aside(self.store, raw, error, door=DOOR, mask=self.mask)

    def _reply(self, raw: bytes, said: RequestAnswer) -> None:
        if (name := reply_name(raw)) is None:
            return
        to = reply_of(self.queue, name)
        try:
            self.client.rpush(to, said.model_dump_json())
            self.client.expire(to, REPLY_KEPT_S)
        except redis.ResponseError as error:  # the sender's key holds something else: the request is recorded, and those behind it must not wait for this
            log.warning("reply_not_sent", error=type(error).__name__)

    def _live(self) -> None:
        self.client.sadd(consumers_of(self.queue), self.name)
        self.client.set(alive_of(self.queue, self.name), "1", ex=ALIVE_S)

    def _take_back(self, name: str) -> int:
        """Move a consumer's list to the front of the queue, newest first, so that the order stays; then forget the consumer."""
        count = 0
        while self.client.lmove(f"{self.queue}:taken:{name}", self.queue, "RIGHT", "LEFT") is not None:
            count += 1
        if name != self.name:
            self.client.srem(consumers_of(self.queue), name)
        return count

    def _leave(self) -> None:
        try:
            self._take_back(self.name)
            self.client.delete(alive_of(self.queue, self.name))
            self.client.srem(consumers_of(self.queue), self.name)
        except redis.RedisError:
            pass  # the next consumer takes back what is left
