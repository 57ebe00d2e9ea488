#!/usr/bin/env python3
# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a program to ThinLTO bitcode, links it with stock LLD and with ours
and the `argv` test plugin, which runs each job's command line with stock clang.

  identical.py [options] [<compiler flag>...] [--link [<linker flag>...]]...

Each --link begins the flags of another link of the same objects; without --link
there is one link without flags. A link is right if its output is identical to stock
LLD's, the plugin found each object identical, and

  - the plugin was given all jobs of the link, or
  - with --may-stay: the rest stayed in the linker, and one message has the reason.
    If nothing stays, there must be no such message.

Prints one line for each link: how many of its jobs were identical.

With --way=worker, dtlto-codegen runs each job in a process of the local plugin.
Then only the output shows that all objects are identical.
--way=both links in both ways, with a line for each.

With --way=parts, modules are split (--thinlto-dist-split). The output of the local
plugin's processes is compared with that of one thread of the linker for the same
parts. If the program runs on this machine, its output and exit code must be those
of stock LLD's program.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

# Instructions of a part, so few that even short modules are split.
PART = 8
# The linker's message if a remote clang has no option for something.
STAYS = (r"modules were compiled locally, since .+ cannot be "
         r"expressed on a remote compiler's command line")


def fail(what, output=""):
    sys.stderr.write(output)
    sys.stderr.write("identical: %s\n" % what)
    sys.exit(1)


def run(command, **kwargs):
    p = subprocess.run(command, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       encoding="utf-8", errors="replace", **kwargs)
    return p.returncode, p.stdout


def must(command, **kwargs):
    code, output = run(command, **kwargs)
    if code:
        fail("exit code %d: %s" % (code, " ".join(command)), output)
    return output


def parse():
    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--tools", required=True, help="folder of stock LLVM")
    p.add_argument("--ours", required=True, help="folder of our linkers")
    p.add_argument("--plugins", required=True)
    p.add_argument("--sources", required=True, help="folder of the program")
    p.add_argument("--work", required=True, help="a folder to make anew")
    p.add_argument("--linker",
                   help="link with this (ld.lld, lld-link, ...) and not "
                        "through clang's driver")
    p.add_argument("--may-stay", action="store_true",
                   help="jobs may be kept here if a message says why")
    p.add_argument("--way", choices=("clang", "worker", "both", "parts"),
                   default="clang", help="what runs the jobs")
    p.add_argument("--slim", choices=("0", "off"), default="0",
                   help="off: jobs have whole modules to import from")
    opts, rest = p.parse_known_args()
    groups = [[]]
    for flag in rest:
        if flag == "--link":
            groups.append([])
        else:
            groups[-1].append(flag)
    return opts, groups[0], groups[1:] or [[]]


def compile_all(opts, flags):
    """Puts every second module except the first into an archive; returns the
    link's inputs."""
    objects = []
    for source in sorted(glob.glob(opts.sources + "/*.c*")):
        compiler = "clang" if source.endswith(".c") else "clang++"
        name = os.path.splitext(os.path.basename(source))[0] + ".o"
        must([os.path.join(opts.tools, compiler), "-flto=thin", "-c", source,
              "-o", name] + flags, cwd=opts.work)
        objects.append(name)
    objects.remove("main.o")
    members = objects[1::2]
    must([os.path.join(opts.tools, "llvm-ar"), "rcs", "libmore.a"] + members,
         cwd=opts.work)
    return ["main.o"] + objects[0::2] + ["libmore.a"], len(objects) + 1


def link(opts, compile_flags, flags, inputs, way=None):
    """Returns exit code, messages and the output file's bytes. Without a way,
    stock LLD links."""
    folder = opts.ours if way else opts.tools
    # -shared and PDBs contain the output's name.
    out = os.path.join(opts.work, "out")
    if os.path.exists(out):
        os.remove(out)
    dist = []
    if way:
        spell = ("/thinlto-dist-%s:%s" if opts.linker == "lld-link"
                 else "--thinlto-dist-%s=%s")
        if way == "reference":
            dist = [spell % ("plugin", "local"), "/opt:lldltojobs=1"
                    if opts.linker == "lld-link" else "--thinlto-jobs=1"]
        elif way in ("worker", "parts"):
            dist = [spell % ("plugin", "local"),
                    spell % ("plugin-arg", "mode=process")]
        else:
            dist = [spell % ("plugin", "argv"),
                    spell % ("plugin-arg", "clang=" + opts.tools + "/clang"),
                    spell % ("plugin-arg", "keep=" + opts.work + "/kept")]
        dist.append(spell % ("fallback", "none"))
        # Jobs are counted, and a busy machine would start duplicates.
        dist.append(spell % ("duplicate", "0"))
        dist.append(spell % ("slim", opts.slim))
        if way in ("parts", "reference"):
            dist.append(spell % ("split", PART))
    if opts.linker:
        out_flags = ["/out:out"] if opts.linker == "lld-link" else ["-o", "out"]
        if opts.linker == "ld.lld":
            out_flags += ["-e", "entry"]
        command = [os.path.join(folder, opts.linker)] + inputs + flags
        command += dist + out_flags
    else:
        command = [opts.tools + "/clang++", "--ld-path=" + folder + "/ld.lld",
                   "-flto=thin"] + inputs + compile_flags + flags
        command += ["-Wl," + d for d in dist] + ["-o", "out"]
    env = dict(os.environ, DTLTO_PLUGIN_PATH=opts.plugins)
    code, output = run(command, cwd=opts.work, env=env)
    if not os.path.exists(out):
        return code, output, None
    with open(out, "rb") as f:
        return code, output, f.read()


def check(opts, way, code, output, identical, num_modules):
    # A plugin without a job isn't opened, and prints nothing.
    m = re.search(r"(\d+) jobs, (\d+) identical", output)
    jobs, good = (int(m.group(1)), int(m.group(2))) if m else (0, 0)
    if way == "worker":
        m = re.search(r"(\d+) of \d+ modules were compiled locally", output)
        good = jobs = num_modules - (int(m.group(1)) if m else 0)
    if code or good != jobs:
        fail("%d jobs, but %d identical" % (jobs, good), output)
    if not identical:
        fail("all jobs are identical, but not the binary", output)
    stays = re.findall(STAYS, output)
    if jobs < num_modules and not stays:
        fail("only %d of %d jobs were sent, without a word" %
             (jobs, num_modules), output)
    if jobs >= num_modules and stays:
        fail("all jobs were sent, but a message says otherwise", output)
    # Bundles can express what a command line can't.
    if stays and (way == "worker" or not opts.may_stay):
        fail("%d of %d jobs were sent" % (jobs, num_modules), output)
    if len(stays) > 1:
        fail("more than one note", output)
    return "%d of %d identical%s" % (good, jobs, ", the rest stayed here"
                                     if stays else "")


def run_program(opts, flags):
    """Returns exit code and output, or nothing if the program isn't for this
    machine."""
    if opts.linker or "-shared" in flags or "-r" in flags:
        return None
    try:
        return run([os.path.join(opts.work, "out")], cwd=opts.work)
    except OSError:
        return None


def check_parts(opts, compile_flags, flags, inputs, num_modules, stock):
    run_stock = run_program(opts, flags)
    code, output, reference = link(opts, compile_flags, flags, inputs,
                                   "reference")
    if code:
        fail("in parts, the link fails", output)
    if reference == stock:
        fail("nothing was split", output)
    run_reference = run_program(opts, flags)
    if run_reference != run_stock:
        fail("the program in parts does something else: %s instead of %s" %
             (run_reference, run_stock))
    code, output, ours = link(opts, compile_flags, flags, inputs, "parts")
    if code or ours != reference:
        fail("parts are not the same everywhere", output)
    m = re.search(STAYS, output)
    if m and not opts.may_stay:
        fail("parts stayed here", output)
    return "%d of %d identical%s, in parts%s" % (
        num_modules, num_modules, ", the rest stayed here" if m else "",
        "; the program does the same" if run_stock else "")


def main():
    opts, compile_flags, links = parse()
    shutil.rmtree(opts.work, ignore_errors=True)
    os.makedirs(opts.work)
    inputs, num_modules = compile_all(opts, compile_flags)
    for flags in links:
        title = " ".join(compile_flags + ["--link"] + flags)
        stock_code, stock_output, stock = link(opts, compile_flags, flags,
                                               inputs)
        if stock_code or not stock:
            fail("stock LLD fails with " + title, stock_output)
        for way in ("clang", "worker") if opts.way == "both" else (opts.way,):
            try:
                if way == "parts":
                    what = check_parts(opts, compile_flags, flags, inputs,
                                       num_modules, stock)
                else:
                    code, output, ours = link(opts, compile_flags, flags,
                                              inputs, way)
                    what = check(opts, way, code, output, ours == stock,
                                 num_modules)
                print("%s: %s: %s" % (title, way, what))
            except SystemExit:
                sys.stderr.write("identical: with %s, by %s\n" % (title, way))
                raise


if __name__ == "__main__":
    main()
