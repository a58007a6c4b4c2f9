"""The merged change of LZ4 (pull request 809): bytes compressed and back."""

import hashlib

from .proving import proved

try:
    from cassandra.connection import locally_supported_compressions

    compress, decompress = locally_supported_compressions["lz4"]
except KeyError:
    compress = decompress = None
MODULES = ("connection", "cython_lz4")


def payload(size):
    """Bytes of which some repeat: ten that do, six that do not."""
    blocks = (b"row_value_" + hashlib.sha256(b"%d" % index).digest()[:6]
              for index in range(size // 16 + 1))  # fmt: skip
    return b"".join(blocks)[:size]


def setup():
    """Without python-lz4, the base cannot compress."""
    if compress is None:
        raise NotImplementedError


def back(packed):
    """What was compressed: two versions of liblz4 need not give the same bytes."""
    return decompress(packed)


SMALL, MIDDLE, LARGE = (payload(size) for size in (1024, 8192, 65536))
PACKED = [compress(each) for each in (SMALL, MIDDLE, LARGE)] if compress else [b""] * 3


@proved([], MODULES, answer=back)
def time_compress_1kb(compress=compress, body=SMALL):
    """1 KiB."""
    return compress(body)


@proved([], MODULES, answer=back)
def time_compress_8kb(compress=compress, body=MIDDLE):
    """8 KiB."""
    return compress(body)


@proved([], MODULES, answer=back)
def time_compress_64kb(compress=compress, body=LARGE):
    """64 KiB."""
    return compress(body)


@proved([], MODULES)
def time_decompress_1kb(decompress=decompress, body=PACKED[0]):
    """1 KiB."""
    return decompress(body)


@proved([], MODULES)
def time_decompress_8kb(decompress=decompress, body=PACKED[1]):
    """8 KiB."""
    return decompress(body)


@proved([], MODULES)
def time_decompress_64kb(decompress=decompress, body=PACKED[2]):
    """64 KiB."""
    return decompress(body)
