"""Add the names of `given_names.txt` and `surnames.txt` to a packed file.

The weights stay as they are, so that a new name needs no training.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zlib import crc32

import lists
from train import is_telling

from dlpctl.detect.entities.crf.model import Model, pack
from dlpctl.detect.entities.crf.words import normalize


def regraded(model: Model) -> bytes:
    """Return the bytes of a packed file whose gazetteer has all further names."""
    gazetteer = dict(zip(model._words, model._flags, strict=True))
    for name, shift, level in lists.further_names():
        code = crc32(normalize(name).encode())
        held = gazetteer.get(code, 0)
        if held >> shift & 3 < level:
            gazetteer[code] = held & ~(3 << shift) | level << shift
    stored = ((code, _pairs(model.weights(code))) for code in model._features)
    weights = {code: pairs for code, pairs in stored if is_telling(pairs)}
    return pack(gazetteer, weights, model.transitions)


def _pairs(stored: bytes) -> list[tuple[int, int]]:
    """Return the places and values of weights."""
    return list(zip(stored[::2], memoryview(stored[1::2]).cast("b"), strict=True))


def main() -> None:
    path = Path(sys.argv[1])
    path.write_bytes(regraded(Model.load(path)))


if __name__ == "__main__":
    main()
