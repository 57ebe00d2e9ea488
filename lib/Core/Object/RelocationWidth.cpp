//===- RelocationWidth.cpp - How far a relocation of ELF reaches ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/RelocationWidth.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
using namespace llvm::ELF;
using namespace dtlto;

static RelocationWidth bytes(uint8_t After) { return {0, After, false, false}; }

static RelocationWidth x86_64(uint32_t Type) {
  switch (Type) {
  case R_X86_64_NONE:
    return bytes(0);
  case R_X86_64_8:
  case R_X86_64_PC8:
    return bytes(1);
  case R_X86_64_16:
  case R_X86_64_PC16:
  case R_X86_64_TLSDESC_CALL:
    return bytes(2);
  case R_X86_64_64:
  case R_X86_64_PC64:
  case R_X86_64_DTPMOD64:
  case R_X86_64_DTPOFF64:
  case R_X86_64_TPOFF64:
  case R_X86_64_GOTOFF64:
  case R_X86_64_GOT64:
  case R_X86_64_GOTPCREL64:
  case R_X86_64_GOTPC64:
  case R_X86_64_GOTPLT64:
  case R_X86_64_PLTOFF64:
  case R_X86_64_SIZE64:
    return bytes(8);
  // Together with the call of __tls_get_addr. With 32-bit addresses the first
  // begins a byte later.
  case R_X86_64_TLSGD:
    return {3, 12, true, false};
  case R_X86_64_TLSLD:
    return {3, 9, true, false};
  case R_X86_64_GOTTPOFF:
  case R_X86_64_GOTPC32_TLSDESC:
  case R_X86_64_REX_GOTPCRELX:
    return {3, 4, false, false};
  case R_X86_64_GOTPCRELX:
    return {2, 4, false, false};
  default:
    return bytes(4);
  }
}

static RelocationWidth i386(uint32_t Type) {
  switch (Type) {
  case R_386_NONE:
    return bytes(0);
  case R_386_8:
  case R_386_PC8:
    return bytes(1);
  case R_386_16:
  case R_386_PC16:
  case R_386_TLS_DESC_CALL:
    return bytes(2);
  case R_386_TLS_GD:
    return {3, 9, true, false};
  case R_386_TLS_LDM:
    return {2, 9, true, false};
  case R_386_TLS_IE:
  case R_386_TLS_GOTIE:
  case R_386_GOT32X:
    return {1, 4, false, false};
  case R_386_TLS_GOTDESC:
    return {2, 4, false, false};
  default:
    return bytes(4);
  }
}

static RelocationWidth aarch64(uint32_t Type) {
  switch (Type) {
  case R_AARCH64_NONE:
    return bytes(0);
  case R_AARCH64_ABS16:
  case R_AARCH64_PREL16:
    return bytes(2);
  case R_AARCH64_ABS64:
  case R_AARCH64_PREL64:
  case R_AARCH64_AUTH_ABS64:
    return bytes(8);
  default:
    return bytes(4);
  }
}

static RelocationWidth arm(uint32_t Type) {
  switch (Type) {
  case R_ARM_NONE:
    return bytes(0);
  case R_ARM_ABS8:
    return bytes(1);
  case R_ARM_ABS16:
  case R_ARM_THM_ABS5:
  case R_ARM_THM_PC8:
  case R_ARM_THM_JUMP6:
  case R_ARM_THM_JUMP8:
  case R_ARM_THM_JUMP11:
  case R_ARM_THM_ALU_ABS_G0_NC:
  case R_ARM_THM_ALU_ABS_G1_NC:
  case R_ARM_THM_ALU_ABS_G2_NC:
  case R_ARM_THM_ALU_ABS_G3:
    return bytes(2);
  default:
    return bytes(4);
  }
}

static RelocationWidth riscv(uint32_t Type) {
  switch (Type) {
  case R_RISCV_NONE:
  case R_RISCV_RELAX:
    return bytes(0);
  case R_RISCV_ALIGN:
    return {0, 0, false, true};
  case R_RISCV_SET6:
  case R_RISCV_SUB6:
  case R_RISCV_SET8:
  case R_RISCV_ADD8:
  case R_RISCV_SUB8:
    return bytes(1);
  // Each is half of a difference, which a linker takes two at a time.
  case R_RISCV_SET_ULEB128:
    return {0, 1, true, false};
  case R_RISCV_SUB_ULEB128:
    return bytes(1);
  case R_RISCV_SET16:
  case R_RISCV_ADD16:
  case R_RISCV_SUB16:
  case R_RISCV_RVC_BRANCH:
  case R_RISCV_RVC_JUMP:
    return bytes(2);
  case R_RISCV_64:
  case R_RISCV_ADD64:
  case R_RISCV_SUB64:
  case R_RISCV_CALL:
  case R_RISCV_CALL_PLT:
  case R_RISCV_TLS_DTPMOD64:
  case R_RISCV_TLS_DTPREL64:
  case R_RISCV_TLS_TPREL64:
    return bytes(8);
  default:
    return bytes(4);
  }
}

static RelocationWidth loongarch(uint32_t Type) {
  switch (Type) {
  case R_LARCH_NONE:
  case R_LARCH_RELAX:
    return bytes(0);
  // The addend also says how much padding is too much.
  case R_LARCH_ALIGN:
    return bytes(0);
  case R_LARCH_ADD6:
  case R_LARCH_SUB6:
  case R_LARCH_ADD8:
  case R_LARCH_SUB8:
  case R_LARCH_SUB_ULEB128:
    return bytes(1);
  case R_LARCH_ADD_ULEB128:
    return {0, 1, true, false};
  case R_LARCH_ADD16:
  case R_LARCH_SUB16:
    return bytes(2);
  case R_LARCH_ADD24:
  case R_LARCH_SUB24:
    return bytes(3);
  case R_LARCH_64:
  case R_LARCH_64_PCREL:
  case R_LARCH_ADD64:
  case R_LARCH_SUB64:
  case R_LARCH_CALL36:
  case R_LARCH_TLS_DTPMOD64:
  case R_LARCH_TLS_DTPREL64:
  case R_LARCH_TLS_TPREL64:
    return bytes(8);
  default:
    return bytes(4);
  }
}

static RelocationWidth ppc64(uint32_t Type) {
  switch (Type) {
  case R_PPC64_NONE:
    return bytes(0);
  case R_PPC64_ADDR64:
  case R_PPC64_REL64:
  case R_PPC64_TOC:
  case R_PPC64_DTPMOD64:
  case R_PPC64_DTPREL64:
  case R_PPC64_TPREL64:
  case R_PPC64_PCREL34:
  case R_PPC64_GOT_PCREL34:
  case R_PPC64_GOT_TLSGD_PCREL34:
  case R_PPC64_GOT_TLSLD_PCREL34:
  case R_PPC64_GOT_TPREL_PCREL34:
  case R_PPC64_TPREL34:
  case R_PPC64_DTPREL34:
    return bytes(8);
  case R_PPC64_TLSGD:
  case R_PPC64_TLSLD:
    return {0, 4, true, false};
  // The addend is the distance to an instruction that is replaced, too.
  case R_PPC64_PCREL_OPT:
    return {0, 8, false, true};
  case R_PPC64_TLS: // at offset 1 of the instruction if it has no table
  case R_PPC64_ADDR14:
  case R_PPC64_ADDR24:
  case R_PPC64_ADDR32:
  case R_PPC64_REL14:
  case R_PPC64_REL24:
  case R_PPC64_REL24_NOTOC:
  case R_PPC64_REL32:
    return bytes(4);
  // Halves of instructions.
  default:
    return bytes(2);
  }
}

static RelocationWidth ppc(uint32_t Type) {
  switch (Type) {
  case R_PPC_NONE:
    return bytes(0);
  case R_PPC_TLSGD:
  case R_PPC_TLSLD:
    return {0, 4, true, false};
  case R_PPC_ADDR14:
  case R_PPC_ADDR24:
  case R_PPC_ADDR32:
  case R_PPC_REL14:
  case R_PPC_REL24:
  case R_PPC_REL32:
  case R_PPC_LOCAL24PC:
  case R_PPC_PLTREL24:
    return bytes(4);
  default:
    return bytes(2);
  }
}

static RelocationWidth systemZ(uint32_t Type) {
  switch (Type) {
  case R_390_NONE:
    return bytes(0);
  case R_390_8:
    return bytes(1);
  case R_390_12:
  case R_390_16:
  case R_390_PC16:
  case R_390_PC12DBL:
  case R_390_PLT12DBL:
  case R_390_PC16DBL:
  case R_390_PLT16DBL:
  case R_390_GOT12:
  case R_390_GOT16:
    return bytes(2);
  case R_390_64:
  case R_390_PC64:
  case R_390_GOT64:
  case R_390_PLT64:
  case R_390_TLS_GD64:
  case R_390_TLS_LDM64:
  case R_390_TLS_IE64:
  case R_390_TLS_LE64:
  case R_390_TLS_LDO64:
    return bytes(8);
  // A call of __tls_get_offset, of six bytes.
  case R_390_TLS_GDCALL:
  case R_390_TLS_LDCALL:
    return {0, 6, true, false};
  case R_390_TLS_LOAD:
    return bytes(6);
  case R_390_20:
  case R_390_GOT20:
  case R_390_GOTPLT20:
  case R_390_TLS_GOTIE20:
    return bytes(3);
  default:
    return bytes(4);
  }
}

/// \p Type may be up to three in one.
static RelocationWidth mips(uint32_t Type) {
  unsigned Bytes = Type == 0 ? 0 : 4;
  for (uint32_t Part = Type; Part != 0; Part >>= 8)
    switch (Part & 0xff) {
    case R_MIPS_64:
    case R_MIPS_SUB:
    case R_MIPS_TLS_DTPMOD64:
    case R_MIPS_TLS_DTPREL64:
    case R_MIPS_TLS_TPREL64:
      Bytes = 8;
    }
  switch (Type) {
  case R_MIPS_16:
  case R_MICROMIPS_PC7_S1:
  case R_MICROMIPS_PC10_S1:
    Bytes = 2;
  }
  return bytes(Bytes);
}

RelocationWidth dtlto::relocationWidth(uint16_t Machine, uint32_t Type) {
  switch (Machine) {
  case EM_X86_64:
    return x86_64(Type);
  case EM_386:
    return i386(Type);
  case EM_AARCH64:
    return aarch64(Type);
  case EM_ARM:
    return arm(Type);
  case EM_RISCV:
    return riscv(Type);
  case EM_LOONGARCH:
    return loongarch(Type);
  case EM_PPC64:
    return ppc64(Type);
  case EM_PPC:
    return ppc(Type);
  case EM_MIPS:
    return mips(Type);
  case EM_S390:
    return systemZ(Type);
  default:
    // Zero means no relocation everywhere.
    return bytes(Type == 0 ? 0 : 1);
  }
}

bool dtlto::mayShorten(uint16_t Machine, uint32_t Type) {
  if (Machine == EM_RISCV)
    switch (Type) {
    case R_RISCV_NONE:
    case R_RISCV_RELAX:
    case R_RISCV_32:
    case R_RISCV_64:
    case R_RISCV_32_PCREL:
    case R_RISCV_ADD8:
    case R_RISCV_ADD16:
    case R_RISCV_ADD32:
    case R_RISCV_ADD64:
    case R_RISCV_SUB6:
    case R_RISCV_SUB8:
    case R_RISCV_SUB16:
    case R_RISCV_SUB32:
    case R_RISCV_SUB64:
    case R_RISCV_SET6:
    case R_RISCV_SET8:
    case R_RISCV_SET16:
    case R_RISCV_SET32:
    case R_RISCV_SET_ULEB128:
    case R_RISCV_SUB_ULEB128:
    case 191: // R_RISCV_VENDOR, which says whose the next one is
      return false;
    default:
      return true;
    }
  if (Machine == EM_LOONGARCH)
    switch (Type) {
    case R_LARCH_NONE:
    case R_LARCH_RELAX:
    case R_LARCH_32:
    case R_LARCH_64:
    case R_LARCH_32_PCREL:
    case R_LARCH_64_PCREL:
    case R_LARCH_ADD6:
    case R_LARCH_ADD8:
    case R_LARCH_ADD16:
    case R_LARCH_ADD24:
    case R_LARCH_ADD32:
    case R_LARCH_ADD64:
    case R_LARCH_SUB6:
    case R_LARCH_SUB8:
    case R_LARCH_SUB16:
    case R_LARCH_SUB24:
    case R_LARCH_SUB32:
    case R_LARCH_SUB64:
    case R_LARCH_ADD_ULEB128:
    case R_LARCH_SUB_ULEB128:
      return false;
    default:
      return true;
    }
  return false;
}
