"""Two payloads with one XXH64, made on purpose.

XXH64 reads 32 bytes at a time into four lanes of 8 bytes, each with a state of its own:
`state = rotl(state + word * P2, 31) * P1`. So two inputs may differ in one word; the next word of
the same lane is chosen such that both states meet again, and everything after is the same.
"""

import random
import struct

from uwf_core.cas.codec import encode

P1 = 0x9E3779B185EBCA87
P2 = 0xC2B2AE3D27D4EB4F
MASK = 2**64 - 1


def advanced(state: int, word: bytes) -> int:
    state = (state + struct.unpack("<Q", word)[0] * P2) & MASK
    state = (state << 31 | state >> 33) & MASK
    return state * P1 & MASK


def colliding_texts(type_: str, first: bytes, second: bytes) -> tuple[str, str]:
    """Two texts, one with `first`, one with `second` (8 ASCII bytes each), of one reference."""
    start = len(type_) + len(encode("x" * 200)) - 200  # of the text within what is hashed
    # The words at 16, 48, 80 and 112 all belong to the third lane, whose state begins as 0.
    begun = advanced(0, b"-" * 8)
    states = advanced(begun, first), advanced(begun, second)
    source = random.Random(7)
    while True:
        noise, more, one = (bytes(source.choices(range(32, 127), k=8)) for _ in range(3))
        gap = (advanced(states[0], noise) - advanced(states[1], more)) * pow(P2, -1, 2**64)
        other = struct.pack("<Q", (struct.unpack("<Q", one)[0] + gap) & MASK)
        if all(byte < 128 for byte in other):
            break
    texts = []
    for words in ((first, noise, one), (second, more, other)):
        text = bytearray(b"-" * 200)
        for offset, word in zip((48, 80, 112), words, strict=True):
            text[offset - start : offset - start + 8] = word
        texts.append(text.decode())
    return texts[0], texts[1]
