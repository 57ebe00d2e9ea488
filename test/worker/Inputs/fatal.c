// Segmented stacks and variable arguments: a fatal error of LLVM's.
int fatal(int n, ...) { return n; }
