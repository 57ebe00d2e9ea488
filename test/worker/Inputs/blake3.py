# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A short and slow BLAKE3 for the tests' bundles, after the paper "BLAKE3: one
function, fast everywhere"."""

import struct

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
# The words that are mixed: columns, then diagonals.
MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
WORD = 0xFFFFFFFF


def rotate(x, n):
    return (x >> n | x << (32 - n)) & WORD


def compress(value, block, counter, size, flags):
    """Returns the new chaining value: 8 words."""
    v = list(value) + list(IV[:4]) + [counter & WORD, counter >> 32, size, flags]
    m = block
    for _ in range(7):
        for i, (a, b, c, d) in enumerate(MIXED):
            for word, first, second in ((m[2 * i], 16, 12),
                                        (m[2 * i + 1], 8, 7)):
                v[a] = (v[a] + v[b] + word) & WORD
                v[d] = rotate(v[d] ^ v[a], first)
                v[c] = (v[c] + v[d]) & WORD
                v[b] = rotate(v[b] ^ v[c], second)
        m = [m[i] for i in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)]


def chunk(data, counter, root):
    value = IV
    blocks = [data[i:i + 64] for i in range(0, len(data), 64)] or [b""]
    for i, block in enumerate(blocks):
        flags = CHUNK_START if i == 0 else 0
        if i == len(blocks) - 1:
            flags |= CHUNK_END | root
        words = struct.unpack("<16I", block.ljust(64, b"\0"))
        value = compress(value, words, counter, len(block), flags)
    return value


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    # The left subtree is complete, and as large as possible.
    left = 1024
    while left * 2 < len(data):
        left *= 2
    words = (tree(data[:left], counter, 0) +
             tree(data[left:], counter + left // 1024, 0))
    return compress(IV, words, 0, 64, PARENT | root)


def blake3(data):
    """Returns the digest: 32 bytes."""
    return struct.pack("<8I", *tree(data, 0, ROOT))
