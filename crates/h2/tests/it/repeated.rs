//! Sections that go again and again: they arrive as they are, they are as short as they can be, and the rules
//! still hold.

use alula_fields::FieldSection;
use alula_h2::{Connection, RequestHead, SendError, Settings, Violation};
use alula_machine::OutBuf;

use crate::support::{Pair, fields, frames, ready_pair};

const PAIRS: [(&str, &str); 3] = [("accept", "*/*"), ("x-own", "value"), ("content-length", "5")];
const SHOWN: &str = "accept=*/* x-own=value content-length=5";

/// Sends an upload, answers it with the same fields, and says how long the blocks were.
fn exchange(pair: &mut Pair) -> [usize; 2] {
    let up = pair.client.request_with("POST", "/", &PAIRS, false).unwrap();
    assert_eq!(pair.client.data_out(up, b"hello", true), Ok(5));
    let request = pair.client.transmit();
    pair.server.receive(&request);
    let shown = format!("head POST https a.example / {SHOWN}");
    assert_eq!(pair.server.take_log(), [&*shown, "data hello end"]);
    pair.server.respond(pair.accepted(), 200, &PAIRS, false).unwrap();
    assert_eq!(pair.server.data_out(pair.accepted(), b"hello", true), Ok(5));
    let response = pair.server.transmit();
    pair.client.receive(&response);
    assert_eq!(pair.client.take_log(), [&*format!("head 200 {SHOWN}"), "data hello end"]);
    [request, response].map(|bytes| frames(&bytes)[0].3.len())
}

#[test]
fn they_arrive_as_they_are_whatever_becomes_of_the_table() {
    let mut pair = ready_pair();
    for table_bytes in [4096, 0, 4096] {
        for end in [&mut pair.client, &mut pair.server] {
            let settings = Settings { table_bytes, ..*end.machine.sent_settings() };
            end.machine.update_settings(settings).unwrap();
        }
        pair.settle();
        let lengths = [(); 8].map(|()| exchange(&mut pair));
        // A byte per field once all are in the table; without a table the literals come again.
        let warm = if table_bytes == 0 { lengths[1] } else { [7, 4] };
        assert_eq!(lengths[7], warm, "table of {table_bytes}: {lengths:?}");
        // Another field with the same section around it changes the table, and what was remembered.
        pair.client.request_with("GET", "/", &[("x-other", "1")], true).unwrap();
        pair.drive();
        pair.server.respond(pair.accepted(), 204, &[("x-other", "2")], true).unwrap();
        pair.settle();
        (0..4).for_each(|_| _ = exchange(&mut pair));
    }
}

#[test]
fn content_must_still_add_up() {
    let mut pair = ready_pair();
    for round in 0..6 {
        exchange(&mut pair);
        let refused = pair.client.request_with("POST", "/", &PAIRS, true);
        assert_eq!(refused, Err(SendError::ContentLength), "round {round}");
    }
}

/// A request to an authority, with these fields and without content.
fn request(
    machine: &mut Connection,
    method: &str,
    authority: &str,
    fields: &FieldSection,
) -> Result<(), SendError> {
    let (scheme, path) = if method == "CONNECT" { ("", "") } else { ("https", "/") };
    let head = RequestHead { method, scheme, authority, path, protocol: None, fields };
    machine.send_request(&head, method != "CONNECT", &mut OutBuf::new()).map(|_| ())
}

#[test]
fn what_depends_on_more_than_the_section_is_checked_each_time() {
    let mut pair = ready_pair();
    let machine = &mut pair.client.machine;
    let host = fields(&[("host", "a.example")]);
    for _ in 0..4 {
        assert_eq!(request(machine, "GET", "a.example", &host), Ok(()));
        let rule = Violation::HOST_DIFFERS;
        assert_eq!(request(machine, "GET", "b.example", &host), Err(SendError::Field { at: 0, rule }));
    }
    let stated = fields(&[("content-length", "5")]);
    for _ in 0..4 {
        // A tunnel's content has no stated length, but the next request's has.
        assert_eq!(request(machine, "CONNECT", "a.example:443", &stated), Ok(()));
        assert_eq!(request(machine, "GET", "a.example", &stated), Err(SendError::ContentLength));
    }
}
