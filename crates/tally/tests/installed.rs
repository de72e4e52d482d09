//! The allocator is installed in this binary, and so each test asks about its own thread or side.

use std::cell::RefCell;
use std::hint::black_box;
use std::thread;

use alula_tally::{Counts, Side, Tally, counted, enter, peak, process, set_side, side};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

#[test]
fn each_kind_of_call_is_counted() {
    assert!(alula_tally::is_installed());
    let ((), counts) = counted(|| drop(black_box(Box::new([1_u8; 64]))));
    assert_eq!(counts, Counts { allocations: 1, deallocations: 1, bytes: 64, bytes_freed: 64 });

    let ((), counts) = counted(|| drop(black_box(vec![0_u8; 100])));
    assert_eq!(counts, Counts { allocations: 1, deallocations: 1, bytes: 100, bytes_freed: 100 });

    let mut list: Vec<u8> = Vec::with_capacity(10);
    let ((), counts) = counted(|| list.reserve_exact(1000));
    assert_eq!(counts, Counts { allocations: 1, deallocations: 1, bytes: 1000, bytes_freed: 10 });
    assert_eq!(counts.bytes_live(), 990);
    black_box(list);
}

#[test]
fn reading_allocates_nothing() {
    let ((), counts) = counted(|| {
        for _ in 0..100 {
            black_box((process(), side(Side::CLIENT), alula_tally::thread(), alula_tally::is_installed()));
            let _guard = enter(Side::other(0).unwrap());
        }
    });
    assert_eq!(counts, Counts::default());
}

#[test]
fn threads_do_not_see_each_other() {
    let (others, own) = counted(|| {
        let run = || counted(|| (0..1000).for_each(|_| drop(black_box(Box::new(1_u64))))).1;
        thread::spawn(run).join().unwrap()
    });
    assert_eq!((others.allocations, others.deallocations), (1000, 1000));
    assert!(own.allocations < 100, "only what starting a thread takes: {own:?}");
}

#[test]
fn sides_are_kept_apart_and_the_process_is_their_sum() {
    let before = (side(Side::CLIENT), side(Side::SERVER), process());
    let work = |label, rounds| {
        thread::spawn(move || {
            set_side(label);
            (0..rounds).for_each(|_| drop(black_box(Box::new(1_u64))));
            set_side(Side::NONE);
        })
    };
    work(Side::CLIENT, 300).join().unwrap();
    work(Side::SERVER, 500).join().unwrap();
    let client = side(Side::CLIENT) - before.0;
    let server = side(Side::SERVER) - before.1;
    assert_eq!((client.allocations, client.bytes), (300, 2400));
    assert_eq!((server.deallocations, server.bytes_freed), (500, 4000));
    assert!((process() - before.2).allocations >= 800);
}

#[test]
fn guards_nest() {
    let label = |index| Side::other(index).unwrap();
    let outer = enter(label(1));
    {
        let _inner = enter(label(2));
        assert_eq!(set_side(label(2)), label(2));
    }
    assert_eq!(set_side(label(1)), label(1));
    drop(outer);
    assert_eq!(set_side(Side::NONE), Side::NONE);
    assert_eq!(Side::other(6), None);
    assert_eq!(format!("{:?} {:?} {:?}", Side::NONE, Side::CLIENT, label(4)), "none client other 4");
}

/// A thread's destructors may allocate when its thread-locals are going; the allocator must still work and
/// count.
#[test]
fn destructors_of_threads_may_allocate() {
    struct Last(RefCell<Vec<String>>);
    impl Drop for Last {
        fn drop(&mut self) {
            let kept = self.0.take();
            black_box(kept.iter().map(|text| text.repeat(10)).collect::<Vec<_>>());
        }
    }
    thread_local!(static LAST: Last = const { Last(RefCell::new(Vec::new())) });

    let label = Side::other(3).unwrap();
    let before = side(label);
    let run = move || {
        set_side(label);
        LAST.with(|last| last.0.borrow_mut().push("kept".into()));
    };
    thread::spawn(run).join().unwrap();
    let counts = side(label) - before;
    assert!(counts.allocations >= 4, "the list, its text, the copies: {counts:?}");
}

#[test]
fn the_peak_is_the_most_that_was_held_at_once() {
    let kept = black_box(vec![0_u8; 10_000]);
    let (inner, outer) = peak(|| {
        drop(black_box(vec![0_u8; 700]));
        let first = black_box(vec![0_u8; 300]);
        let ((), inner) = peak(|| drop(black_box(vec![0_u8; 200])));
        drop(first);
        drop(black_box(vec![0_u8; 400]));
        inner
    });
    assert_eq!((inner, outer), (200, 700));

    let (list, grown) = peak(|| {
        let mut list: Vec<u8> = Vec::with_capacity(10);
        list.reserve_exact(1000);
        black_box(list)
    });
    assert_eq!((list.capacity(), grown), (1000, 1000));

    let ((), less) = peak(|| drop(kept));
    assert_eq!(less, 0);
}

/// A request that cannot be met is refused by the system and is no allocation.
#[test]
fn failures_are_not_counted() {
    let mut list: Vec<u8> = Vec::new();
    let (result, counts) = counted(|| list.try_reserve_exact(isize::MAX as usize));
    assert!(result.is_err());
    assert_eq!(counts, Counts::default());
}
