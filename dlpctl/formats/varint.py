"""Numbers of any size in bytes of seven bits, as Avro, Thrift and Protocol Buffers write them."""

from __future__ import annotations


def encode_varint(number: int) -> bytes:
    """Return the encoding of a number that is not negative."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
