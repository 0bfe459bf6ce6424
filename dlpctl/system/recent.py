"""The values that were used last, for caches that may not grow without end."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Values by key, of which the least recently used are forgotten. Thread-safe."""

    def __init__(self, most: int) -> None:
        """`most` is the number of values that are kept."""
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def pop(self, key: Key) -> Value | None:
        """Return a value, and forget it."""
        with self._lock:
            return self._values.pop(key, None)

    def values(self) -> list[Value]:
        with self._lock:
            return list(self._values.values())
