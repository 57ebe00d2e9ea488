int in_function(int x) {
  __asm__ volatile(".pushsection .rodata.words,\"a\"\n"
                   ".include \"words\"\n"
                   ".popsection\n");
  return x + 1;
}
