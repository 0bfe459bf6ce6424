"""The bytes of a file: those of a long text are not in memory beside the text itself."""

from __future__ import annotations

_PIECE = 1 << 20


class FileBytes:
    """The bytes of a file, which are freed while a text holds the same."""

    def __init__(self, data: bytes) -> None:
        self._data: bytes | None = data
        self._mark = self._text = ""

    @classmethod
    def of(cls, data: bytes | FileBytes) -> FileBytes:
        return data if isinstance(data, FileBytes) else cls(data)

    @property
    def data(self) -> bytes:
        if self._data is not None:
            return self._data
        return (self._mark + self._text if self._mark else self._text).encode()

    def holds(self, data: bytes) -> bool:
        """Return whether these are the bytes."""
        if self._data is not None:
            return self._data == data
        at = 0
        for first in range(0, max(len(self._text), 1), _PIECE):
            piece = self._mark if not first else ""
            piece += self._text[first : first + _PIECE]
            if not data.startswith(encoded := piece.encode(), at):
                return False
            at += len(encoded)
        return at == len(data)

    def keep_as(self, text: str, mark: str) -> None:
        """Free the bytes, which are a byte order mark, or nothing, and a text in UTF-8; they are
        made again when they are needed.
        """
        self._text, self._mark, self._data = text, mark, None

    def forget(self) -> None:
        """Free the contents for good, in a process that needs them no longer."""
        self._text, self._mark, self._data = "", "", b""
