//===- AssemblerSymbols.cpp - Symbols that assembly names -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/AssemblerSymbols.h"
#include "LLVM/Module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

using namespace llvm;
using namespace dtlto;

bool dtlto::hasMacros(StringRef Assembly) {
  return any_of(
      ArrayRef<StringRef>{".macro", ".irp", ".rep", ".altmacro", ".inc"},
      [&](StringRef Directive) {
        return Assembly.contains_insensitive(Directive);
      });
}

std::optional<std::vector<std::string>>
dtlto::moduleAssemblySymbols(const Module &M) {
  const std::string Text = moduleAsm(M);
  std::vector<std::string> Names;
  if (Text.empty())
    return Names;
  // On other machines, files that the assembly includes may differ.
  if (StringRef(Text).contains_insensitive(".inc"))
    return std::nullopt;

  const Triple TT(M.getTargetTriple());
  std::string Ignored;
  const Target *T = TargetRegistry::lookupTarget(toTargetTriple(TT), Ignored);
  if (!T || !T->hasMCAsmParser())
    return std::nullopt;
  const MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Registers(
      T->createMCRegInfo(toTargetTriple(TT)));
  if (!Registers)
    return std::nullopt;
  std::unique_ptr<MCAsmInfo> Info(
      T->createMCAsmInfo(*Registers, toTargetTriple(TT), Options));
  std::unique_ptr<MCSubtargetInfo> Subtarget(T->createMCSubtargetInfo(
      toTargetTriple(TT), /*CPU=*/"", /*Features=*/""));
  std::unique_ptr<MCInstrInfo> Instructions(T->createMCInstrInfo());
  if (!Info || !Subtarget || !Instructions)
    return std::nullopt;

  SourceMgr Sources;
  // Ignore errors; the code generator reports them.
  Sources.setDiagHandler([](const SMDiagnostic &, void *) {});
  Sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(Text), SMLoc());
  MCContext Context(TT, Info.get(), Registers.get(), Subtarget.get(), &Sources);
  std::unique_ptr<MCObjectFileInfo> Sections(
      T->createMCObjectFileInfo(Context, /*PIC=*/false));
  Context.setObjectFileInfo(Sections.get());
  std::unique_ptr<MCStreamer> Streamer(T->createNullStreamer(Context));
  std::unique_ptr<MCAsmParser> Parser(
      createMCAsmParser(Sources, Context, *Streamer, *Info));
  std::unique_ptr<MCTargetAsmParser> TargetParser(
      T->createMCAsmParser(*Subtarget, *Parser, *Instructions, Options));
  if (!TargetParser)
    return std::nullopt;
  Parser->setTargetParser(*TargetParser);
  if (Parser->Run(/*NoInitialTextSection=*/false, /*NoFinalize=*/true))
    return std::nullopt;
  for (const auto &Symbol : Context.getSymbols())
    Names.push_back(Symbol.getKey().str());
  llvm::sort(Names);
  return Names;
}

static bool isNameCharacter(char C) {
  return isAlnum(C) || C == '_' || C == '.' || C == '$' || C == '?' ||
         C == AnyText || C == UniqueText ||
         static_cast<unsigned char>(C) >= 0x80;
}

std::string dtlto::withPlaceholders(StringRef Assembly) {
  std::string Out;
  while (!Assembly.empty()) {
    const char C = Assembly.front();
    Assembly = Assembly.drop_front();
    if (C == '$' && Assembly.consume_front("$")) {
      Out += C;
    } else if (C == '$' && Assembly.starts_with("{")) {
      Out += Assembly.starts_with("{:uid}") ? UniqueText : AnyText;
      Assembly = Assembly.split('}').second;
    } else if (C == '$' && !Assembly.empty() && isDigit(Assembly.front())) {
      Assembly = Assembly.drop_while(isDigit);
      Out += AnyText;
    } else {
      Out += C;
    }
  }
  return Out;
}

void dtlto::forEachName(StringRef Text, function_ref<void(StringRef)> Visit) {
  // Names in quotes may contain any characters.
  for (StringRef Quoted, Rest = Text; Rest.contains('"');) {
    std::tie(Quoted, Rest) = Rest.split('"').second.split('"');
    if (!Quoted.empty())
      Visit(Quoted);
  }
  while (!(Text = Text.drop_until(isNameCharacter)).empty()) {
    StringRef Word = Text.take_while(isNameCharacter);
    Text = Text.drop_front(Word.size());
    Visit(Word);
    // In AT&T syntax, $ precedes a constant.
    if (Word.starts_with("$"))
      Visit(Word.ltrim('$'));
  }
}

/// Whether the directive emits bytes in place, or changes their encoding.
static bool isPlainDirective(StringRef Name) {
  static constexpr StringLiteral Names[] = {
      ".align",  ".p2align", ".balign", ".byte",           ".2byte",
      ".4byte",  ".8byte",   ".short",  ".hword",          ".word",
      ".long",   ".int",     ".quad",   ".xword",          ".dword",
      ".half",   ".octa",    ".single", ".float",          ".double",
      ".ascii",  ".asciz",   ".string", ".skip",           ".space",
      ".zero",   ".fill",    ".nops",   ".inst",           ".inst.n",
      ".inst.w", ".insn",    ".code16", ".code32",         ".code64",
      ".arm",    ".thumb",   ".arch",   ".arch_extension", ".cpu",
      ".fpu",    ".syntax",  ".option", ".intel_syntax",   ".att_syntax",
      ".machine"};
  return is_contained(Names, Name) || Name.starts_with(".cfi_");
}

/// Whether the directive defines symbols or changes sections. Its text shows
/// all names.
static bool isDefiningDirective(StringRef Name) {
  static constexpr StringLiteral Names[] = {
      ".section", ".pushsection", ".popsection", ".previous", ".subsection",
      ".text",    ".data",        ".bss",        ".globl",    ".global",
      ".local",   ".weak",        ".hidden",     ".internal", ".protected",
      ".type",    ".size",        ".set",        ".equ",      ".equiv",
      ".comm",    ".lcomm",       ".symver",     ".weakref",  ".org",
      ".if",      ".ifdef",       ".ifndef",     ".ifnotdef", ".ifb",
      ".ifnb",    ".ifc",         ".ifnc",       ".ifeq",     ".ifne",
      ".else",    ".elseif",      ".endif"};
  return is_contained(Names, Name);
}

/// Classifies a single statement.
static AssemblyKind classifyStatement(StringRef Text) {
  bool Defines = false;
  StringRef Head;
  while (true) {
    Text = Text.ltrim(" \t\r{}|");
    if (Text.starts_with("#") || Text.starts_with("//"))
      return Defines ? AssemblyKind::Defines : AssemblyKind::Plain;
    Head = Text.take_while(isNameCharacter);
    StringRef Rest = Text.drop_front(Head.size()).ltrim(" \t");
    if (!Rest.starts_with(":"))
      break;
    // A label. Numeric labels can be repeated, and a label with UniqueText
    // differs in each copy of the text.
    Defines |= !all_of(Head, isDigit) && !Head.contains(UniqueText);
    Text = Rest.drop_front();
  }
  if (Text.starts_with("\""))
    return AssemblyKind::Defines;
  StringRef Operands = Text.drop_front(Head.size());
  if (Head.starts_with(".")) {
    const std::string Name = Head.lower();
    if (isDefiningDirective(Name))
      return AssemblyKind::Defines;
    if (!isPlainDirective(Name))
      return AssemblyKind::Unknown;
  } else if (Operands.ltrim(" \t").starts_with("=")) {
    return AssemblyKind::Defines;
  } else {
    // A directive here means that the assembler sees several statements.
    bool IsUnknown = false;
    forEachName(Operands, [&](StringRef Word) {
      IsUnknown |= Word.size() > 1 && Word.front() == '.' &&
                   !isDigit(Word[1]) && !Word.starts_with(".L");
    });
    if (IsUnknown)
      return AssemblyKind::Unknown;
  }
  return Defines ? AssemblyKind::Defines : AssemblyKind::Plain;
}

AssemblyKind dtlto::classifyAssembly(StringRef Text) {
  // A backslash marks a macro argument, which can't occur outside of a macro.
  if (hasMacros(Text) || Text.contains('\\'))
    return AssemblyKind::Unknown;
  auto Kind = AssemblyKind::Plain;
  // Split at everything that separates statements for any target.
  SmallVector<StringRef, 16> Statements;
  for (StringRef Line : split(Text, '\n'))
    for (StringRef Part : split(Line, ';'))
      Part.split(Statements, "%%");
  for (StringRef Statement : Statements)
    Kind = std::max(Kind, classifyStatement(Statement));
  return Kind;
}
