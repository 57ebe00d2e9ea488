int imported(int x) { return 3 * x; }
