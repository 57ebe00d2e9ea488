//! What is said about shapes.

use shapes::{measure, Shape};

pub fn describe(shapes: &[Shape]) -> String {
    format!("{} shapes of area {}", shapes.len(), measure::total(shapes))
}
