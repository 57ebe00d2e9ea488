//===- Objects.cpp - Objects of all kinds for tests -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Objects.h"
#include "llvm/Support/Compression.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace dtlto::test;

static constexpr StringLiteral Everywhere = R"(
@counter = global i32 1
@zeros = internal global [16 x i32] zeroinitializer
@message = private unnamed_addr constant [6 x i8] c"hello\00"
@other_message = private unnamed_addr constant [4 x i8] c"bye\00"
@own = thread_local global i32 3
@own_zeros = internal thread_local global [4 x i32] zeroinitializer
@foreign = external thread_local global i32
@pointers = global [3 x ptr] [ptr @f, ptr @counter, ptr @outside]
@weak = weak global i64 7
@outside = external global i32
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]
  [{ i32, ptr, ptr } { i32 65535, ptr @start, ptr null }]
@llvm.used = appending global [1 x ptr] [ptr @weak]

declare i32 @other(ptr, ptr)
declare i32 @PERSONALITY(...)

define internal void @start() #0 !dbg !12 {
  store i32 2, ptr @zeros, !dbg !14
  ret void, !dbg !14
}
define i32 @f(i32 %x) #0 personality ptr @PERSONALITY !dbg !10 {
entry:
  %r = invoke i32 @other(ptr @message, ptr @other_message)
       to label %good unwind label %bad, !dbg !13
good:
  %c = load i32, ptr @counter, !dbg !13
  %o = load i32, ptr @own, !dbg !13
  %p = load i32, ptr @own_zeros, !dbg !13
  %q = load i32, ptr @foreign, !dbg !13
  %e = load i32, ptr @outside, !dbg !13
  %s = add i32 %r, %c, !dbg !13
  %t = add i32 %s, %o, !dbg !13
  %u = add i32 %t, %p, !dbg !13
  %v = add i32 %u, %e, !dbg !13
  %w = add i32 %v, %q, !dbg !13
  ret i32 %w, !dbg !13
bad:
LANDINGPAD
}
define double @third(double %x, i32 %n) #0 {
entry:
  switch i32 %n, label %other [ i32 0, label %a
                                i32 1, label %b
                                i32 2, label %c
                                i32 3, label %d
                                i32 4, label %e ]
a: ret double 0x3FD5555555555555
b: ret double %x
c: br label %other
d: ret double 4.25
e: ret double 0x400921FB54442D18
other:
  %y = call double @third(double %x, i32 1)
  %z = fmul double %y, 0x3FD5555555555555
  ret double %z
}
attributes #0 = { uwtable(sync) ATTRIBUTES }
)";

static constexpr StringLiteral Comdats = R"(
$inline = comdat any
$table = comdat any
define linkonce_odr i32 @inline(i32 %x) #0 comdat {
  %r = call i32 @f(i32 %x)
  ret i32 %r
}
@table = linkonce_odr constant [2 x ptr] [ptr @inline, ptr @f], comdat
@beside = internal global i32 5, comdat($table)
@uses = global ptr @table
define i32 @calls() #0 {
  %r = call i32 @inline(i32 1)
  ret i32 %r
}
)";

static constexpr StringLiteral DebugInformation = R"(
!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1,
  producer: "dtlto", isOptimized: true, runtimeVersion: 0,
  emissionKind: FullDebug, globals: !20)
!1 = !DIFile(filename: "a.cpp", directory: "/x")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!10 = distinct !DISubprogram(name: "f", linkageName: "f", scope: !1, file: !1,
  line: 1, type: !11, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DISubroutineType(types: !15)
!12 = distinct !DISubprogram(name: "start", scope: !1, file: !1, line: 5,
  type: !11, unit: !0, spFlags: DISPFlagDefinition | DISPFlagLocalToUnit)
!13 = !DILocation(line: 2, column: 3, scope: !10)
!14 = !DILocation(line: 6, column: 1, scope: !12)
!15 = !{!16, !16}
!16 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!17 = !{i32 2, !"CodeView", i32 1}
!18 = !{i32 2, !"Dwarf Version", i32 5}
!20 = !{}
)";

static std::string replaced(StringRef Text, StringRef From, StringRef To) {
  std::string Result;
  for (size_t At; (At = Text.find(From)) != StringRef::npos;
       Text = Text.drop_front(At + From.size()))
    Result += (Text.take_front(At) + To).str();
  return Result + Text.str();
}

std::string dtlto::test::richIR(StringRef TripleName) {
  Triple T(TripleName);
  bool IsMSVC = T.isWindowsMSVCEnvironment();
  // WebAssembly has the exceptions of Windows with its own intrinsics.
  std::string Pad = IsMSVC ? "  %k = cleanuppad within none []\n"
                             "  cleanupret from %k unwind to caller\n"
                           : "  %l = landingpad { ptr, i32 } cleanup\n"
                             "          catch ptr @counter\n"
                             "  resume { ptr, i32 } %l\n";
  std::string IR = replaced(Everywhere, "LANDINGPAD", Pad);
  IR = replaced(IR, "PERSONALITY",
                IsMSVC ? "__CxxFrameHandler3" : "__gxx_personality_v0");
  IR = replaced(IR, "ATTRIBUTES",
                T.isOSBinFormatELF() &&
                        (T.isX86() || T.isAArch64() || T.isRISCV())
                    ? "\"patchable-function-entry\"=\"2\""
                    : "");
  if (T.isOSBinFormatMachO()) // no dynamic library for LLD has it
    IR = replaced(IR, "external thread_local", "external");
  else
    IR += Comdats;
  IR += DebugInformation;
  std::string Flags = IsMSVC ? "!2, !17" : "!2, !18";
  if ((T.isOSBinFormatELF() || T.isOSBinFormatCOFF()) &&
      (T.isX86() || T.isAArch64() || T.isARM() || T.isRISCV())) {
    Flags += ", !30";
    IR += "!30 = !{i32 5, !\"CG Profile\", !31}\n"
          "!31 = !{!32, !33}\n"
          "!32 = !{ptr @calls, ptr @inline, i64 10}\n"
          "!33 = !{ptr @inline, ptr @f, i64 20}\n";
  }
  if (T.isX86() || T.isAArch64()) {
    Flags += ", !34, !35";
    IR += "!34 = !{i32 8, !\"cf-protection-branch\", i32 1}\n"
          "!35 = !{i32 8, !\"branch-target-enforcement\", i32 1}\n";
  }
  if (T.isOSBinFormatELF())
    IR += "!llvm.dependent-libraries = !{!40}\n"
          "!40 = !{!\"m\"}\n"
          "@ordered = internal global i32 9, section \"in_order\","
          " !associated !41\n"
          "!41 = !{ptr @counter}\n"
          "@resolved = ifunc i32 (), ptr @resolve\n"
          "define internal ptr @resolve() { ret ptr @start }\n";
  else
    IR += "!llvm.linker.options = !{!40}\n"
          "!40 = !{!\"" +
          std::string(T.isOSBinFormatCOFF() ? "/include:f" : "-lm") + "\"}\n";
  return IR + "!llvm.module.flags = !{" + Flags + "}\n";
}

ArrayRef<const char *> dtlto::test::linkedTargets() {
  static const char *const Targets[] = {
      // ELF
      "x86_64-pc-linux-gnu", "i386-pc-linux-gnu", "x86_64-pc-linux-gnux32",
      "aarch64-unknown-linux-gnu", "aarch64_be-unknown-linux-gnu",
      "armv7-unknown-linux-gnueabihf", "thumbv7-unknown-linux-gnueabihf",
      "armebv7-unknown-linux-gnueabi", "riscv64-unknown-linux-gnu",
      "riscv32-unknown-linux-gnu", "powerpc64le-unknown-linux-gnu",
      "powerpc64-unknown-linux-gnu", "powerpc-unknown-linux-gnu",
      "mips64el-unknown-linux-gnuabi64", "mips64el-unknown-linux-gnuabin32",
      "mips-unknown-linux-gnu", "s390x-unknown-linux-gnu",
      "loongarch64-unknown-linux-gnu", "hexagon-unknown-linux-musl",
      "sparcv9-unknown-linux-gnu",
      // COFF
      "x86_64-pc-windows-msvc", "i686-pc-windows-msvc",
      "aarch64-pc-windows-msvc", "thumbv7-pc-windows-msvc",
      "x86_64-w64-windows-gnu", "i686-w64-windows-gnu",
      // Mach-O
      "x86_64-apple-macosx12.0.0", "arm64-apple-macosx12.0.0",
      "arm64_32-apple-watchos7.0.0",
      // WebAssembly
      "wasm32-unknown-unknown", "wasm64-unknown-unknown"};
  return Targets;
}

std::vector<Bytes> dtlto::test::richObjects(StringRef TripleName) {
  std::string IR = richIR(TripleName);
  TargetOptions Plain, Sections, Compressed;
  Sections.FunctionSections = Sections.DataSections = true;
  Sections.EmitAddrsig = Sections.UniqueSectionNames = true;
  Sections.EmitStackSizeSection = true;
  Compressed.MCOptions.CompressDebugSections = DebugCompressionType::Zlib;
  std::vector<Bytes> Objects;
  Objects.push_back(compileObject(IR, TripleName, Plain));
  Objects.push_back(compileObject(IR, TripleName, Sections));
  if (Triple(TripleName).isOSBinFormatELF() && compression::zlib::isAvailable())
    Objects.push_back(compileObject(IR, TripleName, Compressed));
  return Objects;
}
