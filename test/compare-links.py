#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links the same inputs with stock LLD and with ours, and compares everything.

  compare-links.py [options] <linker> <argument>...

The current folder W holds the inputs. It is copied to W.run, where stock LLD
links; the folder then becomes W.stock. Then our linker links with the local
plugin, which gives W.ours. All links run in a folder of the same name, so that a
path in an output makes no difference, and none sees another link's files.

The exit codes, both output streams (also saved as W.stock.out, W.stock.err and so
on) and all files of the two folders must be identical, names and bytes. Unexpected
side files are therefore compared as well.

With --process-too, another link runs jobs in processes of the local plugin. Its
folder W.process must be identical as well.

With --jobs, another link uses a plugin that counts jobs, as W.counted: the files
must be identical, and the number of jobs must be the given one.

<linker> is ld.lld, lld-link, ld64.lld or wasm-ld; or ld.mold, ld.bfd or ld.gold.
These stand for the first linker of that name in PATH, with LLVM's plugin, and for our
launcher.
"""

import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys


# The note about jobs that can't run on another machine or in another process.
STAYS = (rb".*modules were compiled locally, since (.*) cannot be expressed on a "
         rb"remote compiler's command line\n")

# The note about jobs that buildbox-casd couldn't start: it forks a process while it
# writes a program's file, which another process executes.
BUSY = rb".* failed, but succeeded when retried; .*: Text file busy\n"

# Linkers that load LLVM's plugin.
OTHERS = ["ld.mold", "ld.bfd", "ld.gold"]


def fail(message):
    sys.stderr.write("compare-links: " + message + "\n")
    sys.exit(1)


def parse_args():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--stock", required=True, help="folder of stock LLD")
    p.add_argument("--ours", required=True, help="folder of our linker")
    p.add_argument("--only-stock", action="store_true",
                   help="stock LLD takes our part as well: is the link itself "
                        "the same each time?")
    p.add_argument("--counter", help="the plugin that counts")
    p.add_argument("--plugin", default="local",
                   help="ours links with this one; `local` without it")
    p.add_argument("--plugin-arg", action="append", default=[],
                   help="an argument of that plugin")
    p.add_argument("--process-too", action="store_true",
                   help="one more link, in which the local plugin runs each job "
                        "in a process")
    p.add_argument("--stays", metavar="WHY",
                   help="with --plugin-arg or --process-too, jobs must stay in "
                        "the linker, and the message that says so must have WHY "
                        "in it; without --stays, none may")
    p.add_argument("--plain", action="store_true",
                   help="none of our options: ours has to behave as stock LLD")
    p.add_argument("--jobs", type=int,
                   help="how many jobs a plugin must be given")
    p.add_argument("--status", type=int, default=0,
                   help="the exit code that both must have")
    p.add_argument("--unlike", action="append", default=[], metavar="GLOB",
                   help="files that are not compared; both must have them")
    p.add_argument("linker")
    p.add_argument("args", nargs=argparse.REMAINDER)
    return p.parse_args()


def our_options(opts, plugin, *args):
    """Returns the options that make our linker use a plugin."""
    if opts.linker == "lld-link":
        spell = "/thinlto-dist-{}:{}".format
    elif opts.linker in OTHERS:
        spell = "-plugin-opt=thinlto-dist-{}={}".format
    else:
        spell = "--thinlto-dist-{}={}".format
    # No cost history, since stock LLD doesn't have this file. A shared cache
    # for objects of other processes, since stock LLD must find them. No
    # duplicates: jobs are counted. Slim even the tests' small modules.
    elsewhere = plugin not in ("local", opts.counter) or "mode=process" in args
    # Without a ThinLTO module, a warning would be a difference.
    return [spell("plugin", plugin), spell("fallback", "none"),
            spell("progress", "never"),
            spell("costs", "off"), spell("duplicate", "0"), spell("slim", "0"),
            spell("cache", "shared" if elsewhere else "separate")] + [
        spell("plugin-arg", arg) for arg in args]


def copy_file(source, target):
    """Copies a file with its times. Caches are pruned by the time of the last
    access, so copying must not change it."""
    times = os.stat(source)
    shutil.copyfile(source, target)
    shutil.copymode(source, target)
    for path in source, target:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run(work, side, program, args):
    """Links in a copy of the folder; returns exit code, stdout and stderr."""
    folder = work + ".run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(work + "." + side, ignore_errors=True)
    shutil.copytree(work, folder, symlinks=True, copy_function=copy_file)
    # The program's path is in some messages and in PDB files, so both get the
    # same name.
    p = subprocess.run([os.path.basename(program)] + args, executable=program,
                       cwd=folder, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.rename(folder, work + "." + side)
    return [p.returncode, p.stdout, p.stderr]


def tree(folder):
    """Relative path -> (mode, content): bytes, or None for a folder."""
    found = {}
    for base, dirs, files in os.walk(folder):
        for name in dirs + files:
            path = os.path.join(base, name)
            if os.path.islink(path):
                content = os.readlink(path).encode()
            elif os.path.isdir(path):
                content = None
            else:
                with open(path, "rb") as f:
                    content = f.read()
            mode = os.lstat(path).st_mode
            found[os.path.relpath(path, folder)] = (mode, content)
    return found


def describe(side, a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y),
              min(len(a), len(b)))
    return "stock %d bytes, %s %d bytes, first difference at %d" % (
        len(a), side, len(b), at)


def compare_files(work, side, unlike):
    """Returns the differences between the files of W.stock and W.<side>."""
    differences = []
    theirs, mine = tree(work + ".stock"), tree(work + "." + side)
    for path in sorted(set(theirs) | set(mine)):
        if path not in mine:
            differences.append("%s: only stock has it" % path)
        elif path not in theirs:
            differences.append("%s: only %s has it" % (path, side))
        elif theirs[path][0] != mine[path][0]:
            differences.append("%s: mode: stock %o, %s %o" %
                               (path, theirs[path][0], side, mine[path][0]))
        elif theirs[path] != mine[path] and not any(
                fnmatch.fnmatch(path, glob) for glob in unlike):
            differences.append("%s: %s" % (path, describe(
                side, theirs[path][1], mine[path][1])))
    return differences


def main():
    opts = parse_args()
    work = os.getcwd()
    stock_program = os.path.join(opts.stock, opts.linker)
    our_program = os.path.join(opts.ours, opts.linker)
    if opts.linker in OTHERS:
        stock_program = shutil.which(opts.linker) or fail("no " + opts.linker)
        our_program = os.path.join(opts.ours, "../lib/dtlto/bin", opts.linker)
        opts.args = ["-m", "elf_x86_64", "-plugin", os.path.join(opts.stock, "../lib/LLVMgold.so"),
                     "-plugin-opt=thinlto"] + opts.args
    stock = run(work, "stock", stock_program, opts.args)
    sides = {"stock": stock}
    differences = []
    if stock[0] != opts.status:
        differences.append("exit code of stock: %d, not %d" %
                           (stock[0], opts.status))

    def compare(side, program, options, processes):
        result = run(work, side, program, options + opts.args)
        if processes and opts.stays:
            stays = re.search(STAYS, result[2])
            if not stays or opts.stays.encode() not in stays[1]:
                differences.append("no message that jobs stay here: " +
                                   opts.stays)
            result[2] = re.sub(STAYS, b"", result[2])
        if opts.plugin == "reapi":
            result[2] = re.sub(BUSY, b"", result[2])
        sides[side] = result
        if stock[0] != result[0]:
            differences.append("exit code: stock %d, %s %d" %
                               (stock[0], side, result[0]))
        for i, stream in ((1, "standard output"), (2, "standard error")):
            if stock[i] != result[i]:
                differences.append("%s: %s" % (
                    stream, describe(side, stock[i], result[i])))
        differences.extend(compare_files(work, side, opts.unlike))

    if opts.only_stock:
        compare("ours", stock_program, [], False)
    elif opts.plain:
        compare("ours", our_program, [], False)
    else:
        compare("ours", our_program,
                our_options(opts, opts.plugin, *opts.plugin_arg),
                bool(opts.plugin_arg))
        # Not if the test names a plugin or its arguments.
        if opts.process_too and opts.plugin == "local" and not opts.plugin_arg:
            compare("process", our_program,
                    our_options(opts, opts.plugin, "mode=process"), True)
    for side, (_, out, err) in sides.items():
        for suffix, text in (("out", out), ("err", err)):
            with open("%s.%s.%s" % (work, side, suffix), "wb") as f:
                f.write(text)

    if opts.jobs is not None and not opts.only_stock:
        log = work + ".jobs"
        if os.path.exists(log):
            os.remove(log)
        counted = run(work, "counted", our_program,
                      our_options(opts, opts.counter, "log=" + log) + opts.args)
        sides["counted"] = counted
        if stock[0] != counted[0]:
            differences.append("exit code: stock %d, counted %d" %
                               (stock[0], counted[0]))
        differences += compare_files(work, "counted", opts.unlike)
        jobs = 0
        if os.path.exists(log):
            with open(log) as f:
                jobs = sum(line.startswith("submit ") for line in f)
        if jobs != opts.jobs:
            differences.append("the plugin was given %d jobs, not %d" %
                               (jobs, opts.jobs))

    if differences:
        for side, result in sides.items():
            for text in result[1:]:
                for line in text.decode(errors="replace").splitlines():
                    sys.stderr.write("%s: %s\n" % (side, line))
        fail("\n  ".join(["not the same:"] + differences))


if __name__ == "__main__":
    main()
