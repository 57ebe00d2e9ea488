//! Shapes, and what can be measured of them.

pub mod measure;

pub enum Shape {
    Square(u64),
    Rectangle(u64, u64),
}

pub fn unit() -> Shape {
    Shape::Square(1)
}
