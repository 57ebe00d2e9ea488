// Virtual functions in three modules, for devirtualization and CFI.

struct Shape {
  virtual int area(int x);
  virtual int edge(int x);
};

struct Circle : Shape {
  int area(int x) override;
};

// Returns a shape whose type the caller can't see.
Shape *make();
