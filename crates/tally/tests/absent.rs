//! The allocator is not installed in this binary: nothing is counted, and that can be known.

use alula_tally::{Counts, Side, counted, enter, is_installed, process, side, thread};

#[test]
fn nothing_is_counted_and_that_is_said() {
    let _guard = enter(Side::SERVER);
    let (list, counts) = counted(|| std::hint::black_box(vec![1_u8; 1000]));
    assert_eq!(counts, Counts::default());
    drop(list);
    assert_eq!((thread(), process(), side(Side::SERVER)), Default::default());
    assert!(!is_installed());
}
