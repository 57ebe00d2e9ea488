//===- AppliedRelocations.cpp - What LLD can apply in ELF -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/AppliedRelocations.h"
#include "Support/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
using namespace llvm::ELF;
using namespace dtlto;

// What LLD's code for targets without addends in their tables applies.
// clang-format off
static constexpr uint32_t AppliedI386[] = {
    R_386_16, R_386_32, R_386_8, R_386_GOT32, R_386_GOT32X, R_386_GOTOFF,
    R_386_GOTPC, R_386_PC16, R_386_PC32, R_386_PC8, R_386_PLT32,
    R_386_RELATIVE, R_386_TLS_DESC, R_386_TLS_DESC_CALL, R_386_TLS_DTPMOD32,
    R_386_TLS_DTPOFF32, R_386_TLS_GD, R_386_TLS_GOTDESC, R_386_TLS_GOTIE,
    R_386_TLS_IE, R_386_TLS_LDM, R_386_TLS_LDO_32, R_386_TLS_LE,
    R_386_TLS_LE_32, R_386_TLS_TPOFF, R_386_TLS_TPOFF32};

static constexpr uint32_t AppliedARM[] = {
    R_ARM_ABS32, R_ARM_ALU_PC_G0, R_ARM_ALU_PC_G0_NC, R_ARM_ALU_PC_G1,
    R_ARM_ALU_PC_G1_NC, R_ARM_ALU_PC_G2, R_ARM_BASE_PREL, R_ARM_CALL,
    R_ARM_GOTOFF32, R_ARM_GOT_BREL, R_ARM_GOT_PREL, R_ARM_JUMP24,
    R_ARM_LDRS_PC_G0, R_ARM_LDRS_PC_G1, R_ARM_LDRS_PC_G2, R_ARM_LDR_PC_G0,
    R_ARM_LDR_PC_G1, R_ARM_LDR_PC_G2, R_ARM_MOVT_ABS, R_ARM_MOVT_BREL,
    R_ARM_MOVT_PREL, R_ARM_MOVW_ABS_NC, R_ARM_MOVW_BREL_NC,
    R_ARM_MOVW_PREL_NC, R_ARM_PC24, R_ARM_PLT32, R_ARM_PREL31, R_ARM_REL32,
    R_ARM_RELATIVE, R_ARM_SBREL32, R_ARM_TARGET1, R_ARM_TARGET2,
    R_ARM_THM_ALU_ABS_G0_NC, R_ARM_THM_ALU_ABS_G1_NC,
    R_ARM_THM_ALU_ABS_G2_NC, R_ARM_THM_ALU_ABS_G3, R_ARM_THM_ALU_PREL_11_0,
    R_ARM_THM_CALL, R_ARM_THM_JUMP11, R_ARM_THM_JUMP19, R_ARM_THM_JUMP24,
    R_ARM_THM_JUMP8, R_ARM_THM_MOVT_ABS, R_ARM_THM_MOVT_BREL,
    R_ARM_THM_MOVT_PREL, R_ARM_THM_MOVW_ABS_NC, R_ARM_THM_MOVW_BREL_NC,
    R_ARM_THM_MOVW_PREL_NC, R_ARM_THM_PC12, R_ARM_THM_PC8,
    R_ARM_TLS_DTPOFF32, R_ARM_TLS_GD32, R_ARM_TLS_IE32, R_ARM_TLS_LDM32,
    R_ARM_TLS_LDO32, R_ARM_TLS_LE32, R_ARM_TLS_TPOFF32};

static constexpr uint32_t AppliedMIPS[] = {
    R_MICROMIPS_26_S1, R_MICROMIPS_CALL16, R_MICROMIPS_CALL_HI16,
    R_MICROMIPS_CALL_LO16, R_MICROMIPS_GOT16, R_MICROMIPS_GOT_HI16,
    R_MICROMIPS_GPREL16, R_MICROMIPS_GPREL7_S2, R_MICROMIPS_HI16,
    R_MICROMIPS_JALR, R_MICROMIPS_LO16, R_MICROMIPS_PC10_S1,
    R_MICROMIPS_PC16_S1, R_MICROMIPS_PC18_S3, R_MICROMIPS_PC19_S2,
    R_MICROMIPS_PC21_S1, R_MICROMIPS_PC23_S2, R_MICROMIPS_PC26_S1,
    R_MICROMIPS_PC7_S1, R_MICROMIPS_TLS_DTPREL_HI16,
    R_MICROMIPS_TLS_DTPREL_LO16, R_MICROMIPS_TLS_GD,
    R_MICROMIPS_TLS_GOTTPREL, R_MICROMIPS_TLS_LDM,
    R_MICROMIPS_TLS_TPREL_HI16, R_MICROMIPS_TLS_TPREL_LO16, R_MIPS_26,
    R_MIPS_32, R_MIPS_64, R_MIPS_CALL16, R_MIPS_CALL_HI16, R_MIPS_CALL_LO16,
    R_MIPS_GOT16, R_MIPS_GOT_DISP, R_MIPS_GOT_HI16, R_MIPS_GOT_LO16,
    R_MIPS_GOT_OFST, R_MIPS_GOT_PAGE, R_MIPS_GPREL16, R_MIPS_GPREL32,
    R_MIPS_HI16, R_MIPS_HIGHER, R_MIPS_HIGHEST, R_MIPS_JALR, R_MIPS_LO16,
    R_MIPS_PC16, R_MIPS_PC19_S2, R_MIPS_PC21_S2, R_MIPS_PC26_S2,
    R_MIPS_PC32, R_MIPS_PCHI16, R_MIPS_PCLO16, R_MIPS_TLS_DTPREL32,
    R_MIPS_TLS_DTPREL64, R_MIPS_TLS_DTPREL_HI16, R_MIPS_TLS_DTPREL_LO16,
    R_MIPS_TLS_GD, R_MIPS_TLS_GOTTPREL, R_MIPS_TLS_LDM, R_MIPS_TLS_TPREL32,
    R_MIPS_TLS_TPREL64, R_MIPS_TLS_TPREL_HI16, R_MIPS_TLS_TPREL_LO16};
// clang-format on

bool dtlto::isApplied(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_386:
    return is_contained(AppliedI386, Type);
  case EM_ARM:
    return is_contained(AppliedARM, Type);
  case EM_MIPS:
    return is_contained(AppliedMIPS, Type);
  default:
    return true;
  }
}

/// LLD knows these, and has no code that applies them. No compiler writes them.
static bool hasNoCode(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_ARM:
    return Type == R_ARM_MOVW_BREL || Type == R_ARM_THM_MOVW_BREL;
  case EM_LOONGARCH:
    return Type == R_LARCH_TLS_TPREL32 || Type == R_LARCH_TLS_TPREL64;
  case EM_MIPS:
    return (Type & 0xff) == R_MICROMIPS_GOT_LO16;
  default:
    return false;
  }
}

/// An offset from the thread pointer, or part of a call that finds a thread's
/// own variable: LLD looks for the segment of those variables.
static bool needsThreadLocal(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_X86_64:
    return Type == R_X86_64_TPOFF32 || Type == R_X86_64_TPOFF64;
  case EM_386:
    return Type == R_386_TLS_LE || Type == R_386_TLS_LE_32;
  case EM_AARCH64:
    return (Type >= R_AARCH64_TLSLE_MOVW_TPREL_G2 &&
            Type <= R_AARCH64_TLSLE_LDST64_TPREL_LO12_NC) ||
           Type == R_AARCH64_TLSLE_LDST128_TPREL_LO12_NC ||
           Type == R_AARCH64_TLSDESC_CALL;
  case EM_ARM:
    return Type == R_ARM_TLS_LE32;
  case EM_HEXAGON:
    return is_contained({R_HEX_TPREL_11_X, R_HEX_TPREL_16, R_HEX_TPREL_16_X,
                         R_HEX_TPREL_32_6_X, R_HEX_TPREL_HI16,
                         R_HEX_TPREL_LO16},
                        Type);
  case EM_MIPS:
    return is_contained({R_MIPS_TLS_TPREL32, R_MIPS_TLS_TPREL64,
                         R_MIPS_TLS_TPREL_HI16, R_MIPS_TLS_TPREL_LO16,
                         R_MICROMIPS_TLS_TPREL_HI16,
                         R_MICROMIPS_TLS_TPREL_LO16},
                        Type & 0xff);
  case EM_PPC:
    return is_contained({R_PPC_TPREL16, R_PPC_TPREL16_LO, R_PPC_TPREL16_HI,
                         R_PPC_TPREL16_HA, R_PPC_TLS, R_PPC_TLSGD, R_PPC_TLSLD},
                        Type);
  case EM_PPC64:
    return is_contained(
        {R_PPC64_TPREL16, R_PPC64_TPREL16_LO, R_PPC64_TPREL16_HI,
         R_PPC64_TPREL16_HA, R_PPC64_TPREL16_DS, R_PPC64_TPREL16_LO_DS,
         R_PPC64_TPREL16_HIGHER, R_PPC64_TPREL16_HIGHERA,
         R_PPC64_TPREL16_HIGHEST, R_PPC64_TPREL16_HIGHESTA, R_PPC64_TPREL34,
         R_PPC64_TLS, R_PPC64_TLSGD, R_PPC64_TLSLD},
        Type);
  case EM_S390:
    return Type == R_390_TLS_LE32 || Type == R_390_TLS_LE64;
  case EM_SPARCV9:
    return Type == R_SPARC_TLS_LE_HIX22 || Type == R_SPARC_TLS_LE_LOX10;
  default:
    // LLD looks itself for RISC-V and LoongArch.
    return false;
  }
}

/// LLD replaces accesses to threads' own variables by faster ones, and has no
/// code to do so for these.
static bool isNeverRelaxed(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_AARCH64:
    return is_contained({R_AARCH64_LD64_GOT_LO12_NC, R_AARCH64_ADR_GOT_PAGE,
                         R_AARCH64_GOTPCREL32, R_AARCH64_GOT_LD_PREL19},
                        Type);
  case EM_PPC:
    return Type == R_PPC_GOT16 || Type == R_PPC_DTPREL32;
  case EM_PPC64:
    return is_contained(
        {R_PPC64_GOT16, R_PPC64_GOT16_LO, R_PPC64_GOT16_HI, R_PPC64_GOT16_HA,
         R_PPC64_GOT16_DS, R_PPC64_GOT16_LO_DS, R_PPC64_GOT_PCREL34,
         R_PPC64_PCREL_OPT, R_PPC64_GOT_TPREL16_HI, R_PPC64_GOT_TLSGD16_HI,
         R_PPC64_GOT_TLSLD16, R_PPC64_GOT_TLSLD16_HI, R_PPC64_DTPREL16_HIGHER,
         R_PPC64_DTPREL16_HIGHERA, R_PPC64_DTPREL16_HIGHEST,
         R_PPC64_DTPREL16_HIGHESTA, R_PPC64_DTPREL64},
        Type);
  case EM_S390:
    return Type == R_390_TLS_GD32 || Type == R_390_TLS_LDM32 ||
           Type == R_390_TLS_LDO32;
  default:
    return false;
  }
}

/// LLD doesn't know where these lead if nothing defines the symbol.
static bool needsDefinition(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_AARCH64:
    return Type >= R_AARCH64_MOVW_PREL_G0 && Type <= R_AARCH64_MOVW_PREL_G3;
  case EM_ARM:
    return is_contained({R_ARM_ALU_PC_G0, R_ARM_ALU_PC_G0_NC, R_ARM_ALU_PC_G1,
                         R_ARM_ALU_PC_G1_NC, R_ARM_ALU_PC_G2, R_ARM_LDR_PC_G0,
                         R_ARM_LDR_PC_G1, R_ARM_LDR_PC_G2, R_ARM_LDRS_PC_G0,
                         R_ARM_LDRS_PC_G1, R_ARM_LDRS_PC_G2},
                        Type);
  default:
    return false;
  }
}

Error dtlto::checkApplied(uint16_t Machine, uint32_t Type, bool IsThreadLocal,
                          bool IsDefined) {
  if (hasNoCode(Machine, Type))
    return failure("is of a type that no linker applies");
  if (!IsThreadLocal && needsThreadLocal(Machine, Type))
    return failure("is for no thread's own variable");
  if (IsThreadLocal && isNeverRelaxed(Machine, Type))
    return failure("can't be for a thread's own variable");
  if (!IsDefined && needsDefinition(Machine, Type))
    return failure("is for a symbol that isn't defined");
  return Error::success();
}
