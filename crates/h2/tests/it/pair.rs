//! A client and a server, talking to each other on simulated time.

use alula_fields::{FieldSection, Head, Status};
use alula_h2::{
    Config, ConnectionError, ErrorCode, Event, Hole, Prepared, RequestHead, ResponseHead, SendError,
    Settings, Violation,
};
use alula_machine::{Limits, OutBuf, Time};

use crate::support::{Pair, fields, new_pair, pair_with, ready_pair};

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_request_is_answered() {
    let mut pair = new_pair();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    assert_eq!(
        pair.server.take_log(),
        ["Settings", "head GET https a.example / end", "SettingsAcknowledged"]
    );
    let stream = pair.accepted();
    let head = [("content-type", "text/plain"), ("content-length", "5")];
    pair.server.respond(stream, 200, &head, false).unwrap();
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

#[test]
fn heads_are_exchanged_in_their_boxes() {
    let mut pair = ready_pair();
    pair.client.request("GET", "/a", true).unwrap();
    let bytes = pair.client.transmit();
    let received = pair.server.machine.receive(&bytes, Time::ZERO).unwrap();
    let Some(Event::Head { stream, end: true }) = received.event else { panic!("a head is expected") };
    let mut spare = Some(Box::new(Head::new()));
    let before: *const Head = &**spare.as_ref().unwrap();
    pair.server.machine.exchange_head(stream, &mut spare).unwrap();
    let mut head = spare.unwrap();
    assert_eq!((head.method(), head.path()), (Some("GET"), Some("/a")));
    assert!(!std::ptr::eq(before, &*head), "another box came back");
    pair.server.machine.take_head(stream, &mut head).unwrap();
    assert_eq!((head.method(), head.path()), (None, None), "it is taken once");
    pair.server.machine.forget(stream);
    assert!(pair.server.machine.exchange_head(stream, &mut None).is_err());
}

#[test]
fn bodies_and_trailers_go_both_ways() {
    let mut pair = ready_pair();
    let up = pair.client.request("POST", "/", false).unwrap();
    assert_eq!(pair.client.data_out(up, b"up", false), Ok(2));
    pair.client.trailers_out(up, &[("x-up", "1")]).unwrap();
    pair.drive();
    assert_eq!(pair.server.take_log(), ["head POST https a.example /", "data up", "trailers x-up=1"]);
    let down = pair.accepted();
    pair.server.respond(down, 103, &[("link", "<a>")], false).unwrap();
    pair.server.respond(down, 100, &[], false).unwrap();
    pair.server.respond(down, 200, &[], false).unwrap();
    assert_eq!(pair.server.data_out(down, b"down", false), Ok(4));
    pair.server.trailers_out(down, &[("x-down", "2")]).unwrap();
    pair.drive();
    assert_eq!(
        pair.client.take_log(),
        ["interim 103 link=<a>", "interim 100", "head 200", "data down", "trailers x-down=2"]
    );
    assert_eq!((pair.client.machine.in_flight(), pair.server.machine.in_flight()), (0, 0));
}

#[test]
fn resets_go_both_ways_and_slots_are_held() {
    let mut pair = ready_pair();
    let a = pair.client.request("GET", "/a", true).unwrap();
    let b = pair.client.request("GET", "/b", true).unwrap();
    pair.drive();
    pair.client.machine.reset(a, ErrorCode::CANCEL);
    let refused = pair.accepted();
    pair.server.machine.reset(refused, ErrorCode::REFUSED_STREAM);
    pair.drive();
    assert_eq!(pair.server.take_log().last().unwrap(), "reset CANCEL by peer");
    assert_eq!(pair.client.take_log(), ["reset REFUSED_STREAM by peer unprocessed"]);
    assert_eq!(pair.client.machine.in_flight(), 0);
    assert_eq!(pair.client.machine.stream_id(b), None, "the harness has forgotten it");
}

#[test]
fn forgetting_a_stream_says_why() {
    let mut pair = ready_pair();
    pair.client.request("POST", "/", false).unwrap();
    pair.drive();
    let key = pair.accepted();
    pair.server.respond(key, 200, &[], true).unwrap();
    pair.server.machine.forget(key);
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 200 end"], "small content may end first");
    pair.pass(Limits::default().linger_timeout.as_nanos() as u64);
    assert_eq!(pair.client.take_log(), ["reset NO_ERROR by peer"]);
}

#[test]
fn a_server_counts_reset_streams_until_they_are_let_go_of() {
    let limits = Limits { streams: 2, ..Limits::default() };
    let mut pair = pair_with(Config::default(), Config { limits, ..Config::default() });
    pair.settle();
    // A driver that does not let go: the machine is fed by hand.
    let mut keys = Vec::new();
    let send = |pair: &mut Pair, keys: &mut Vec<_>| {
        let bytes = pair.client.transmit();
        let mut input = &bytes[..];
        loop {
            let received = pair.server.machine.receive(input, pair.now).unwrap();
            input = &input[received.consumed..];
            match received.event {
                Some(alula_h2::Event::Head { stream, .. }) => keys.push(stream),
                Some(_) => {}
                None => break,
            }
        }
        while pair.server.machine.poll_notice().is_some() {}
    };
    for _ in 0..2 {
        let stream = pair.client.request("GET", "/", true).unwrap();
        pair.client.machine.reset(stream, ErrorCode::CANCEL);
        send(&mut pair, &mut keys);
    }
    assert_eq!((keys.len(), pair.server.machine.in_flight()), (2, 0));
    pair.client.request("GET", "/", true).unwrap();
    send(&mut pair, &mut keys);
    assert_eq!(keys.len(), 2, "refused: the work on the two may still go on");
    let bytes = pair.server.transmit();
    pair.client.receive(&bytes);
    assert_eq!(pair.client.take_log(), ["reset REFUSED_STREAM by peer unprocessed"]);
    keys.drain(..).for_each(|key| pair.server.machine.forget(key));
    pair.client.request("GET", "/", true).unwrap();
    send(&mut pair, &mut keys);
    assert_eq!(keys.len(), 1);
}

#[test]
fn the_limit_of_streams_is_kept_and_slots_are_told_of() {
    let limits = Limits { streams: 1, ..Limits::default() };
    let mut pair = pair_with(Config::default(), Config { limits, ..Config::default() });
    pair.settle();
    assert_eq!(pair.client.machine.available_slots(), 1);
    pair.client.request("GET", "/", true).unwrap();
    assert_eq!(pair.client.request("GET", "/", true), Err(SendError::StreamLimit));
    pair.drive();
    let stream = pair.accepted();
    pair.server.respond(stream, 204, &[], true).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 204 end", "room"]);
    pair.client.request("GET", "/", true).unwrap();
    assert_eq!(pair.client.request("GET", "/", true), Err(SendError::StreamLimit));
    // More slots by SETTINGS are told of, too.
    let more = Settings { streams_max: Some(3), ..*pair.server.machine.local_settings() };
    pair.server.machine.update_settings(more).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), ["Settings", "room"]);
    assert_eq!(pair.client.machine.available_slots(), 2);
}

#[test]
fn settings_that_may_not_be_sent_are_refused() {
    let mut pair = pair_with(Config::default(), Config { connect_protocol: true, ..Config::default() });
    pair.settle();
    let now = *pair.server.machine.local_settings();
    for odd in [
        Settings { frame_bytes_max: 16_383, ..now },
        Settings { frame_bytes_max: 1 << 24, ..now },
        Settings { stream_window: 1 << 31, ..now },
        Settings { connect_protocol: false, ..now },
        Settings { streams_max: None, ..now },
    ] {
        assert_eq!(pair.server.machine.update_settings(odd), Err(SendError::Setting));
    }
    assert!(!pair.server.machine.wants_write());
}

#[test]
fn larger_tables_are_used_only_after_the_acknowledgment_is_on_its_way() {
    let limits = Limits { table_bytes: 65_536, encoder_table_bytes: 65_536, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let mut pair = pair_with(config.clone(), config);
    for round in 0..50 {
        let long = format!("{round}-").repeat(300);
        for _ in 0..3 {
            pair.client.request_with("GET", "/", &[("x-long", &long)], true).unwrap();
            pair.drive();
            let stream = pair.accepted();
            pair.server.respond(stream, 200, &[("x-long", &long)], true).unwrap();
            pair.drive();
        }
    }
    assert_eq!((pair.client.error, pair.server.error), (None, None));
    assert_eq!(pair.client.streams.len(), 150);
}

#[test]
fn blocks_longer_than_a_frame_are_split() {
    let limits = Limits { field_section_bytes: 1 << 20, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let mut pair = pair_with(config.clone(), config);
    pair.settle();
    let values: Vec<String> =
        (0..5).map(|at| format!("{at}\u{1}").replace('\u{1}', "~").repeat(5_000)).collect();
    let pairs: Vec<(&str, &str)> = values.iter().map(|value| ("x", value.as_str())).collect();
    pair.client.request_with("GET", "/", &pairs, true).unwrap();
    let bytes = pair.client.transmit();
    let frames = crate::support::frames(&bytes);
    let kinds: Vec<_> =
        frames.iter().map(|(kind, flags, stream, bytes)| (*kind, *flags, *stream, bytes.len())).collect();
    assert!(kinds.len() > 2, "{kinds:?}");
    assert_eq!(kinds[0], (1, 0x1, 1, 16_384));
    assert_eq!(kinds[1], (9, 0, 1, 16_384));
    assert_eq!((kinds.last().unwrap().0, kinds.last().unwrap().1), (9, 0x4));
    pair.server.receive(&bytes);
    let shown: String = pairs.iter().map(|(_, value)| format!(" x={value}")).collect();
    assert_eq!(pair.server.take_log(), [format!("head GET https a.example /{shown} end")]);
}

#[test]
fn sections_larger_than_the_peer_allows_are_not_sent() {
    let limits = Limits { field_section_bytes: 300, ..Limits::default() };
    let mut pair = pair_with(Config::default(), Config { limits, ..Config::default() });
    pair.settle();
    // 42 + 44 + 51 + 38 for the pseudo-fields, 33 and the length for the field.
    let exact = "v".repeat(300 - 175 - 33);
    let long = exact.clone() + "v";
    let refused = pair.client.request_with("GET", "/", &[("x", &long)], true);
    assert_eq!(refused, Err(SendError::FieldsTooLarge { size: 301, limit: 300 }));
    assert!(pair.client.out.is_empty());
    let stream = pair.client.request_with("PUT", "/", &[("x", &exact)], false).unwrap();
    assert_eq!(pair.client.machine.stream_id(stream), Some(1));
    let trailers = [("x", long.as_str()), ("y", long.as_str()), ("z", long.as_str())];
    assert!(matches!(pair.client.trailers_out(stream, &trailers), Err(SendError::FieldsTooLarge { .. })));
    pair.drive();
    assert_eq!(pair.server.streams.len(), 1);
}

#[test]
fn what_must_not_be_sent_is_refused_and_changes_nothing() {
    let mut pair = ready_pair();
    for (pairs, rule) in [
        (vec![("connection", "close")], Violation::CONNECTION_SPECIFIC),
        (vec![("transfer-encoding", "chunked")], Violation::CONNECTION_SPECIFIC),
        (vec![("a", "b"), ("te", "gzip")], Violation::TE_INVALID),
        (vec![("host", "b.example")], Violation::HOST_DIFFERS),
        (vec![("content-length", "x")], Violation::CONTENT_LENGTH_INVALID),
        (vec![("content-length", "1"), ("content-length", "1")], Violation::CONTENT_LENGTH_INVALID),
    ] {
        let at = pairs.len() - 1;
        let refused = pair.client.request_with("POST", "/", &pairs, false);
        assert_eq!(refused, Err(SendError::Field { at, rule }), "{pairs:?}");
    }
    let stream = pair.client.request("POST", "/", false).unwrap();
    pair.client.out.clear();
    for (pairs, rule) in [
        ([("x", "y"), ("host", "a.example")], Violation::HOST_DIFFERS),
        ([("x", "y"), ("content-length", "0")], Violation::CONTENT_LENGTH_INVALID),
        ([("x", "y"), ("connection", "close")], Violation::CONNECTION_SPECIFIC),
    ] {
        let refused = pair.client.trailers_out(stream, &pairs);
        assert_eq!(refused, Err(SendError::Field { at: 1, rule }), "{pairs:?}");
    }
    let mut pair = ready_pair();
    let none = FieldSection::new();
    let head = |method, scheme, authority, path| RequestHead {
        method,
        scheme,
        authority,
        path,
        protocol: None,
        fields: &none,
    };
    for (head, rule) in [
        (head("G T", "https", "a", "/"), Violation::METHOD_INVALID),
        (head("", "https", "a", "/"), Violation::METHOD_INVALID),
        (head("GET", "ht tp", "a", "/"), Violation::SCHEME_INVALID),
        (head("GET", "https", "a b", "/"), Violation::AUTHORITY_INVALID),
        (head("GET", "https", "a\r\nb", "/"), Violation::AUTHORITY_INVALID),
        (head("GET", "https", "a", ""), Violation::PATH_INVALID),
        (head("GET", "https", "a", "/\r\n"), Violation::PATH_INVALID),
        (head("GET", "https", "a", "*"), Violation::PATH_INVALID),
        (head("CONNECT", "", "", ""), Violation::CONNECT_PSEUDO),
    ] {
        let refused = pair.client.machine.send_request(&head, true, &mut OutBuf::new());
        assert_eq!(refused, Err(SendError::Control(rule)), "{head:?}");
    }
    assert_eq!(
        pair.client.request_with("GET", "/", &[("content-length", "1")], true),
        Err(SendError::ContentLength)
    );
    assert_eq!((pair.client.machine.in_flight(), pair.client.out.len()), (0, 0));
    let stream = pair.client.request("GET", "/", true).unwrap();
    assert_eq!(pair.client.machine.stream_id(stream), Some(1), "no identifier was lost");
}

#[test]
fn content_must_add_up_when_it_is_sent() {
    let mut pair = ready_pair();
    let up = pair.client.request_with("PUT", "/", &[("content-length", "3")], false).unwrap();
    assert_eq!(pair.client.data_out(up, b"four", false), Err(SendError::ContentLength));
    assert_eq!(pair.client.data_out(up, b"2", true), Err(SendError::ContentLength));
    assert_eq!(pair.client.trailers_out(up, &[]), Err(SendError::ContentLength));
    assert_eq!(pair.client.data_out(up, b"123", true), Ok(3));
    pair.drive();
    assert_eq!(pair.server.take_log(), ["head PUT https a.example / content-length=3", "data 123 end"]);
    // A response to HEAD may say a length and has no content.
    pair.client.request("HEAD", "/", true).unwrap();
    pair.drive();
    let key = pair.accepted();
    pair.server.respond(key, 200, &[("content-length", "9")], false).unwrap();
    assert_eq!(pair.server.data_out(key, b"x", false), Err(SendError::ContentLength));
    assert_eq!(pair.server.data_out(key, b"", true), Ok(0));
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 200 content-length=9", "data  end"]);
}

#[test]
fn halves_refuse_what_does_not_follow() {
    let mut pair = ready_pair();
    let up = pair.client.request("GET", "/", true).unwrap();
    assert_eq!(pair.client.data_out(up, b"x", false), Err(SendError::StreamEnded));
    assert_eq!(pair.client.respond(up, 200, &[], true), Err(SendError::WrongRole));
    pair.drive();
    let key = pair.accepted();
    assert_eq!(pair.server.data_out(key, b"x", false), Err(SendError::HeadNotSent));
    assert_eq!(pair.server.request("GET", "/", true), Err(SendError::WrongRole));
    let switching = ResponseHead { status: Status::SWITCHING_PROTOCOLS, fields: &fields(&[]) };
    let refused = pair.server.machine.send_response(key, &switching, true, &mut OutBuf::new());
    assert_eq!(refused, Err(SendError::Status));
    let early = ResponseHead { status: Status::EARLY_HINTS, fields: &fields(&[]) };
    let refused = pair.server.machine.send_response(key, &early, true, &mut OutBuf::new());
    assert_eq!(refused, Err(SendError::Status));
    pair.server.respond(key, 200, &[], false).unwrap();
    assert_eq!(pair.server.respond(key, 200, &[], false), Err(SendError::HeadAlreadySent));
    assert_eq!(pair.server.respond(key, 103, &[], false), Err(SendError::HeadAlreadySent));
}

#[test]
fn connect_makes_a_tunnel() {
    let mut pair = ready_pair();
    let none = FieldSection::new();
    let head = RequestHead {
        method: "CONNECT",
        scheme: "",
        authority: "b.example:443",
        path: "",
        protocol: None,
        fields: &none,
    };
    let up = pair.client.machine.send_request(&head, false, &mut pair.client.out).unwrap();
    pair.drive();
    assert_eq!(pair.server.take_log(), ["head CONNECT b.example:443"]);
    let down = pair.accepted();
    pair.server.respond(down, 200, &[], false).unwrap();
    pair.drive();
    assert_eq!(pair.client.data_out(up, b"ping", false), Ok(4));
    assert_eq!(pair.server.data_out(down, b"pong", true), Ok(4));
    let tunnel = SendError::Control(Violation::FIELDS_IN_TUNNEL);
    assert_eq!(pair.client.trailers_out(up, &[("a", "b")]), Err(tunnel));
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 200", "data pong end"]);
    assert_eq!(pair.server.take_log(), ["data ping"]);
    assert_eq!(pair.client.data_out(up, b"", true), Ok(0));
    pair.drive();
    assert_eq!((pair.client.machine.in_flight(), pair.server.machine.in_flight()), (0, 0));
}

#[test]
fn extended_connect_waits_for_leave() {
    let mut pair = pair_with(Config::default(), Config { connect_protocol: true, ..Config::default() });
    let none = FieldSection::new();
    let head = RequestHead {
        method: "CONNECT",
        scheme: "https",
        authority: "a.example",
        path: "/chat",
        protocol: Some("websocket"),
        fields: &none,
    };
    let early = pair.client.machine.send_request(&head, false, &mut pair.client.out);
    assert_eq!(early, Err(SendError::AwaitsSettings));
    pair.drive();
    assert!(pair.client.take_log().contains(&"room".to_owned()));
    pair.server.take_log();
    assert!(pair.client.machine.peer_settings().connect_protocol);
    pair.client.machine.send_request(&head, false, &mut pair.client.out).unwrap();
    pair.drive();
    assert_eq!(pair.server.take_log(), ["head CONNECT websocket https a.example /chat"]);

    let mut pair = ready_pair();
    let refused = pair.client.machine.send_request(&head, false, &mut pair.client.out);
    assert_eq!(refused, Err(SendError::ConnectProtocolNotEnabled));
}

#[test]
fn an_expected_bound_of_field_sections_defers_requests_until_the_settings_decide() {
    let large = "x".repeat(2000);
    let pairs = [("large", large.as_str())];
    for (bytes, is_taken) in [(1000, false), (10_000, true)] {
        let limits = Limits { field_section_bytes: bytes, ..Limits::default() };
        let mut pair = pair_with(Config::default(), Config { limits, ..Config::default() });
        pair.client.machine.expect_field_section(1000);
        let early = pair.client.request_with("GET", "/", &pairs, true);
        assert_eq!(early, Err(SendError::AwaitsSettings));
        let upload = pair.client.request("POST", "/small", false).unwrap();
        pair.client.trailers_out(upload, &pairs).expect("trailers do not wait");
        pair.drive();
        assert!(pair.client.take_log().contains(&"room".to_owned()));
        match pair.client.request_with("GET", "/", &pairs, true) {
            Ok(_) => assert!(is_taken),
            Err(error) => {
                assert!(matches!(error, SendError::FieldsTooLarge { limit: 1000, .. }) && !is_taken)
            }
        }
    }
}

#[test]
fn going_away_with_grace_serves_what_is_on_its_way() {
    let mut pair = ready_pair();
    pair.client.request("GET", "/1", true).unwrap();
    pair.drive();
    pair.server.machine.goaway(true);
    // The client's second request crosses the announcement.
    pair.client.request("GET", "/2", true).unwrap();
    let up = pair.client.transmit();
    pair.server.receive(&up);
    let announcement = pair.server.transmit();
    pair.client.receive(&announcement);
    assert_eq!(pair.client.take_log(), ["farewell NO_ERROR after 2147483647"]);
    assert_eq!(pair.client.request("GET", "/3", true), Err(SendError::GoingAway));
    pair.drive();
    assert_eq!(pair.client.take_log(), ["farewell NO_ERROR after 3"]);
    assert!(!pair.client.machine.is_closed() && !pair.server.machine.is_closed());
    for stream in pair.server.streams.clone() {
        pair.server.respond(stream, 204, &[], true).unwrap();
    }
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 204 end"; 2]);
    assert!(pair.client.machine.is_closed() && pair.server.machine.is_closed());
}

#[test]
fn going_away_at_once_leaves_later_requests_unprocessed() {
    let mut pair = ready_pair();
    pair.client.request("GET", "/1", true).unwrap();
    pair.drive();
    pair.client.request("GET", "/2", true).unwrap();
    pair.server.machine.goaway(false);
    let (up, down) = (pair.client.transmit(), pair.server.transmit());
    pair.client.receive(&down);
    pair.server.receive(&up);
    let log = pair.client.take_log();
    assert_eq!(log, ["reset NO_ERROR by goaway unprocessed", "farewell NO_ERROR after 1"]);
    assert_eq!(pair.server.streams.len(), 1, "the second request is ignored");
    assert_eq!(pair.client.machine.in_flight(), 1);
}

#[test]
fn grace_ends_without_an_answer_too() {
    let mut pair = ready_pair();
    pair.server.machine.goaway(true);
    pair.server.transmit();
    assert!(!pair.server.machine.is_closed());
    let due = pair.server.machine.poll_timeout().unwrap();
    pair.server.machine.handle_timeout(due);
    assert!(pair.server.machine.is_closed());
    pair.drive();
    assert!(pair.client.machine.is_closed());
}

#[test]
fn closing_at_once_tells_the_peer() {
    let mut pair = ready_pair();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    pair.server.machine.close(ErrorCode::INTERNAL_ERROR);
    assert_eq!(pair.server.machine.error(), Some(ConnectionError::Closed(Some(ErrorCode::INTERNAL_ERROR))));
    pair.drive();
    assert_eq!(pair.client.take_log(), ["farewell INTERNAL_ERROR after 1"]);
    let stream = pair.accepted();
    assert_eq!(pair.server.respond(stream, 200, &[], true), Err(SendError::Closed));
}

#[test]
fn pings_are_answered() {
    let mut pair = ready_pair();
    pair.client.machine.ping(*b"whatever").unwrap();
    assert_eq!(pair.client.machine.ping(*b"whatever"), Err(SendError::PingPending));
    pair.drive();
    assert_eq!(pair.client.take_log(), [format!("Pong {{ payload: {:?} }}", b"whatever")]);
    pair.client.machine.ping(*b"whatever").unwrap();
}

#[test]
fn silence_is_pinged_and_then_ends_the_connection() {
    let keep_alive = Some(std::time::Duration::from_secs(10));
    let mut pair = pair_with(Config { keep_alive, ..Config::default() }, Config::default());
    pair.settle();
    assert_eq!(pair.client.machine.poll_timeout(), None, "nothing is open");
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    for _ in 0..5 {
        pair.pass(10 * SECOND);
        assert_eq!(pair.client.take_log(), [""; 0], "the server answers");
    }
    // Now it does not.
    let now = |seconds: u64| alula_machine::Time::from_nanos(pair.now.as_nanos() + seconds * SECOND);
    let client = &mut pair.client.machine;
    client.handle_timeout(now(10));
    assert_eq!(client.poll_timeout(), Some(now(30)));
    client.handle_timeout(now(29));
    assert_eq!(client.error(), None);
    client.handle_timeout(now(30));
    assert!(client.is_closed());
    pair.client.notices();
    assert_eq!(pair.client.take_log(), ["Closed(TimedOut(Pong))"]);
}

#[test]
fn a_silent_peer_ends_the_handshake() {
    let mut pair = new_pair();
    pair.client.transmit();
    let due = pair.client.machine.poll_timeout().unwrap();
    assert_eq!(due.as_nanos(), 30 * SECOND);
    pair.client.machine.handle_timeout(due);
    pair.client.notices();
    assert_eq!(pair.client.take_log(), ["Closed(TimedOut(Preface))"]);
    assert_eq!(pair.client.request("GET", "/", true), Err(SendError::Closed));
}

#[test]
fn settings_must_be_acknowledged() {
    let mut pair = new_pair();
    pair.client.transmit();
    pair.client.receive(&crate::support::frame(4, 0, 0, &[]));
    let due = pair.client.machine.poll_timeout().unwrap();
    assert_eq!(due.as_nanos(), 30 * SECOND);
    pair.client.machine.handle_timeout(due);
    assert_eq!(ErrorCode::of(&pair.client.machine.error().unwrap()), ErrorCode::SETTINGS_TIMEOUT);
}

#[test]
fn prepared_requests_are_like_plain_ones() {
    let mut pair = ready_pair();
    let fields = fields(&[("accept", "*/*"), ("x-own", "value")]);
    let head = |path| RequestHead {
        method: "POST",
        scheme: "https",
        authority: "a.example",
        path,
        protocol: None,
        fields: &fields,
    };
    let prepared =
        Prepared::new(&head("/"), &[Hole::Path, Hole::Field("Content-Length"), Hole::Field("x-id")]).unwrap();
    for (path, length, id) in [("/1", "2", "a"), ("/2", "2", "b"), ("/2", "2", "b")] {
        let values = [path, length, id].map(str::as_bytes);
        let stream =
            pair.client.machine.send_prepared(&prepared, &values, false, &mut pair.client.out).unwrap();
        assert_eq!(pair.client.data_out(stream, b"123", true), Err(SendError::ContentLength));
        assert_eq!(pair.client.data_out(stream, b"12", true), Ok(2));
        pair.drive();
        let expected = format!(
            "head POST https a.example {path} accept=*/* x-own=value content-length={length} x-id={id}"
        );
        assert_eq!(pair.server.take_log(), [expected, "data 12 end".into()]);
    }
    let mut refused =
        |values: &[&[u8]]| pair.client.machine.send_prepared(&prepared, values, false, &mut pair.client.out);
    assert_eq!(refused(&[b"/", b"1"]), Err(SendError::Holes));
    assert_eq!(refused(&[b"/ ", b"1", b"a"]), Err(SendError::Control(Violation::PATH_INVALID)));
    assert_eq!(
        refused(&[b"/", b"-1", b"a"]),
        Err(SendError::Field { at: 1, rule: Violation::CONTENT_LENGTH_INVALID })
    );
    assert_eq!(
        refused(&[b"/", b"1", b"a\n"]),
        Err(SendError::Field { at: 2, rule: Violation::VALUE_INVALID })
    );
    for hole in [
        Hole::Field("te"),
        Hole::Field("Host"),
        Hole::Field("connection"),
        Hole::Field(":path"),
        Hole::Field("a b"),
    ] {
        assert!(Prepared::new(&head("/"), &[hole]).is_err(), "{hole:?}");
    }
    assert_eq!(Prepared::new(&head("/"), &[Hole::Field("x"), Hole::Path]).unwrap_err(), SendError::Holes);
    // Both were written, and a request with two lengths is what requests are smuggled with.
    let twice = [Hole::Path, Hole::Field("content-length"), Hole::Field("x"), Hole::Field("Content-Length")];
    let at = fields.len() + 3;
    assert_eq!(
        Prepared::new(&head("/"), &twice).unwrap_err(),
        SendError::Field { at, rule: Violation::CONTENT_LENGTH_INVALID }
    );
}

#[test]
fn repeated_blocks_are_known() {
    let mut pair = ready_pair();
    for round in 0..10 {
        pair.client.request_with("GET", "/path", &[("accept", "*/*"), ("x-own", "value")], true).unwrap();
        pair.drive();
        let expected = "head GET https a.example /path accept=*/* x-own=value end";
        assert_eq!(pair.server.take_log(), [expected], "round {round}");
        let stream = pair.accepted();
        pair.server.respond(stream, 200, &[("x-own", "value")], true).unwrap();
        pair.drive();
        assert_eq!(pair.client.take_log(), ["head 200 x-own=value end"]);
    }
    assert!(pair.server.machine.counters().memo_hits >= 6);
    assert!(pair.client.machine.counters().memo_hits >= 6);
    assert_eq!(pair.server.machine.counters().completed, 10);
}
