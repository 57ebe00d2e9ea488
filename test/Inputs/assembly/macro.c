__asm__(".macro read how\n"
        ".in\\how \"blob\"\n"
        ".endm\n"
        ".section .rodata.macro,\"a\"\n"
        "read cbin\n"
        ".text\n");
int by_macro(int x) { return x * 5; }
