//! Work that allocates nothing once it is warm, counted in a binary of its own.

use std::time::Duration;

use alula_machine::{OutBuf, Time, TokenBucket};
use alula_testkit::{Tally, allocations};

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

#[test]
fn output_and_the_bucket() {
    let (mut out, mut bucket) = (OutBuf::with_capacity(256), TokenBucket::new(10, 10));
    let count = allocations(|| {
        for round in 0..1000_u64 {
            out.extend(&[b'a'; 100]);
            out.push(b'b');
            out.spare(50).fill(0);
            out.commit(20);
            out.consume(if round % 2 == 0 { 60 } else { out.len() });
            let _ = bucket.take(3, Time::ZERO.saturating_add(Duration::from_millis(round)));
        }
    });
    assert_eq!(count, 0);
}
