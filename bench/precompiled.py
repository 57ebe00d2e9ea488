# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Headers of LLVM and clang that are parsed once for many files: it halves the CPU
time of prepare-clang. LLVM 19's own build has nothing like it.

As a program: precompiled.py FOLDER COMPILER ARGUMENT..., a CMake compiler launcher.
It compiles with the header of FOLDER that serves the source file, and without one
where that doesn't work."""

import json
import os
import shlex
import subprocess
import sys

# What most files of a part of the source include, or get by what they include.
STANDARD = """algorithm cassert cstdint functional map memory optional set string
utility vector"""
ADT = """llvm/ADT/APSInt.h llvm/ADT/DenseMap.h llvm/ADT/STLExtras.h
llvm/ADT/SmallPtrSet.h llvm/ADT/SmallSet.h llvm/ADT/SmallString.h
llvm/ADT/SmallVector.h llvm/ADT/StringExtras.h llvm/ADT/StringSwitch.h
llvm/Support/ErrorHandling.h llvm/Support/FileSystem.h llvm/Support/Path.h
llvm/Support/raw_ostream.h llvm/TargetParser/Triple.h"""
IR = """llvm/ADT/MapVector.h llvm/ADT/SetVector.h llvm/IR/Constants.h
llvm/IR/DebugInfoMetadata.h llvm/IR/Dominators.h llvm/IR/IRBuilder.h
llvm/IR/IntrinsicInst.h llvm/IR/Module.h llvm/IR/PassManager.h
llvm/InitializePasses.h llvm/Pass.h llvm/Support/CommandLine.h
llvm/Support/Debug.h llvm/Support/MathExtras.h"""
ANALYSIS = """llvm/Analysis/AliasAnalysis.h llvm/Analysis/LoopInfo.h
llvm/Analysis/TargetLibraryInfo.h llvm/Analysis/TargetTransformInfo.h
llvm/Analysis/ValueTracking.h"""
AST = """clang/Basic/SourceManager.h clang/Basic/TargetInfo.h
clang/Lex/Preprocessor.h clang/AST/ASTContext.h clang/AST/Attr.h
clang/AST/DeclObjC.h clang/AST/DeclTemplate.h clang/AST/ExprObjC.h
clang/AST/RecursiveASTVisitor.h clang/AST/StmtVisitor.h clang/AST/TypeLoc.h"""

HEADERS = {
    "llvm": [STANDARD, ADT, IR],
    "transforms": [STANDARD, ADT, IR, ANALYSIS, """
        llvm/Analysis/AssumptionCache.h llvm/Analysis/MemorySSA.h
        llvm/Analysis/ScalarEvolution.h llvm/IR/PatternMatch.h
        llvm/Transforms/Utils/BasicBlockUtils.h llvm/Transforms/Utils/Local.h"""],
    "codegen": [STANDARD, ADT, IR, ANALYSIS, """
        llvm/CodeGen/MachineFunctionPass.h llvm/CodeGen/MachineInstrBuilder.h
        llvm/CodeGen/SelectionDAG.h llvm/CodeGen/TargetLowering.h
        llvm/CodeGen/TargetPassConfig.h llvm/MC/MCContext.h llvm/MC/MCStreamer.h
        llvm/MC/TargetRegistry.h llvm/Target/TargetMachine.h"""],
    "clang": [STANDARD, ADT, "clang/Basic/TargetInfo.h clang/Lex/Preprocessor.h"],
    "ast": [STANDARD, ADT, AST],
    "sema": [STANDARD, ADT, AST, "clang/Sema/SemaInternal.h"],
    "clang-codegen": [STANDARD, ADT, AST, """llvm/IR/IRBuilder.h
        ../lib/CodeGen/CodeGenFunction.h ../lib/CodeGen/CodeGenModule.h"""],
    "analyzer": [STANDARD, ADT, AST, """
        clang/StaticAnalyzer/Checkers/BuiltinCheckerRegistration.h
        clang/StaticAnalyzer/Core/BugReporter/BugType.h
        clang/StaticAnalyzer/Core/Checker.h
        clang/StaticAnalyzer/Core/PathSensitive/CheckerContext.h"""],
}

# The first that is part of a source file's path decides.
FOLDERS = [
    ("/clang/lib/CodeGen/", "clang-codegen"),
    ("/clang/lib/StaticAnalyzer/", "analyzer"),
    *((f"/clang/lib/{name}/", "sema") for name in ("Parse", "Sema", "Serialization")),
    *((f"/clang/lib/{name}/", "clang")
      for name in ("Basic", "Driver", "Format", "Lex")),
    ("/clang/lib/", "ast"),
    *((f"/llvm/lib/{name}/", "codegen") for name in ("CodeGen", "Target")),
    *((f"/llvm/lib/{name}/", "transforms") for name in ("Analysis", "Transforms")),
    ("/llvm/lib/", "llvm"),
    ("/lld/", "llvm"),
]


def shared_flags(build, compiler):
    """Flags that all files of the build folder are compiled with for which a
    precompiled header could serve. None without such files."""
    text = subprocess.run(["ninja", "-C", build, "-t", "compdb"], check=True,
                          capture_output=True, text=True).stdout
    commands = [shlex.split(entry["command"]) for entry in json.loads(text)
                if entry["file"].endswith(".cpp")]
    # The launcher's own words come before.
    commands = [words[words.index(compiler) + 1:] for words in commands
                if compiler in words and usable(words)]
    if not commands:
        return None
    shared = set.intersection(*map(set, commands)) - {"-MD", "-MT", "-MF", "-o", "-c"}
    return [word for word in commands[0] if word in shared]


def usable(words):
    return "-fno-exceptions" in words and "-fno-rtti" in words


def make(folder, source, build, compiler, names=HEADERS):
    """Makes what is missing of FOLDER, for the files of the build folder; the headers
    that the build generates are there. `names` are some of HEADERS."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = shared_flags(build, str(compiler))
    if flags is None:
        return
    include = [source / "llvm/include", source / "clang/include",
               build / "include", build / "tools/clang/include"]
    for name in names:
        done = folder / f"{name}.pch"
        if done.exists():
            continue
        print(f"precompiled header {name}", flush=True)
        header = folder / f"{name}.h"
        header.write_text("".join(
            f'#include <{word}>\n' for group in HEADERS[name] for word in group.split()))
        made = folder / f"{name}.new"
        said = subprocess.run(
            [compiler, *flags, *(f"-I{path}" for path in include),
             "-fpch-instantiate-templates", "-x", "c++-header", header, "-o", made])
        if said.returncode == 0:
            made.rename(done)


def launch(folder, command):
    pch = None
    if usable(command) and command[-1].endswith(".cpp"):
        name = next((name for part, name in FOLDERS if part in command[-1]), None)
        pch = name and os.path.join(folder, f"{name}.pch")
    if pch and os.path.exists(pch):
        with_header = [command[0], "-include-pch", pch, *command[1:]]
        if subprocess.run(with_header, stderr=subprocess.DEVNULL).returncode == 0:
            return
    os.execvp(command[0], command)


if __name__ == "__main__":
    launch(sys.argv[1], sys.argv[2:])
