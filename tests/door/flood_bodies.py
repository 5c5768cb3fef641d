"""flood_bodies.py - small bodies that grow: for the client and the origin of tests/door_flood.sh.

Each is a pair of Content-Encoding and bytes. None of them needs a library but zlib.
"""
import functools
import gzip
import struct
import zlib

# 18 MiB of zeros by brotli with a window of 16 MiB: 26 bytes.
BR_WINDOW = bytes.fromhex("cfffff7f002400e2b14072effff3ffff03800440" + "1c1680eefd07")


def zstd(blocks, window=23):
    """Zeros: each block is 4 bytes and becomes 128 KiB."""
    out = struct.pack("<I", 0xFD2FB528) + bytes([0, (window - 10) << 3])
    for i in range(blocks):
        head = (i == blocks - 1) | 1 << 1 | (128 << 10) << 3
        out += struct.pack("<I", head)[:3] + b"\0"
    return out


def gzip_zeros(n):
    """A gzip stream of that many zeros, or nearly: one block of it again and again, so that it costs nothing to make."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packer.compress(bytes(1 << 20))
    packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + one * (n >> 20) + b"\x03\0" + bytes(8)


def squeeze(data):
    return gzip.compress(data, 6, mtime=0)


@functools.lru_cache(maxsize=None)
def body(kind):
    if kind == "nested":  # gigabytes in a few hundred bytes
        return "gzip, gzip", squeeze(gzip_zeros(4 << 30))
    if kind == "thrice":
        return "gzip, gzip, gzip", squeeze(squeeze(gzip_zeros(4 << 30)))
    if kind == "members":  # 10 MB of members that hold nothing, in 20 KB
        return "gzip, gzip", squeeze(squeeze(b"") * 500_000)
    if kind == "members-bare":
        return "gzip", squeeze(b"") * 30_000
    if kind == "blocks":  # deflate blocks that hold nothing
        return "deflate", b"\x78\x9c" + b"\0\0\0\xff\xff" * 200_000 + b"\x01\0\0\xff\xff\0\0\0\x01"
    if kind == "br":
        return "br", BR_WINDOW
    if kind == "zstd":
        return "zstd", zstd(144)
    if kind == "zstd-long":
        return "zstd", zstd(20_000)
    if kind == "stored":  # a file of gzip that is not smaller than what is in it
        return "", gzip.compress(bytes(i * i * 7 & 255 for i in range(300_000)), 0, mtime=0)
    if kind in MAGIC:  # the beginning of something packed, again and again
        return "", MAGIC[kind]
    raise KeyError(kind)


MAGIC = {"eight": b"\x28\xb5\x2f\xfd" * 2, "magic-zstd": b"\x28\xb5\x2f\xfd" * 25_000, "magic-gzip": b"\x1f\x8b\x08" * 300_000,
         "magic-head": b"\x1f\x8b\x08\0\0\0\0\0\0\x03" * 10_000, "magic-zip": b"PK\x03\x04" * 500_000}
CODED = ["nested", "thrice", "members", "members-bare", "blocks", "br", "zstd", "zstd-long", *MAGIC]
