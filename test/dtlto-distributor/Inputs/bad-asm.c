void start_again(void) { __asm__("nonsense"); }
