//===- PluginCheckFuzz.cpp - What dtlto-plugin-check reads ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is a shared library, and once more the lines that the process of a
// case wrote. Both may be anything: a plugin can write to any descriptor.
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "ExportedSymbols.h"
#include "Fuzz.h"
#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace dtlto::check;

/// An ELF file that exports one symbol.
static std::string library() {
  struct {
    Elf64_Ehdr Head;
    Elf64_Shdr Sections[2]; // the symbols, their names
    Elf64_Sym Symbols[2];
    char Names[8];
  } File = {};
  std::memcpy(File.Head.e_ident, ELFMAG, SELFMAG);
  File.Head.e_ident[EI_CLASS] = ELFCLASS64;
  File.Head.e_shoff = offsetof(decltype(File), Sections);
  File.Head.e_shnum = 2;
  File.Sections[0].sh_type = SHT_DYNSYM;
  File.Sections[0].sh_link = 1;
  File.Sections[0].sh_offset = offsetof(decltype(File), Symbols);
  File.Sections[0].sh_size = sizeof(File.Symbols);
  File.Sections[1].sh_offset = offsetof(decltype(File), Names);
  File.Symbols[1].st_name = 1;
  File.Symbols[1].st_shndx = 1;
  File.Symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  std::memcpy(File.Names, "\0entry", 7);
  return std::string(reinterpret_cast<const char *>(&File), sizeof(File));
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Error;
  if (exportedSymbols(library(), Error) != std::vector<std::string>{"entry"})
    abort();
  Report R = readReport("fail\ta\tb\tc\nfail\ta\tb\td\nend\n");
  if (R.Failures.size() != 2 || !R.Ended)
    abort();
  return {library(), "fail\tsection\twhat\thow\nend\n", "fail\t\t\t\t\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Bytes(reinterpret_cast<const char *>(Data), Size);
  std::string Error;
  std::vector<std::string> Names = exportedSymbols(Bytes, Error);
  if (!Error.empty() && !Names.empty())
    abort();
  for (const std::string &Name : Names)
    if (Bytes.find(Name) == std::string::npos)
      abort();
  Report R = readReport(Bytes);
  if (R.Failures.size() > 4 ||
      (R.Ended && Bytes.find("end") == std::string::npos))
    abort();
  return 0;
}
