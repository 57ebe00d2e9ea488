// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"
#include <cmath>

Shape::~Shape() = default;

namespace {
struct Circle final : Shape {
  double r;
  explicit Circle(double r) : r(r) {}
  double area() const override { return M_PI * r * r; }
};
struct Square : Shape {
  double side;
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
};
struct Hexagon : Square {
  using Square::Square;
  double area() const override { return 1.5 * std::sqrt(3.0) * side * side; }
};
} // namespace

Shape *makeShape(int kind, double size) {
  ++calls;
  switch (kind) {
  case 0:
    return new Circle(size);
  case 1:
    return new Square(size);
  case 2:
    return new Hexagon(size);
  }
  throw std::invalid_argument("no such shape");
}
