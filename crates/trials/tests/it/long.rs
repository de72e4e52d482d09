//! Long conversations of peers that mean no harm: what was sent arrives, once and in order, nobody breaks a
//! rule, and in the end both are idle or closed.

use alula_testkit::Rng;
use alula_trials::{h1_peers, h2_peers, hpack_decode, hpack_round_trip};

/// Decisions, up to so many bytes.
fn decisions(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    let len = rng.below(bytes);
    rng.bytes(len)
}

#[test]
fn peers_of_http1_lose_and_double_nothing() {
    let (mut whole, mut ended) = (0, 0);
    for seed in 0..2500 {
        let (messages, has_ended) = h1_peers(&decisions(&mut Rng::new(seed), 1200));
        whole += messages;
        ended += usize::from(has_ended);
    }
    assert!(whole > 20_000 && ended > 200, "{whole} whole messages, {ended} of 2500 connections ended");
}

#[test]
fn peers_of_http2_lose_and_double_nothing() {
    let requests: Vec<u32> = (0..60).map(|seed| h2_peers(&Rng::new(seed).bytes(1800))).collect();
    assert!(requests.iter().all(|requests| *requests > 10), "{requests:?}");
}

#[test]
fn codecs_of_hpack_understand_each_other() {
    for seed in 0..700 {
        hpack_round_trip(&decisions(&mut Rng::new(seed), 6000));
        hpack_decode(&decisions(&mut Rng::new(seed), 600));
    }
}
