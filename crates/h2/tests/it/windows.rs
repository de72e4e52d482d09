//! Windows of streams and connections, between a client and a server (RFC 9113 §5.2, §6.9).

use alula_h2::{Config, SendError, Settings};
use alula_machine::Limits;

use crate::support::{pair_with, ready_pair};

#[test]
fn large_bodies_wait_for_windows() {
    let mut pair = ready_pair();
    pair.server.consumes = false;
    let content: Vec<u8> = (0..600_000).map(|at| at as u8).collect();
    let up = pair.client.request("PUT", "/", false).unwrap();
    let first = pair.client.data_out(up, &content, true).unwrap();
    assert_eq!(first, 256 * 1024, "the stream's window");
    pair.drive();
    assert_eq!(pair.client.data_out(up, &content[first..], true), Ok(0));
    let key = pair.accepted();
    assert_eq!(pair.server.machine.unreleased(key), 256 * 1024);
    pair.server.machine.release_capacity(key, 100 * 1024).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), [""; 0], "less than half of the window is not announced");
    pair.server.machine.release_capacity(key, 100 * 1024).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), ["writable"]);
    let second = pair.client.data_out(up, &content[first..], true).unwrap();
    assert_eq!(second, 200 * 1024);
    pair.server.consumes = true;
    let mut sent = first + second;
    pair.server.machine.release_capacity(key, 300 * 1024).unwrap();
    while sent < content.len() {
        pair.drive();
        sent += pair.client.data_out(up, &content[sent..], true).unwrap();
    }
    pair.drive();
    assert_eq!(
        pair.server.take_log().last().unwrap(),
        &format!("data {} bytes end", content.len() - first - second)
    );
    pair.server.machine.check_invariants();
}

#[test]
fn the_connection_window_is_shared_in_turn() {
    // Windows that may grow are announced whole where a sample begins.
    let limits = Limits { connection_window: 65_535, stream_window_max: 0, ..Limits::default() };
    let limits = Limits { connection_window_max: 0, ..limits };
    let mut pair = pair_with(Config::default(), Config { limits, ..Config::default() });
    pair.settle();
    pair.server.consumes = false;
    let [a, b, c] = [(); 3].map(|()| pair.client.request("PUT", "/", false).unwrap());
    assert_eq!(pair.client.data_out(a, &[0; 70_000], true), Ok(65_535));
    assert_eq!(pair.client.data_out(b, &[0; 1000], true), Ok(0));
    assert_eq!(pair.client.data_out(c, &[0; 10], true), Ok(0));
    pair.drive();
    assert_eq!(pair.client.take_log(), [""; 0]);
    let key = pair.server.streams[0];
    pair.server.machine.release_capacity(key, 40_000).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), ["writable"; 3]);
    assert_eq!(pair.client.data_out(b, &[0; 1000], true), Ok(1000));
    // A stream that is given up gives back what it holds of the connection's window.
    pair.server.machine.forget(key);
    pair.drive();
    assert_eq!(pair.client.take_log(), ["reset CANCEL by peer"]);
    assert_eq!(pair.client.machine.send_capacity(c), 64_535, "less than half goes along with the reset");
    let key = pair.server.streams[1];
    pair.server.machine.release_capacity(key, 1000).unwrap();
    assert_eq!(pair.client.data_out(c, &[0; 7_000], false), Ok(7_000));
    pair.drive();
    pair.server.machine.release_capacity(pair.server.streams[2], 7_000).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.send_capacity(c), 57_535, "less than half is not announced alone");
}

#[test]
fn settings_change_windows_of_open_streams() {
    let mut pair = ready_pair();
    let up = pair.client.request("PUT", "/", false).unwrap();
    assert_eq!(pair.client.data_out(up, &[0; 1000], false), Ok(1000));
    pair.drive();
    pair.server.consumes = false;
    assert_eq!(pair.client.data_out(up, &[0; 1000], false), Ok(1000));
    pair.drive();
    let small = Settings { stream_window: 500, ..*pair.server.machine.local_settings() };
    pair.server.machine.update_settings(small).unwrap();
    pair.drive();
    assert_eq!(pair.server.machine.local_settings().stream_window, 500);
    assert_eq!(pair.client.data_out(up, b"x", false), Ok(0), "the window is below zero");
    let key = pair.accepted();
    pair.server.machine.release_capacity(key, 1000).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.send_capacity(up), 500, "an update has brought it to its size");
    let large = Settings { stream_window: 100_000, ..small };
    pair.server.machine.update_settings(large).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log().iter().filter(|line| *line == "writable").count(), 1);
    assert_eq!(pair.client.machine.send_capacity(up), 100_000);
    let fresh = pair.client.request("PUT", "/", false).unwrap();
    assert_eq!(pair.client.machine.send_capacity(fresh), 100_000);
}

#[test]
fn windows_grow_on_request() {
    let mut pair = ready_pair();
    let up = pair.client.request("PUT", "/", false).unwrap();
    pair.drive();
    let key = pair.accepted();
    pair.server.machine.grow_stream_window(key, 300_000).unwrap();
    assert_eq!(pair.server.machine.grow_stream_window(key, 299_999), Err(SendError::Setting));
    pair.server.machine.grow_window(2 << 20).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.send_capacity(up), 300_000);
}

#[test]
fn windows_that_grow_and_settings_stay_below_the_maximum_together() {
    const MAX: u32 = (1 << 31) - 1;
    let mut pair = ready_pair();
    let up = pair.client.request("PUT", "/", false).unwrap();
    pair.drive();
    let (key, now) = (pair.accepted(), *pair.server.machine.local_settings());
    let larger = |by| Settings { stream_window: now.stream_window + by, ..now };

    pair.server.machine.grow_window(MAX).unwrap();
    pair.server.machine.grow_stream_window(key, MAX - 100).unwrap();
    assert_eq!(pair.server.machine.update_settings(larger(101)), Err(SendError::Setting));
    pair.server.machine.update_settings(larger(90)).unwrap();
    pair.server.machine.update_settings(larger(0)).unwrap();
    assert_eq!(pair.server.machine.grow_stream_window(key, MAX - 89), Err(SendError::Setting));
    pair.server.machine.grow_stream_window(key, MAX - 90).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.send_capacity(up), MAX as usize - 90);
    pair.server.machine.grow_stream_window(key, MAX).unwrap();
    pair.drive();
    assert_eq!(pair.client.machine.send_capacity(up), MAX as usize);
}
