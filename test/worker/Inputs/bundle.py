# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bundle.py <from> <to> <change>...

Changes a bundle. Sizes and digests are updated, so that nothing else is wrong,
except with

  flip=ROLE        changes a byte in the middle of the first input with that
                   role, and no digest
  digest           changes the manifest's own digest

Other changes:

  KEY=VALUE        sets a string of the manifest (llvm, name, ...) or its version
  config=KEY=JSON  sets a key of the configuration
  junk=ROLE        replaces the first such input by a text
  file=ROLE=PATH   replaces it by that file
  drop=ROLE        removes the first such input
  cut=N            removes the last N bytes
  more=TEXT        appends TEXT
"""

import json
import sys

sys.dont_write_bytecode = True
from blake3 import blake3


def unpack(data):
    """Returns [name, header, content] of each file."""
    files = []
    at = 0
    while data[at]:
        header = data[at:at + 512]
        size = int(header[124:135], 8)
        name = header[:100].rstrip(b"\0").decode()
        files.append([name, header, data[at + 512:at + 512 + size]])
        at += 512 + (size + 511) // 512 * 512
    return files


def pack(files):
    data = b""
    for _, header, content in files:
        header = header[:124] + b"%011o " % len(content) + header[136:]
        total = sum(header[:148]) + 8 * 32 + sum(header[156:])
        header = header[:148] + b"%06o\0 " % total + header[156:]
        data += header + content + b"\0" * (-len(content) % 512)
    return data + b"\0" * 1024


def text_of(manifest):
    text = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False)
    body = text.encode()[:-1]
    return body + b',"blake3":"%s"}\n' % blake3(body).hex().encode()


def first(manifest, role):
    return next(i for i, item in enumerate(manifest["inputs"])
                if item["role"] == role)


def main():
    source, target, *changes = sys.argv[1:]
    with open(source, "rb") as f:
        files = unpack(f.read())
    manifest = json.loads(files[0][2])
    del manifest["blake3"]
    # A manifest has exactly one valid text.
    if text_of(manifest) != files[0][2]:
        sys.exit("bundle: the manifest of %s has another form" % source)

    last = []
    for change in changes:
        what, _, value = change.partition("=")
        if what in ("flip", "digest", "cut", "more"):
            last.append((what, value))
        elif what == "config":
            key, _, value = value.partition("=")
            manifest["config"][key] = json.loads(value)
        elif what == "drop":
            at = first(manifest, value)
            del manifest["inputs"][at], files[at + 1]
        elif what in ("junk", "file"):
            role, _, path = value.partition("=")
            at = first(manifest, role)
            content = b"no bitcode\n"
            if what == "file":
                with open(path, "rb") as f:
                    content = f.read()
            files[at + 1][2] = content
            manifest["inputs"][at].update(size=len(content),
                                          blake3=blake3(content).hex())
        elif what in manifest:
            manifest[what] = int(value) if what == "version" else value
        else:
            sys.exit("bundle: unknown change " + change)
    files[0][2] = text_of(manifest)
    for what, value in last:
        if what == "flip":
            at = first(manifest, value) + 1
            content = bytearray(files[at][2])
            content[len(content) // 2] ^= 0xFF
            files[at][2] = bytes(content)
        elif what == "digest":
            files[0][2] = files[0][2][:-67] + b"0" * 64 + files[0][2][-3:]
    data = pack(files)
    for what, value in last:
        if what == "cut":
            data = data[:-int(value)]
        elif what == "more":
            data += value.encode()
    with open(target, "wb") as f:
        f.write(data)


if __name__ == "__main__":
    main()
