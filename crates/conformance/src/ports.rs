//! Ports that are free, for programs that cannot be asked to choose one themselves.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::poll;

/// Below the ports that the system gives to outgoing connections, so that none of those takes one between our
/// looking and the program's listening.
const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// A port that nobody listens on.
#[must_use]
pub fn free() -> u16 {
    free_row(1)
}

/// The first of so many consecutive ports that nobody listens on.
///
/// # Panics
/// When there is no such row.
#[must_use]
pub fn free_row(length: u16) -> u16 {
    // Test binaries that run at the same time start at different places.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(97);
    for _ in 0..COUNT {
        let offset = start.wrapping_add(NEXT.fetch_add(u32::from(length), Ordering::Relaxed)) % COUNT;
        let first = u16::try_from(FIRST + offset).expect("the range lies within the ports");
        if (first..first + length).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
    panic!("no {length} consecutive ports are free");
}

/// Waits until nobody listens on the port any more.
///
/// # Panics
/// When somebody still does after 10 seconds.
pub fn wait_until_free(port: u16) {
    let bind = || TcpListener::bind(("127.0.0.1", port)).ok();
    assert!(poll::within(Duration::from_secs(10), bind).is_some(), "port {port} is not given up");
}
