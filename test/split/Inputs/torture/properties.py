# Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of several modules, made of features.py's templates."""

import string

from features import FEATURES

ATTRIBUTES = [
    "noinline", "cold", "hot", "noinline, optnone", "flatten", "minsize",
    "no_stack_protector", "used", "aligned(64)", "section(\".text.elsewhere\")",
    "no_instrument_function", "patchable_function_entry(2, 1)",
    "disable_tail_calls", "no_sanitize(\"undefined\")", "annotate(\"remark\")",
    "strictfp", "noinline, used"]
IR_ATTRIBUTES = [
    "noinline", "cold", "minsize optsize", "noinline optnone", "section \".text.elsewhere\"",
    "align 64", "nounwind", "\"patchable-function\"=\"prologue-short-redirect\"",
    "\"frame-pointer\"=\"all\"", "sspstrong", "uwtable", "\"implicit-section-name\"=\".text.implicit\"",
    "\"patchable-function-entry\"=\"2\"", "alwaysinline"]
VISIBILITIES = ["default", "hidden", "protected", "internal"]

HEADER = """\
#ifdef __cplusplus
#include <typeinfo>
extern "C"
#endif
void show(int);
extern volatile int sink;
#define SHOW(x) show((int)(x))
#define CHECK __attribute__((visibility("default"))) void
#define WEAK __attribute__((weak))
#define HIDDEN __attribute__((visibility("hidden")))
"""
IR_HEADER = """\
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
declare void @show(i32)
@sink = external global i32
"""
MAIN = """\
int printf(const char *, ...);
volatile int sink;
__attribute__((no_instrument_function)) void show(int x) { printf("%d\\n", x); }
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *by) {}
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *by) {}
void __sanitizer_cov_trace_pc_guard(int *guard) {}
void __sanitizer_cov_trace_pc_guard_init(int *start, int *stop) {}
"""


class Feature:
    def __init__(self, text):
        head, _, body = text.strip("\n").partition("\n")
        self.language, self.name, *self.tags = head.split()
        self.pieces = body.split("\n----\n")


FEATURES = [Feature(text) for text in FEATURES.split("\n====\n")]


class Module:
    def __init__(self, name, language):
        self.name = name
        self.language = language
        self.text = IR_HEADER if language == "ll" else HEADER
        self.declared = set()
        self.features = set()
        self.num_features = 0
        self.num_metadata = 0

    @property
    def file(self):
        return self.name + "." + {"c": "c", "c++": "cc", "ll": "ll"}[self.language]

    def declare(self, function):
        """Returns an earlier feature's `int function(int)`, declared if
        needed."""
        if function in self.declared:
            return
        self.declared.add(function)
        self.text += {"c": "int %s(int);\n", "c++": "extern \"C\" int %s(int);\n",
                      "ll": "declare i32 @%s(i32)\n"}[self.language] % function


class Template(string.Template):
    delimiter = "`"
    idpattern = "[a-z_0-9A-Z]+"


class Names(dict):
    """The replacements of a template's words in a module."""

    def __init__(self, program, module, number, shared):
        self.program, self.module, self.rng = program, module, program.rng
        self.number, self.shared, self.local = number, shared, {}
        module.num_features += 1
        # The same name in each module.
        self.suffix = "_s%d" % module.num_features

    def __missing__(self, word):
        special = getattr(self, "make_" + word, None)
        if special:
            return special()
        if word.startswith("md_"):
            if word not in self.local:
                self.local[word] = str(self.module.num_metadata)
                self.module.num_metadata += 1
            return self.local[word]
        if word.startswith("s_"):
            return word[2:] + self.suffix
        return self.shared.setdefault(word, "%s_%d" % (word, self.number))

    def maybe(self, text, share=0.5):
        return text if self.rng.random() < share else ""

    def make_k(self):
        return str(self.number)

    def make_num(self):
        return str(self.rng.randrange(1, 100))

    def make_attr(self):
        return self.maybe("__attribute__((%s))" % self.rng.choice(ATTRIBUTES))

    def make_fnattr(self):
        text = self.maybe(self.rng.choice(IR_ATTRIBUTES))
        return "noinline optnone" if text == "noinline optnone" else text

    def make_vis(self):
        return self.maybe("__attribute__((visibility(\"%s\")))" %
                          self.rng.choice(VISIBILITIES), 0.4)

    def make_llvis(self):
        return self.rng.choice(["", "hidden", "protected", "dso_local"])

    def make_addr(self):
        return self.rng.choice(["", "unnamed_addr", "local_unnamed_addr"])

    def make_used(self):
        return self.rng.choice(["used", "unused", "retain, used", "unused"])

    def make_weak(self):
        return self.maybe("__attribute__((weak))")

    def make_maybe_const(self):
        # A section has one set of flags.
        return self.shared.setdefault("maybe_const", self.maybe("const"))

    def make_tls(self):
        models = ["initial-exec", "global-dynamic"]
        if self.program.shape != "shared":
            models.append("local-exec")
        return self.maybe("__attribute__((tls_model(\"%s\")))" % self.rng.choice(models))

    def make_lltls(self):
        return self.rng.choice(["initialexec", "localdynamic"])

    def make_priority(self):
        return str(self.rng.choice([101, 200, 3000, 65534]))

    def make_prio3(self):
        return str(self.rng.randrange(101, 999))

    def make_globl(self):
        return self.maybe(".globl " + self["asmf"])

    def make_any(self):
        if not self.program.calls:
            if self.module.language != "ll":
                return "0"
            function = "abs"
        else:
            function = self.rng.choice(self.program.calls)
        self.module.declare(function)
        return function if self.module.language == "ll" else \
            "%s(%d)" % (function, self.rng.randrange(9))

    def make_noise(self):
        count = self.rng.choice([0, 0, 1, 2, 4, 8, 20])
        if self.module.language == "ll":
            return "\n".join("  store volatile i32 %d, ptr @sink" % i
                             for i in range(count))
        kind = self.rng.choice(["sink = %d;", "sink += %d;"])
        return " ".join(kind % i for i in range(count))


class Program:
    """The modules, the functions `checks` to call, and the kind of output: exe,
    static or shared."""

    def __init__(self, rng, shape, num_modules, plain=False):
        self.rng, self.shape = rng, shape
        self.calls, self.checks = [], []
        languages = rng.choices(["c", "c++", "ll"], [6, 4, 2], k=num_modules)
        self.modules = [Module("m%d" % i, language)
                        for i, language in enumerate(languages)]
        of_language = {language: [m for m in self.modules if m.language == language]
                       for language in languages}
        features = [f for f in FEATURES if f.language in of_language and
                    not (plain and "asm" in f.tags)]
        number = 0
        while number < num_modules or not all(m.num_features for m in self.modules):
            number += 1
            feature = rng.choice(features)
            self.add(feature, number, of_language[feature.language])

    def add(self, feature, number, modules):
        pieces = feature.pieces
        # A module can have IR's declarations and llvm.used only once.
        free = [m for m in modules if feature.name not in m.features]
        while len(free) < len(pieces):
            free.append(self.new_module(feature.language))
            modules.append(free[-1])
        # Prefer empty modules.
        empty = [m for m in free if not m.num_features]
        if len(empty) >= len(pieces) and self.rng.random() < 0.5:
            free = empty
        modules = free
        shared = {}
        for piece, module in zip(pieces, self.rng.sample(modules, len(pieces))):
            names = Names(self, module, number, shared)
            module.features.add(feature.name)
            text = Template(piece).substitute(names)
            module.text += "// %s\n" % feature.name if feature.language != "ll" else ""
            module.text += text + "\n"
            if "call" in shared and shared["call"] in text:
                module.declared.add(shared["call"])
        self.checks.append(shared["check"])
        if "call" in shared:
            self.calls.append(shared["call"])

    def new_module(self, language):
        module = Module("m%d" % len(self.modules), language)
        self.modules.append(module)
        return module

    def main(self):
        return MAIN + "".join("void %s(void);\n" % check for check in self.checks) + \
            "int main(void) {\n" + "".join(
                "  printf(\"== %s\\n\"); %s();\n" % (check, check)
                for check in self.checks) + "  return 0;\n}\n"
