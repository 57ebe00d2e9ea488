// Segmented stacks and variable arguments: a fatal error in LLVM.
int fatal(int n, ...) { return n; }
