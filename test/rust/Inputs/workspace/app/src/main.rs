use shapes::Shape;

fn main() {
    let all = [shapes::unit(), Shape::Rectangle(4, 5)];
    println!("{}", text::describe(&all));
}
