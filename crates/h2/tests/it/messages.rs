//! Messages that are answered in a way of their own; the table of `rules` has the rest.

use alula_h2::{Config, Connection, Leniency, SendError};

use crate::support::wire::*;
use crate::support::{End, frame, ready_pair};

#[test]
fn a_large_request_can_be_answered() {
    let mut server = server();
    let long = "v".repeat(16_000);
    let bytes = request("GET", &[("x", &long), ("y", &long)]);
    let (first, rest) = bytes.split_at(16_384);
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

/// WordPress.com sent such a value, and other clients took it.
#[test]
fn white_space_around_values_of_responses_is_taken_out_where_it_is_forgiven() {
    let answer = [
        headers(0, 1, &response("200", &[("x", " \ty"), ("content-length", "2 "), ("empty", " ")])),
        data(0, 1, b"ok"),
        headers(END, 1, &block(&[("x-sum", "7 ")])),
    ];
    let taken = ["head 200 x=y content-length=2 empty=", "data ok", "trailers x-sum=7"];
    let broken = "field value with a control, or with white space";
    for (spaced_values, is_twice) in [(true, false), (true, true), (false, false)] {
        let config = Config { leniency: Leniency { spaced_values }, ..Config::default() };
        let mut client = End::new(Connection::client(config));
        client.request("GET", "/", true).unwrap();
        client.transmit();
        client.receive(&[frame(SETTINGS, 0, 0, &[]), answer.concat()].concat());
        let log = client.take_log();
        match spaced_values {
            true => assert_eq!(log[log.len() - 3..], taken),
            false => assert!(log.iter().any(|line| line.contains(broken)), "{log:?}"),
        }
        if is_twice {
            // A block that is known by its bytes.
            client.request("GET", "/", true).unwrap();
            let again = answer.concat().chunks(1).map(<[u8]>::to_vec).collect::<Vec<_>>().concat();
            client.receive(&again_on(3, &again));
            assert_eq!(client.take_log(), taken);
        }
    }
}

/// The same frames on another stream.
fn again_on(stream: u32, bytes: &[u8]) -> Vec<u8> {
    let frames = crate::support::frames(bytes).into_iter();
    frames.flat_map(|(kind, flags, _, payload)| frame(kind, flags, stream, &payload)).collect()
}

/// A control is forgiven nobody, nor is white space in a pseudo-field, in a name or in a request.
#[test]
fn nothing_else_is_forgiven_with_it() {
    let config = || Config { leniency: Leniency { spaced_values: true }, ..Config::default() };
    let bad = [response("200 ", &[]), response("200", &[("x", "a\n ")]), response("200", &[("x ", "a")])];
    for block in bad {
        let mut client = End::new(Connection::client(config()));
        client.request("GET", "/", true).unwrap();
        client.transmit();
        client.receive(&[frame(SETTINGS, 0, 0, &[]), headers(END, 1, &block)].concat());
        assert!(client.take_log().iter().any(|line| line.starts_with("reset PROTOCOL_ERROR by us")));
    }
    let mut server = server_with(config());
    server.receive(&headers(END, 1, &request("GET", &[("x", " y")])));
    assert!(server.streams.is_empty());
}
