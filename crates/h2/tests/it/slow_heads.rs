//! A head that was begun must be ended in time, and nothing else is taken for one.

use alula_h2::ErrorCode;

use crate::support::ready_pair;

const SECOND: u64 = 1_000_000_000;

#[test]
fn what_was_begun_must_be_ended_in_time() {
    let head = crate::support::frame(1, 4, 1, &crate::support::wire::get());
    let (block, end) =
        (crate::support::frame(1, 1, 1, &crate::support::wire::get()), crate::support::frame(9, 4, 1, &[]));
    for (begun, rest) in [(&head[..5], &head[5..]), (&head[..12], &head[12..]), (&block[..], &end[..])] {
        let mut pair = ready_pair();
        pair.settle();
        pair.server.receive(begun);
        let due = pair.server.machine.poll_timeout().unwrap();
        assert_eq!(due.as_nanos(), pair.now.as_nanos() + 10 * SECOND);
        pair.server.receive(rest);
        assert_eq!(pair.server.machine.poll_timeout(), None, "it came in time");
        assert_eq!(pair.server.streams.len(), 1);
    }
    let mut pair = ready_pair();
    pair.settle();
    pair.server.receive(&block);
    let due = pair.server.machine.poll_timeout().unwrap();
    pair.server.machine.handle_timeout(due);
    assert_eq!(ErrorCode::of(&pair.server.machine.error().unwrap()), ErrorCode::ENHANCE_YOUR_CALM);
}

#[test]
fn reads_that_end_within_frames_are_not_slow() {
    let mut pair = ready_pair();
    pair.settle();
    let heads: Vec<Vec<u8>> = (0..30)
        .map(|number| crate::support::frame(1, 5, 2 * number + 1, &crate::support::wire::get()))
        .collect();
    let bytes = heads.concat();
    let step = heads[0].len();
    // Always in the middle of a head, for half a minute.
    pair.server.receive(&bytes[..step / 2]);
    for at in 0..29 {
        pair.pass(SECOND);
        assert_eq!(pair.server.machine.error(), None, "after {at} seconds");
        pair.server.receive(&bytes[step / 2 + at * step..step / 2 + (at + 1) * step]);
    }
}
