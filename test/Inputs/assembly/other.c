// LLVM's importer also parses assembly at file scope.
int at_file_scope(int x);
int other(int x) { return at_file_scope(x) * 3; }
