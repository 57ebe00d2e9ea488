//===- ExportedSymbols.cpp - What a shared library exports ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportedSymbols.h"
#include <cstring>
#include <elf.h>

using namespace dtlto::check;

std::vector<std::string> dtlto::check::exportedSymbols(const std::string &File,
                                                       std::string &Error) {
  std::vector<std::string> Names;
  // Each read is checked.
  auto Read = [&](auto &Out, uint64_t At) {
    if (At > File.size() || File.size() - At < sizeof(Out))
      return false;
    std::memcpy(&Out, File.data() + At, sizeof(Out));
    return true;
  };
  Elf64_Ehdr Head;
  if (!Read(Head, 0) || std::memcmp(Head.e_ident, ELFMAG, SELFMAG) != 0 ||
      Head.e_ident[EI_CLASS] != ELFCLASS64) {
    Error = "the plugin is no 64-bit ELF file";
    return Names;
  }
  for (unsigned I = 0; I != Head.e_shnum; ++I) {
    Elf64_Shdr Section, Strings;
    if (!Read(Section, Head.e_shoff + I * sizeof(Section)))
      break;
    if (Section.sh_type != SHT_DYNSYM ||
        !Read(Strings, Head.e_shoff + Section.sh_link * sizeof(Strings)))
      continue;
    Elf64_Sym Symbol;
    for (uint64_t At = 0; At + sizeof(Symbol) <= Section.sh_size &&
                          Read(Symbol, Section.sh_offset + At);
         At += sizeof(Symbol)) {
      uint64_t Name = Strings.sh_offset + Symbol.st_name;
      if (Symbol.st_shndx == SHN_UNDEF || Name >= File.size() ||
          ELF64_ST_BIND(Symbol.st_info) != STB_GLOBAL)
        continue;
      Names.push_back(File.c_str() + Name);
    }
  }
  return Names;
}
