// LLVM's importer parses the assembly at file scope, too.
int at_file_scope(int x);
int other(int x) { return at_file_scope(x) * 3; }
