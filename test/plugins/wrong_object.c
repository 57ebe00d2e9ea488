// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wrong: returns a well-formed file, but not the right one. `kind=` is one of
// the names below; `bitcode` is the job's own input.

#include "common.h"

#include <elf.h>

// Makes an ELF file with two sections: the null section and the section names.
static void elf(dtlto_result *result, uint16_t type, uint16_t machine) {
  static const char Names[] = "\0.shstrtab";
  struct {
    Elf64_Ehdr header;
    Elf64_Shdr sections[2];
    char names[sizeof(Names)];
  } file;
  memset(&file, 0, sizeof(file));
  memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = type;
  file.header.e_machine = machine;
  file.header.e_version = EV_CURRENT;
  file.header.e_ehsize = sizeof(Elf64_Ehdr);
  file.header.e_shoff = sizeof(Elf64_Ehdr);
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = 2;
  file.header.e_shstrndx = 1;
  file.sections[1].sh_name = 1;
  file.sections[1].sh_type = SHT_STRTAB;
  file.sections[1].sh_offset = sizeof(file.header) + sizeof(file.sections);
  file.sections[1].sh_size = sizeof(Names);
  file.sections[1].sh_addralign = 1;
  memcpy(file.names, Names, sizeof(Names));
  give(result, &file, sizeof(file));
}

static void run(dtlto_session *s, const dtlto_job *job, dtlto_result *result) {
  // A COFF object for x86-64 without sections: the file header only.
  static const unsigned char Coff[20] = {0x64, 0x86};
  // A Mach-O object for x86-64 without load commands.
  static const unsigned char MachO[32] = {0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0,
                                          1,    3,    0,    0,    0, 1};
  static const unsigned char Wasm[8] = {0, 'a', 's', 'm', 1};
  const char *kind = argument(s, "kind");
  if (!kind)
    fail(result, DTLTO_ERROR_CALLER, "this plugin wants kind=");
  else if (!strcmp(kind, "x86_64"))
    elf(result, ET_REL, EM_X86_64);
  else if (!strcmp(kind, "aarch64"))
    elf(result, ET_REL, EM_AARCH64);
  else if (!strcmp(kind, "shared"))
    elf(result, ET_DYN, EM_X86_64);
  else if (!strcmp(kind, "coff"))
    give(result, Coff, sizeof(Coff));
  else if (!strcmp(kind, "macho"))
    give(result, MachO, sizeof(MachO));
  else if (!strcmp(kind, "wasm"))
    give(result, Wasm, sizeof(Wasm));
  else if (!strcmp(kind, "archive"))
    give(result, "!<arch>\n", 8);
  else if (!strcmp(kind, "bitcode"))
    for (uint32_t i = 0; i < job->num_inputs; ++i)
      if (job->inputs[i]->role == DTLTO_ROLE_PRIMARY)
        give(result, job->inputs[i]->bytes.data, job->inputs[i]->bytes.size);
}

PLUGIN("wrong_object", DTLTO_JOB_INPUTS, .run = run);
