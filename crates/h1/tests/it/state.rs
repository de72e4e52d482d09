//! What a driver asks a machine: whether to read, to wait, to close, to reset; and commands about streams
//! that are gone.

use std::time::Duration;

use alula_fields::{FieldSection, Head, Status};
use alula_h1::{
    Config, Connection, Event, Hole, Prepared, RequestHead, ResponseHead, SendError, Spelling, StreamKey,
    UnknownStream, Violation,
};
use alula_machine::{Limits, OutBuf, Time};

use crate::support::{Answers, End};

const POST: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n";

fn server() -> End {
    End::new(Connection::server(Config::default()), Answers::Never)
}

#[test]
fn reading_stops_while_as_much_is_held_as_the_window_allows() {
    let limits = Limits { stream_window: 10, ..Limits::default() };
    let mut machine = Connection::server(Config { limits, ..Config::default() });
    let receive = |machine: &mut Connection, bytes: &[u8]| {
        machine.receive(bytes, Time::ZERO).unwrap();
        machine.wants_read()
    };
    assert!(receive(&mut machine, POST));
    assert!(receive(&mut machine, b"123456789"));
    assert!(!receive(&mut machine, b"0"));
    machine.release_capacity(1);
    assert!(machine.wants_read());
    machine.release_capacity(1000);
    assert!(receive(&mut machine, b"123456789"), "no more is given back than is held");
    machine.receive_end(Time::ZERO).unwrap_err();
    assert!(!machine.wants_read());
}

#[test]
fn content_is_awaited_until_its_end_is_here() {
    let mut end = server();
    let awaited = |end: &End| end.machine.is_content_awaited(end.stream.unwrap());
    end.receive(POST);
    assert!(awaited(&end));
    end.receive(&[b'x'; 20]);
    assert!(!awaited(&end), "all of it is here");
    end.respond(204, &[], true).unwrap();
    end.receive(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert!(awaited(&end), "nothing has come of it");
    for part in ["5", ";extension\r\n", "he", "llo", "\r\n", "0\r\n", "trailer: a\r\n"] {
        end.receive(part.as_bytes());
        assert!(awaited(&end), "{part:?} is not the end");
    }
    end.receive(b"\r\n");
    assert!(!awaited(&end), "all of it is here");
    end.respond(204, &[], true).unwrap();
    end.receive(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert!(!awaited(&end), "it was not asked for yet");
    end.machine.invite_content(end.stream.unwrap(), &mut end.out);
    assert!(awaited(&end));
}

/// A message that lasts as long as the connection looks whole when the connection ends, unless that is by a
/// reset.
#[test]
fn what_is_cut_unseen_is_said() {
    let mut end = server();
    end.receive(b"GET / HTTP/1.0\r\n\r\n");
    end.respond(200, &[], false).unwrap();
    end.data_out(b"half", false).unwrap();
    assert!(!end.machine.is_cut_unseen());
    end.machine.reset(end.stream.unwrap());
    assert!(end.machine.is_cut_unseen());
    let mut chunked = server();
    chunked.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    chunked.respond(200, &[], false).unwrap();
    chunked.machine.reset(chunked.stream.unwrap());
    assert!(!chunked.machine.is_cut_unseen(), "the last chunk is missing, which can be seen");
}

#[test]
fn a_tunnel_is_closed_one_direction_at_a_time() {
    let mut end = server();
    end.receive(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n");
    end.respond(200, &[], false).unwrap();
    assert!(!end.machine.wants_shutdown());
    end.data_out(b"", true).unwrap();
    assert!(end.machine.wants_shutdown() && !end.machine.is_closed());
    end.receive(b"more");
    end.receive_end();
    assert_eq!(end.log, ["CONNECT a:443", "data more end", "last"]);
    assert!(end.machine.is_closed() && end.machine.error().is_none());
}

#[test]
fn heads_are_exchanged_in_their_boxes() {
    let mut machine = Connection::server(Config::default());
    let received = machine.receive(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", Time::ZERO).unwrap();
    let Some(Event::Head { stream, end: true }) = received.event else { panic!("a head is expected") };
    assert!(machine.take_empty_head().is_none(), "it waits to be taken");
    let mut spare = Some(Box::new(Head::new()));
    let before: *const Head = &**spare.as_ref().unwrap();
    machine.exchange_head(stream, &mut spare).unwrap();
    let head = spare.unwrap();
    assert_eq!((head.method(), head.path()), (Some("GET"), Some("/a")));
    assert!(!std::ptr::eq(before, &*head), "another box came back");
    let gone = StreamKey::new(0, stream.generation() + 1);
    assert_eq!(machine.take_head(gone, &mut Head::new()), Err(UnknownStream));
}

#[test]
fn streams_that_are_gone_are_refused_and_change_nothing() {
    let mut end = server();
    end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let first = end.stream.unwrap();
    end.respond(204, &[], true).unwrap();
    assert_eq!(
        (end.machine.has_received_all(first), end.machine.has_sent_all(first)),
        (Some(true), Some(true))
    );
    end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    end.transmit();
    assert_eq!((end.machine.has_received_all(first), end.machine.has_sent_all(first)), (None, None));
    let (machine, out) = (&mut end.machine, &mut end.out);
    assert_eq!(machine.send_data(first, b"", true, out), Err(SendError::UnknownStream));
    assert_eq!(machine.send_trailers(first, &FieldSection::new(), out), Err(SendError::UnknownStream));
    machine.invite_content(first, out);
    machine.reset(first);
    assert_eq!((machine.in_flight(), out.len()), (1, 0));
}

/// Names are sent as they came, where that was kept, or all in one way (RFC 9110 §5.1).
#[test]
fn names_are_spelled_as_was_asked() {
    let spelled = |spelling, keep_spelling| {
        let config = Config { spelling, keep_spelling, ..Config::default() };
        let mut machine = Connection::server(config);
        let bytes = b"GET / HTTP/1.1\r\nHost: a\r\nx-oWN: b\r\nACCEPT: c\r\n\r\n";
        let Some(Event::Head { stream, .. }) = machine.receive(bytes, Time::ZERO).unwrap().event else {
            panic!("a head is expected")
        };
        let (mut head, mut out) = (Head::new(), OutBuf::new());
        machine.take_head(stream, &mut head).unwrap();
        let answer =
            alula_h1::ResponseHead { status: alula_fields::Status::NO_CONTENT, fields: &head.fields };
        machine.send_response(stream, &answer, true, &mut out).unwrap();
        String::from_utf8_lossy(out.unsent()).replace("\r\n", "|")
    };
    let given = "HTTP/1.1 204 No Content|x-oWN: b|ACCEPT: c||";
    let canonical = "HTTP/1.1 204 No Content|X-Own: b|Accept: c||";
    let lower = "HTTP/1.1 204 No Content|x-own: b|accept: c||";
    assert_eq!(spelled(Spelling::Given, true), given);
    assert_eq!((&*spelled(Spelling::Canonical, true), &*spelled(Spelling::Lower, true)), (canonical, lower));
    assert_eq!(
        (&*spelled(Spelling::Canonical, false), &*spelled(Spelling::Lower, false)),
        (canonical, lower)
    );
}

#[test]
fn what_a_prepared_request_is_given_is_checked() {
    let mut fields = FieldSection::new();
    fields.append("x-own", "value").unwrap();
    let head = RequestHead {
        method: "PUT",
        scheme: "http",
        authority: "a.example",
        path: "/",
        protocol: None,
        fields: &fields,
    };
    let refused = |holes: &[Hole<'_>]| Prepared::new(&head, holes, Spelling::Given).err();
    let field = |at, rule| Some(SendError::Field { at, rule });
    assert_eq!(refused(&[Hole::Field("x-id"), Hole::Path]), Some(SendError::Holes));
    for name in ["host", "connection", "transfer-encoding", "expect", ":path", "x y", ""] {
        assert_eq!(refused(&[Hole::Field(name)]), field(1, Violation::NAME_INVALID), "{name}");
    }
    // Both were written, and a request with two lengths is what requests are smuggled with.
    let twice = [Hole::Field("content-length"), Hole::Field("x-id"), Hole::Field("Content-Length")];
    assert_eq!(refused(&twice), field(3, Violation::LENGTH_REPEATED));
    let holes = [Hole::Path, Hole::Field("content-length"), Hole::Field("x-id")];
    let prepared = Prepared::new(&head, &holes, Spelling::Lower).unwrap();
    let mut out = OutBuf::new();
    for (values, error) in [
        (&[&b"/"[..], b"5"][..], SendError::Holes),
        (&[b"a", b"5", b"x"], SendError::Control(Violation::TARGET_INVALID)),
        (&[b"/ b", b"5", b"x"], SendError::Control(Violation::TARGET_INVALID)),
        (&[b"/", b"+5", b"x"], SendError::Field { at: 1, rule: Violation::LENGTH_INVALID }),
        (&[b"/", b"5", b"x\r\ny: z"], SendError::Field { at: 2, rule: Violation::VALUE_INVALID }),
    ] {
        let mut machine = Connection::client(Config::default());
        assert_eq!(machine.send_prepared(&prepared, values, false, &mut out), Err(error));
        assert_eq!((out.len(), machine.in_flight()), (0, 0));
    }
    let mut machine = Connection::client(Config::default());
    let stream = machine.send_prepared(&prepared, &[b"/b", b"2", b"7"], false, &mut out).unwrap();
    assert_eq!(machine.send_data(stream, b"ok", true, &mut out), Ok(2));
    let sent = String::from_utf8_lossy(out.unsent()).replace("\r\n", "|");
    assert_eq!(sent, "PUT /b HTTP/1.1|host: a.example|x-own: value|content-length: 2|x-id: 7||ok");
}

/// Content that the driver sends by itself counts like content that goes through the output, and only where a
/// length frames it.
#[test]
fn content_beside_the_output_is_counted_within_its_length() {
    for (fields, length) in [(&[("content-length", "10")][..], Some(10)), (&[], None)] {
        let mut end = server();
        end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let stream = end.stream.unwrap();
        assert_eq!(end.machine.length_left(stream), None, "nothing was stated");
        end.respond(200, fields, false).unwrap();
        let (machine, out) = (&mut end.machine, &mut end.out);
        assert_eq!(machine.length_left(stream), length);
        let Some(length) = length else {
            assert_eq!(machine.count_data(stream, 1), Err(SendError::ContentLength), "chunks frame it");
            continue;
        };
        out.clear();
        assert_eq!(machine.count_data(stream, length + 1), Err(SendError::ContentLength));
        assert_eq!(machine.count_data(stream, length - 3), Ok(()));
        assert_eq!(machine.send_data(stream, b"12", true, out), Err(SendError::ContentLength));
        assert_eq!(machine.send_data(stream, b"1", false, out), Ok(1));
        assert_eq!(machine.count_data(stream, 2), Ok(()));
        assert_eq!((out.unsent(), machine.length_left(stream)), (&b"1"[..], None));
        assert_eq!(machine.send_data(stream, b"", true, out), Ok(0));
        assert_eq!(machine.count_data(stream, 1), Err(SendError::StreamEnded));
        machine.check_invariants();
    }
}

/// RFC 9110 §6.6.1: a server with a clock says when it refused.
#[test]
fn refusals_have_a_date_where_there_is_a_clock() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let dated = Config { date: Some(|| DATE.as_bytes().try_into().unwrap()), ..Config::default() };
    let late = Time::ZERO.saturating_add(Limits::default().handshake_timeout);
    let refusal = |config: &Config, bytes: &[u8]| {
        let mut machine = Connection::server(config.clone());
        let _ = machine.receive(bytes, Time::ZERO);
        machine.handle_timeout(late);
        let mut out = OutBuf::new();
        machine.poll_transmit(&mut out);
        String::from_utf8(out.unsent().to_vec()).unwrap()
    };
    let long = [b"GET / HTTP/1.1\r\nHost: a\r\nA: ", &[b'a'; 100_000][..]].concat();
    let too_long = "The head of the request is larger than head_bytes allows (RFC 6585).\n";
    for (bytes, line, text) in [
        (&b"GET /\r\n\r\n"[..], "400 Bad Request", ""),
        (&long, "431 Request Header Fields Too Large", too_long),
        (b"GET / HTTP/1.1\r\n", "408 Request Timeout", ""),
    ] {
        let form = if text.is_empty() { "" } else { "Content-Type: text/plain\r\n" };
        let rest = format!("{form}Content-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
        assert_eq!(refusal(&Config::default(), bytes), format!("HTTP/1.1 {line}\r\n{rest}"));
        assert_eq!(refusal(&dated, bytes), format!("HTTP/1.1 {line}\r\nDate: {DATE}\r\n{rest}"));
    }
    let mut machine = Connection::server(dated);
    let Ok(Some(Event::Head { stream, .. })) =
        machine.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", Time::ZERO).map(|received| received.event)
    else {
        panic!("a request")
    };
    let (head, mut out) = (ResponseHead { status: Status::OK, fields: &FieldSection::new() }, OutBuf::new());
    machine.send_response(stream, &head, true, &mut out).unwrap();
    assert!(!out.unsent().windows(5).any(|bytes| bytes == b"Date:"), "answers are the caller's to date");
}

#[test]
fn the_wait_for_the_next_request_begins_anew_for_a_peer_that_takes_its_answer() {
    let limits = Limits { idle_timeout: Duration::from_secs(60), ..Limits::default() };
    let machine = Connection::server(Config { limits, ..Config::default() });
    let mut end = End::new(machine, Answers::Whole);
    end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let due = end.machine.poll_timeout().expect("the next request is awaited");
    assert!(!end.machine.await_request_anew(Time::ZERO), "nothing is due");
    assert!(end.machine.await_request_anew(due));
    assert_eq!(end.machine.poll_timeout(), Some(due.saturating_add(Duration::from_secs(60))));
    end.receive(b"GET / ");
    let head_due = end.machine.poll_timeout().expect("the head is awaited");
    assert!(!end.machine.await_request_anew(head_due), "a head has begun");
}

#[test]
fn a_request_ends_with_its_client_until_the_answer_is_whole() {
    let get = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut end = server();
    assert!(!end.machine.ends_with_peer(), "nothing was asked");
    end.receive(get);
    assert!(end.machine.ends_with_peer());
    end.respond(200, &[], false).unwrap();
    assert!(end.machine.ends_with_peer(), "the content is due");
    end.machine.close();
    assert!(!end.machine.ends_with_peer(), "it has ended");
    let mut end = server();
    end.receive(get);
    end.respond(204, &[], true).unwrap();
    assert!(!end.machine.ends_with_peer());
    let mut end = server();
    end.receive(b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
    assert!(end.machine.ends_with_peer());
    end.respond(200, &[], false).unwrap();
    assert!(!end.machine.ends_with_peer(), "a tunnel ends in each direction by itself");
    let half_close = Config { half_close: true, ..Config::default() };
    let mut end = End::new(Connection::server(half_close), Answers::Never);
    end.receive(get);
    assert!(!end.machine.ends_with_peer());
}
