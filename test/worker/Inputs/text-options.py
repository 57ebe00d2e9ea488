# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""text-options.py [--all] <ld.lld> <dtlto-codegen> <job>

Gives the worker each LLVM option that takes text, or with --all each option. With
strace, compares the files that it opens or changes, its sockets and its programs with
those of the job without the option. An option is fine if the worker refuses it before
anything else, or if there is no difference. If LLVM doesn't finish with an option, it
is ended, and the option is named. Prints the number of each kind, and the accepted
options.
"""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import bundle

NAME = os.path.abspath("named-by-an-option")
# Numbers and choices. For flags, the help shows no value.
PLAIN = re.compile(r"=<(int|uint|long|ulong|value)>$")
# Seconds; a compile takes less than one.
LIMIT = 60
# Calls that access other files, machines and programs.
CALLS = ("open,openat,creat,socket,connect,bind,execve,rename,renameat,renameat2,"
         "unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate")


def options(linker):
    """Returns name -> the help's form of its value: `=<string>`, or nothing."""
    p = subprocess.run([linker, "-mllvm", "--help-list-hidden"],
                       stdout=subprocess.PIPE, encoding="utf-8")
    found = {}
    choices = {}
    last = None
    for line in p.stdout.splitlines():
        if m := re.match(r"  --?([\w.-]+)(\[?=<[^>]*>)?", line):
            last = m[1]
            found[last] = (m[2] or "").lstrip("[")
        elif (m := re.match(r"    =(\S+)", line)) and last:
            choices.setdefault(last, m[1])
    return found, choices


def run(codegen, job, trace):
    """Compiles the job; returns the calls that affect the machine."""
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + CALLS,
                    codegen, job, "-o", "object"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   # If LLVM crashes, it would start llvm-symbolizer.
                   env=dict(os.environ, LLVM_DISABLE_SYMBOLIZATION="1"))
    with open(trace, errors="replace") as f:
        calls = [re.sub(r"^\d+ +", "", line.rstrip()) for line in f]
    calls = [c for c in calls if not re.search(r'"/(proc|sys|dev)/|= -1 ENOENT|'
                                               r'^\+\+\+|^---|"object"', c)]
    return calls


def main():
    everything = sys.argv[1] == "--all"
    linker, codegen, job = sys.argv[1 + everything:]
    with open(job, "rb") as f:
        files = bundle.unpack(f.read())
    manifest = json.loads(files[0][2])
    del manifest["blake3"]

    def with_options(words):
        manifest["config"]["options"] = words
        files[0][2] = bundle.text_of(manifest)
        with open("job-with.tar", "wb") as f:
            f.write(bundle.pack(files))
        return "job-with.tar"

    plain = set(run(codegen, with_options([]), "trace"))
    refused, accepted, wrong, endless = [], [], [], []
    found, choices = options(linker)
    for name, value in sorted(found.items()):
        is_text = value and not PLAIN.match(value)
        if not is_text and not everything:
            continue
        text = NAME if is_text else choices.get(name, "1") if value else "true"
        changed = with_options(["-%s=%s" % (name, text)])
        try:
            p = subprocess.run([codegen, changed, "-o", "object"],
                               encoding="utf-8", errors="replace",
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            endless.append(name)
            continue
        if p.returncode and re.search(r"error: \S+: -mllvm -", p.stderr):
            refused.append(name)
            continue
        calls = run(codegen, changed, "trace")
        accepted.append(name)
        more = [c for c in calls if c not in plain]
        if more or os.path.lexists(NAME):
            wrong.append(name)
            print("%s: %s" % (name, "; ".join(more[:3]) or "made a file"))
            if os.path.lexists(NAME):
                os.remove(NAME)
    print("%d refused, %d accepted, %d that reached something" %
          (len(refused), len(accepted), len(wrong)))
    print("accepted:", " ".join(accepted))
    if endless:
        print("without an end:", " ".join(endless))
    # An empty list would prove nothing.
    sys.exit(1 if wrong or not accepted or not refused else 0)


main()
