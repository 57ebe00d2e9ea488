// Virtual functions in three modules, for devirtualization and CFI.

struct Shape {
  virtual int area(int x);
  virtual int edge(int x);
};

struct Circle : Shape {
  int area(int x) override;
};

// Returns a shape of which the caller can't see the type.
Shape *make();
