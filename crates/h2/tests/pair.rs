//! A client and a server, talking to each other on simulated time.

mod support;

use alula_h2::SendError;
use support::Pair;

#[test]
fn a_request_is_answered() {
    let mut pair = Pair::new();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    assert_eq!(
        pair.server.take_log(),
        ["Settings", "head GET https a.example / end", "SettingsAcknowledged"]
    );
    let stream = pair.accepted();
    pair.server
        .respond(stream, 200, &[("content-type", "text/plain"), ("content-length", "5")], false)
        .unwrap();
    assert_eq!(pair.server.data_out(stream, b"hello", true), Ok(5));
    pair.drive();
    assert_eq!(
        pair.client.take_log(),
        [
            "Settings",
            "SettingsAcknowledged",
            "head 200 content-type=text/plain content-length=5",
            "data hello end"
        ]
    );
    assert_eq!((pair.client.machine.in_flight(), pair.server.machine.in_flight()), (0, 0));
    assert_eq!(pair.server.data_out(stream, b"more", true), Err(SendError::UnknownStream));
}
