# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Substitutions for all tests, in addition to LLVM's tools (of the LLVM that
# dtlto is built with) under their plain names:
#
#   %clang %clangxx         stock clang
#   %thin %thinxx           the same, compiling freestanding ThinLTO bitcode for
#                           x86-64 Linux
#   %ar                     llvm-ar
#   %ld.lld %lld-link %ld64.lld %wasm-ld
#                           our linker
#   %stock-ld.lld ...       stock LLD
#   %same <linker> <args>   compare-links.py, ours with the local plugin
#   %same-here <linker> <args>
#                           the same, in the linker for any value of `worker`
#   %plain <linker> <args>  compare-links.py, without our options
#   %gold-bin               the folder of our launchers for other linkers, each a
#                           feature: ld.mold, ld.bfd, ld.gold
#   %enter                  creates an empty %t and changes to it
#   %prog                   the folder of a small program with six modules
#   %compile-prog           copies its objects: main.o alpha.o beta.o gamma.o, and
#                           libd.a with delta.o and put.o
#   %prog-inputs            those five files
#   %program                %enter, and copies those files and `stock`, the output
#                           of stock LLD
#   %none                   the linker's option for no local fallback
#   %fields                 status/Inputs/fields.py, which checks JSON and prints
#                           it as lines
#   %assembly               the folder of seven modules, five of which contain or
#                           import assembly that reads the files `blob` and `words`
#   %assembly-inputs        their objects
#   %plugins                the folder of the test plugins
#   %python                 Python 3, with the standard library alone
#   %clang-name             stock clang's name in Debian, clang-19
#   %llvm-version           LLVM's version, 19.1.7
#   %build                  our build tree
#   %small <command>        runs a command with a private disk of 20 KiB mounted on
#                           the existing folder `small`; feature small-disk
#
# Parameters (lit -D<name>=<value>):
#
#   linker=stock            stock LLD replaces our linker in %same and %plain. Finds
#                           links that are not reproducible by themselves. Without
#                           it, the feature `ours` is available.
#   worker=1                dtlto-codegen runs the jobs of %same and of argv/, in
#                           processes of the local plugin. worker=also: as well as
#                           the linker, or clang. worker=parts: argv/ splits
#                           modules, and compares with the linker's own parts
#   slow=0                  skips the tests that require the feature `slow`: those
#                           that take more than 7 s when others run, too
#   other-plugins=FOLDER    plugins of a build with another LLVM, for abi/

import os
import shutil
import subprocess
import sys
import tempfile

import lit.formats

config.name = "dtlto"
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_format = lit.formats.ShTest(execute_external=False)

tools = config.llvm_tools_dir
ours = os.path.join(config.dtlto_obj_root, "bin")
config.worker = lit_config.params.get("worker", "0")
if config.worker not in ("0", "1", "also", "parts"):
    lit_config.fatal("worker=%s: 0, 1, also or parts" % config.worker)
if config.worker != "0":
    config.available_features.add("worker")
if lit_config.params.get("slow", "1") == "1":
    config.available_features.add("slow")
config.other_plugins = lit_config.params.get("other-plugins")
if config.other_plugins:
    config.available_features.add("other-plugins")
only_stock = lit_config.params.get("linker") == "stock"
config.available_features.add("only-stock" if only_stock else "ours")

config.environment["PATH"] = os.pathsep.join(
    [tools, config.environment["PATH"]])
# Messages are compared, so no colours and one language.
config.environment["TERM"] = "dumb"
config.environment["LC_ALL"] = "C.UTF-8"
# For the daemons of distcc/, which find clang by its name.
config.llvm_major = config.llvm_version.split(".")[0]
config.environment["DTLTO_TEST_CLANG"] = "/usr/bin/clang-" + config.llvm_major
config.available_features.add("llvm-" + config.llvm_major)
config.available_features.add(config.link_llvm + "-llvm")
# Code generation data in a format that dtlto supports.
if int(config.llvm_major) >= 22:
    config.available_features.add("codegen-data")
# No cost history: this path can't become a folder. Downloaded sources are
# cached in the user's own folder.
users_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
config.environment["XDG_CACHE_HOME"] = os.path.join(
    config.test_source_root, "lit.cfg.py", "cache")
# No statistics, and no options of the user: a folder that does not exist.
config.environment["DTLTO_STATS"] = "off"
config.environment["XDG_CONFIG_HOME"] = os.path.join(
    config.dtlto_obj_root, "test", "no-config")
# For a run of lit by hand; ctest sets these.
config.environment.setdefault(
    "ASAN_OPTIONS", "detect_leaks=0:detect_container_overflow=0")
config.environment.setdefault(
    "TSAN_OPTIONS", "suppressions=" +
    os.path.join(config.test_source_root, "tsan.supp"))
if config.sanitizers != [""]:
    config.available_features.add("sanitizers")
# The thread sanitizer writes files of its own.
if "thread" in config.sanitizers:
    config.available_features.add("tsan")

# Remote caches: their libraries, and stock servers.
for scheme in "http", "redis":
    if os.path.exists(os.path.join(config.dtlto_obj_root, "lib", "dtlto",
                                   "libdtlto_store_%s.so" % scheme)):
        config.available_features.add("store-" + scheme)
if shutil.which("redis-server"):
    config.available_features.add("redis-server")
nginx = shutil.which("nginx", path=config.environment["PATH"] +
                     ":/usr/sbin:/sbin")
if nginx and b"http_dav_module" in subprocess.run(
        [nginx, "-V"], stderr=subprocess.PIPE).stderr:
    config.available_features.add("nginx")

# Without site packages: most tests are too short to search their paths.
python = config.python = sys.executable + " -S"
compare = "{} {} --stock={} --ours={} --counter={}".format(
    python, os.path.join(config.test_source_root, "compare-links.py"), tools,
    ours, os.path.join(config.dtlto_obj_root, "test", "plugins",
                       "libdtlto_count.so"))
if only_stock:
    compare += " --only-stock"
same = compare + {"0": "", "1": " --plugin-arg=mode=process", "also": " --process-too"}.get(
    config.worker, "")
clang = os.path.join(tools, "clang")
clangxx = os.path.join(tools, "clang++")
freestanding = (" --target=x86_64-linux-gnu -O2 -flto=thin -ffreestanding"
                " -nostdinc -c")



def made_once(sources, archive, members, link):
    """Compiles a folder's sources to ThinLTO bitcode, creates an archive of
    members and links `stock`, once for this run of lit, because hundreds of
    tests start with these files. Returns a command that copies the objects, and
    one that copies `stock` as well. Two concurrent runs may share the build
    tree."""
    folder = os.path.join(config.dtlto_obj_root, "test", "programs",
                          os.path.basename(sources))
    os.makedirs(folder, exist_ok=True)
    new = tempfile.mkdtemp(dir=os.path.dirname(folder))
    names = sorted(f for f in os.listdir(sources) if f.endswith(".c"))
    for command in ((clang + freestanding).split() +
                    [os.path.join(sources, name) for name in names],
                    [os.path.join(tools, "llvm-ar"), "rcs", archive] + members,
                    [os.path.join(tools, "ld.lld"), "-o", "stock"] + link):
        subprocess.run(command, cwd=new, check=True)
    made = sorted(os.listdir(new))
    for name in made:
        os.replace(os.path.join(new, name), os.path.join(folder, name))
    shutil.rmtree(new)
    copy = "cp %s ." % " ".join(os.path.join(folder, name)
                                for name in made if name != "stock")
    return copy, copy.replace("cp ", "cp %s " % os.path.join(folder, "stock"))


prog_inputs = "main.o alpha.o beta.o gamma.o libd.a"
prog = os.path.join(config.test_source_root, "Inputs", "prog")
copy_objects, copy_all = made_once(prog, "libd.a", ["delta.o", "put.o"],
                                   ["-e", "start"] + prog_inputs.split())

# lit treats the names as regular expressions, in this order and before its own
# %s and %t.
config.substitutions += [
    (r"%users-cache\b", users_cache),
    (r"%program\b", "%enter && " + copy_all),
    (r"%enter\b", "rm -rf %t && mkdir %t && cd %t"),
    (r"%compile-prog\b", copy_objects),
    (r"%assembly-inputs\b", "main.o file.o function.o macro.o plain.o other.o user.o"),
    (r"%assembly\b", os.path.join(config.test_source_root, "Inputs",
                                  "assembly")),
    (r"%prog-inputs\b", prog_inputs),
    (r"%none\b", "--thinlto-dist-fallback=none"),
    (r"%fields\b", "{} {}".format(python, os.path.join(
        config.test_source_root, "status", "Inputs", "fields.py"))),
    (r"%clang-name\b", "clang-" + config.llvm_major),
    (r"%llvm-version\b", config.llvm_version),
    (r"%clangxx\b", clangxx),
    (r"%clang\b", clang),
    (r"%thinxx\b", clangxx + freestanding + " -fno-exceptions -fno-rtti"),
    (r"%thin\b", clang + freestanding),
    (r"%ar\b", os.path.join(tools, "llvm-ar")),
    (r"%same-here\b", compare),
    (r"%same\b", same),
    (r"%plain\b", compare + " --plain"),
    (r"%prog\b", prog),
    (r"%other-plugins\b", config.other_plugins or "/nonexistent"),
    (r"%plugins\b", os.path.join(config.dtlto_obj_root, "test", "plugins")),
    (r"%python\b", python),
    (r"%build\b", config.dtlto_obj_root),
]
# Linkers that load LLVM's plugin, and ours. They lack the sanitizers' libraries.
if config.sanitizers == [""] and os.path.exists(
        os.path.join(config.dtlto_obj_root, "lib/dtlto/libdtlto_gold.so")):
    config.available_features |= {
        name for name in ("ld.mold", "ld.bfd", "ld.gold") if shutil.which(name)}
config.substitutions.append(
    (r"%gold-bin\b", os.path.join(config.dtlto_obj_root, "lib/dtlto/bin")))
for linker in ("ld.lld", "lld-link", "ld64.lld", "wasm-ld"):
    name = linker.replace(".", r"\.") + r"\b"
    config.substitutions += [
        ("%stock-" + name, os.path.join(tools, linker)),
        ("%" + name, os.path.join(tools if only_stock else ours, linker)),
    ]

# Substitutions for tests with the program of argv/Inputs/bare: six modules, two
# of them in libmore.a. %program creates it, %inputs are the linker's arguments
# for it, %bare is its folder.
bare = os.path.join(config.test_source_root, "argv", "Inputs", "bare")
bare_inputs = "-e entry main.o choose.o scramble.o wide.o libmore.a"
config.bare_program = [
    (r"%program\b", "%enter && " + made_once(
        bare, "libmore.a", ["fold.o", "table.o"], bare_inputs.split())[1]),
    (r"%inputs\b", bare_inputs),
    (r"%bare\b", bare),
]

# Features that not every build has, or that a machine may not allow.
for feature, names in {
        "bench-plugins": ["bench/libdtlto_replay.so"],
        "distcc-plugin": ["lib/dtlto/libdtlto_distcc.so"],
        "static-worker": ["lib/dtlto/dtlto-codegen-static"],
        "reapi-plugin": ["lib/dtlto/libdtlto_reapi.so",
                         "lib/dtlto/dtlto-codegen-static"],
        "icecc-plugin": ["lib/dtlto/libdtlto_icecc.so",
                         "lib/dtlto/dtlto-codegen-static"]}.items():
    if all(os.path.exists(os.path.join(config.dtlto_obj_root, name))
           for name in names):
        config.available_features.add(feature)
# Servers of the Remote Execution API (reapi/). Debian has them since sid; on
# other systems, a chroot with them is used.
for name, words in {"buildbox": [], "justbuild": ["--just"]}.items():
    server = subprocess.run(
        [sys.executable, "-S", os.path.join(config.test_source_root, "reapi",
                                            "Inputs", "server.py"), "--where"] +
        words, stdout=subprocess.PIPE, universal_newlines=True)
    if server.returncode == 0:
        config.available_features.add(name)
        if server.stdout.strip() != "/":
            config.environment["DTLTO_BUILDBOX_ROOT"] = server.stdout.strip()
# The network of a cluster (icecc/) needs root, or user namespaces.
unshare = ["unshare", "-n", "-m"]
if os.geteuid() != 0:
    unshare += ["-U", "-c", "--keep-caps"]
try:
    if subprocess.run(unshare + ["true"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode == 0:
        config.available_features.add("namespaces")
except OSError:
    pass

unshare = ["unshare", "--mount"]
if os.geteuid() != 0:
    unshare.append("--map-root-user")
mount = ["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs"]
if subprocess.run(unshare + mount + ["/mnt"], stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("small-disk")
config.substitutions.append(
    (r"%small\b", "{} sh -c '{} small && exec \"$@\"' sh".format(
        " ".join(unshare), " ".join(mount))))

# Control groups with a memory limit: a process that exceeds it is killed.
if subprocess.run([sys.executable, "-S", os.path.join(
        config.test_source_root, "local", "Inputs", "limited.py"), "64",
        sys.executable, "-S", "-c", "b'x' * (256 << 20)"],
        stderr=subprocess.DEVNULL).returncode == 137:
    config.available_features.add("memory-cgroup")

config.available_features.update(p for p in ("make", "ninja") if shutil.which(p))

# A file system whose server can be stopped.
if shutil.which("bindfs") and subprocess.run(
        [sys.executable, "-S", os.path.join(config.test_source_root, "errors",
                                            "Inputs", "silent.py"), "true"],
        stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("bindfs")

# LLD's own distribution of ThinLTO.
if "--thinlto-distributor=" in subprocess.run(
        [os.path.join(tools, "ld.lld"), "--help"], stdout=subprocess.PIPE,
        universal_newlines=True).stdout:
    config.available_features.add("distributor")

for target in config.llvm_targets:
    config.available_features.add(target.lower() + "-target")
