use crate::Shape;

pub fn area(shape: &Shape) -> u64 {
    match shape {
        Shape::Square(side) => side * side,
        Shape::Rectangle(width, height) => width * height,
    }
}

pub fn total(shapes: &[Shape]) -> u64 {
    shapes.iter().map(area).sum()
}
