// Assembly that reads no file.
int plain(int x) {
  __asm__("addl $3, %0" : "+r"(x));
  return x * 7;
}
