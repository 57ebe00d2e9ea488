__asm__(".section .rodata.blob,\"a\"\n"
        ".globl blob\n"
        "blob: .INCBIN \"blob\"\n"
        ".text\n");
extern const char blob[];
int at_file_scope(int x) { return blob[x]; }
