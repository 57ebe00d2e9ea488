// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rich.h"

Shape::~Shape() = default;
const char *NoSuchShape::what() const noexcept { return "no such shape"; }

namespace {
struct Circle final : Shape {
  double r;
  explicit Circle(double r) : r(r) {}
  double area() const override { return 3.14159265358979323846 * r * r; }
};
struct Square : Shape {
  double side;
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
};
struct Hexagon : Square {
  using Square::Square;
  double area() const override { return 1.5 * __builtin_sqrt(3 * side) * side; }
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
  throw NoSuchShape();
}
