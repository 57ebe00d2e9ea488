int plain(int x);
int user(int x) { return plain(x) * 9; }
