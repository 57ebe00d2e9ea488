#[no_mangle]
pub unsafe extern "C" fn sum(numbers: *const u32, count: usize) -> u32 {
    std::slice::from_raw_parts(numbers, count).iter().sum()
}
