//! Messages that are answered in a way of their own; the table of `rules` has the rest.

mod support;

use alula_h2::SendError;
use support::wire::*;
use support::{frame, ready_pair};

#[test]
fn a_large_request_can_be_answered() {
    let mut server = server();
    let long = "v".repeat(16_000);
    let octets = request("GET", &[("x", &long), ("y", &long)]);
    let (first, rest) = octets.split_at(16_384);
    server.receive(&[frame(HEADERS, END, 1, first), frame(CONTINUATION, END_HEADERS, 1, rest)].concat());
    let stream = *server.streams.last().unwrap();
    server.respond(stream, 431, &[], true).unwrap();
    assert_eq!(answers(&server.transmit()), ["HEADERS 1"]);
    assert_eq!(server.machine.in_flight(), 0);
}

/// Content of these is never sent (RFC 9110 §6.4.1), and no length but the right one.
#[test]
fn what_has_no_content_is_sent_without() {
    for (method, status) in [("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 404)] {
        let mut pair = ready_pair();
        pair.client.request(method, "/", true).unwrap();
        pair.drive();
        let stream = pair.accepted();
        pair.server.respond(stream, status, &[("x", "y")], false).unwrap();
        let refused = pair.server.data_out(stream, b"x", true);
        assert_eq!(refused, Err(SendError::ContentLength), "{method} {status}");
        assert_eq!(pair.server.data_out(stream, b"", true), Ok(0));
        pair.client.log.clear();
        pair.drive();
        assert_eq!(pair.client.log, [format!("head {status} x=y"), "data  end".into()]);
    }
}

/// Where there can be no content, no length is stated (RFC 9110 §8.6).
#[test]
fn a_length_of_nothing_is_not_stated() {
    let mut pair = ready_pair();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    let stream = pair.accepted();
    for status in [100, 103, 204] {
        let refused = pair.server.respond(stream, status, &[("content-length", "0")], true);
        assert_eq!(refused, Err(SendError::ContentLength), "{status}");
    }
    assert_eq!(pair.server.respond(stream, 304, &[("content-length", "5")], true), Ok(()));
}
