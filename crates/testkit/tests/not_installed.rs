//! A count in a binary without the counting allocator would be a test that cannot fail, so there is none.

#[test]
#[should_panic(expected = "must have alula_tally::Tally as its global allocator")]
fn a_count_that_means_nothing_is_refused() {
    alula_testkit::allocations(|| ());
}
