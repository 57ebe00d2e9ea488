// Imports `in_function`, and so must stay in the linker like that one.
int at_file_scope(int x);
int in_function(int x);
int by_macro(int x);
int plain(int x);
int other(int x);
int user(int x);
int start(int x) {
  return at_file_scope(x) + in_function(x) + by_macro(x) + plain(x) + other(x) +
         user(x);
}
