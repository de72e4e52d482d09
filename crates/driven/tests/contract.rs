//! The contract of protocol machines, held against every version by one suite.
//!
//! Each law is a function over two ends of one connection; the versions are rows of [`both`].

use std::{fmt::Debug, time::Duration};

use alula_driven::{End, Pair};
use alula_machine::{
    ConnectionError, Limits, ProtocolMachine, Reason, Rule, Scope, SendError, StreamKey, Time,
};
use alula_testkit::Rng;

/// The part of a version that a law needs.
trait Version: ProtocolMachine<Fact: Debug> + Sized {
    /// The two ends of a connection; the server takes one request at a time.
    fn pair() -> Pair<Self>;

    /// Bytes from a peer that break a rule of the connection.
    const GARBAGE: &'static [u8];
}

impl Version for alula_h1::Connection {
    const GARBAGE: &'static [u8] = b"GET  / HTTP/1.1\r\n\r\n";

    fn pair() -> Pair<Self> {
        let config = alula_h1::Config::default();
        Pair::of(Self::client(config.clone()), Self::server(config))
    }
}

impl Version for alula_h2::Connection {
    const GARBAGE: &'static [u8] = b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n";

    fn pair() -> Pair<Self> {
        let config = alula_h2::Config::default();
        let limits = Limits { streams: 1, ..Limits::default() };
        let mut pair =
            Pair::of(Self::client(config.clone()), Self::server(alula_h2::Config { limits, ..config }));
        pair.settle();
        pair
    }
}

/// Makes each law a test of each version.
macro_rules! both {
    ($($law:ident)*) => {
        mod http1 {
            $(#[test] fn $law() { super::$law::<alula_h1::Connection>(); })*
        }
        mod http2 {
            $(#[test] fn $law() { super::$law::<alula_h2::Connection>(); })*
        }
    };
}

both! {
    a_request_and_its_answer_arrive_as_they_were_sent
    an_interim_response_comes_before_the_final_one
    a_refused_command_changes_nothing
    a_client_that_finds_no_room_hears_of_it
    a_rule_that_is_broken_ends_the_connection_and_has_a_name
    an_end_within_a_message_is_an_error
    a_connection_that_is_closed_refuses_everything
    going_away_lets_what_is_under_way_end
    nothing_more_is_sent_on_a_stream_that_was_given_up
    memory_that_is_given_back_changes_nothing
    random_exchanges_arrive_in_any_pieces
}

const LENGTH: [(&str, &str); 1] = [("content-length", "5")];

fn a_request_and_its_answer_arrive_as_they_were_sent<M: Version>() {
    for piece in [1, 3, usize::MAX] {
        let mut pair = M::pair();
        let asked = pair.client.request_with("POST", "/a?b", &LENGTH, false).unwrap();
        assert_eq!(pair.client.machine.has_sent_all(asked), Some(false));
        assert_eq!(pair.client.data_out(asked, b"hello", true), Ok(5));
        assert_eq!(pair.client.machine.has_sent_all(asked), Some(true));
        pair.drive_in_pieces(piece);
        let log = pair.server.take_log();
        assert_eq!(
            log,
            [
                "head POST https a.example /a?b content-length=5".replace("https", scheme(&log)),
                "data hello end".into()
            ]
        );
        let stream = pair.accepted();
        pair.server.respond(stream, 200, &[("x-own", "1")], false).unwrap();
        assert_eq!(pair.server.data_out(stream, b"world", false), Ok(5));
        pair.server.trailers_out(stream, &[("x-sum", "2")]).unwrap();
        pair.drive_in_pieces(piece);
        let log = pair.client.take_log();
        assert!(log[0].starts_with("head 200 x-own=1"), "{log:?}");
        assert_eq!(log[1..3], ["data world", "trailers x-sum=2"]);
        assert!(pair.client.machine.is_free() && pair.client.machine.in_flight() == 0);
        assert!(pair.server.machine.is_introduced() && !pair.server.machine.is_closed());
    }
}

/// HTTP/1.1 has no scheme in its head, and takes that of the connection.
fn scheme(log: &[String]) -> &'static str {
    if log[0].contains(" https ") { "https" } else { "http" }
}

fn an_interim_response_comes_before_the_final_one<M: Version>() {
    let mut pair = M::pair();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    let stream = pair.accepted();
    pair.server.respond(stream, 103, &[("link", "<a>")], false).unwrap();
    pair.server.respond(stream, 204, &[], true).unwrap();
    assert_eq!(pair.server.respond(stream, 103, &[], false).map_err(refused), Err(true));
    pair.drive();
    let log = pair.client.take_log();
    assert_eq!((&*log[0], &*log[1]), ("interim 103 link=<a>", "head 204 end"));
}

/// Returns true if the command was refused for the state that its stream is in.
fn refused<R>(error: SendError<R>) -> bool {
    use SendError::{HeadAlreadySent, HeadNotSent, StreamEnded, UnknownStream, WrongRole};
    matches!(error, HeadAlreadySent | HeadNotSent | StreamEnded | UnknownStream | WrongRole)
}

fn a_refused_command_changes_nothing<M: Version>() {
    let mut pair = M::pair();
    let asked = pair.client.request_with("PUT", "/", &LENGTH, false).unwrap();
    pair.drive();
    let stream = pair.accepted();
    let before = [pair.client.out.len(), pair.server.out.len()];
    let refusals = [
        pair.client.respond(asked, 200, &[], true).map_err(refused),
        pair.client
            .data_out(asked, b"too much", true)
            .map(drop)
            .map_err(|error| error == SendError::ContentLength),
        pair.server.request("GET", "/", true).map(drop).map_err(refused),
        pair.server.data_out(stream, b"early", false).map(drop).map_err(refused),
        pair.server.trailers_out(stream, &[]).map_err(refused),
        pair.server.respond(StreamKey::new(7, 7), 200, &[], true).map_err(refused),
    ];
    assert_eq!(refusals, [Err(true); 6]);
    assert_eq!([pair.client.out.len(), pair.server.out.len()], before, "nothing was written");
    assert_eq!(pair.client.data_out(asked, b"right", true), Ok(5), "and all goes on");
    pair.server.respond(stream, 200, &[], true).unwrap();
    pair.drive();
    assert!(pair.client.take_log()[0].starts_with("head 200") && pair.client.machine.is_free());
}

fn a_client_that_finds_no_room_hears_of_it<M: Version>() {
    let mut pair = M::pair();
    assert_eq!(pair.client.machine.await_slot(), 1);
    pair.client.request("GET", "/", true).unwrap();
    assert!(!pair.client.machine.is_free());
    let error = pair.client.request("GET", "/", true).unwrap_err();
    assert!(error.is_for_now() && !error.is_of_connection(), "{error}");
    assert_eq!(pair.client.machine.await_slot(), 0);
    pair.drive();
    let stream = pair.accepted();
    pair.server.respond(stream, 204, &[], true).unwrap();
    pair.drive();
    assert_eq!(pair.client.take_log(), ["head 204 end", "room"]);
    assert!(pair.client.request("GET", "/", true).is_ok());
}

fn a_rule_that_is_broken_ends_the_connection_and_has_a_name<M: Version>() {
    let mut server = M::pair().server;
    if server.machine.is_introduced() {
        // A frame of a kind and place that no stream may have.
        server.receive(&[0, 0, 0, 7, 0, 0, 0, 0, 1]);
    } else {
        server.receive(M::GARBAGE);
    }
    let Some(ConnectionError::Peer(rule)) = server.error else { panic!("{:?}", server.error) };
    assert_eq!(rule.scope(), Scope::Connection);
    assert!(!rule.name().is_empty() && rule.to_string().contains("(RFC ") && !rule.is_cut());
    assert!(server.machine.is_closed());
    assert!(server.machine.receive(b"more", Time::ZERO).is_err(), "an error is final");
    let sentence = server.error.unwrap().to_string();
    assert_eq!(sentence, format!("the peer broke {}: {rule}", M::Rule::PROTOCOL));
    assert!(server.transmit().len() < 300);
}

fn an_end_within_a_message_is_an_error<M: Version>() {
    let mut pair = M::pair();
    let asked = pair.client.request_with("POST", "/", &LENGTH, false).unwrap();
    assert_eq!(pair.client.data_out(asked, b"he", false), Ok(2));
    pair.drive();
    assert_eq!(pair.server.machine.content_left(pair.accepted()), Some(3));
    assert!(pair.server.machine.is_content_awaited(pair.accepted()));
    pair.server.receive_end();
    assert!(pair.server.error.is_some());
    pair.client.receive_end();
    assert!(pair.client.error.is_some(), "{:?}", pair.client.take_log());
}

fn a_connection_that_is_closed_refuses_everything<M: Version>() {
    let mut pair = M::pair();
    let asked = pair.client.request("GET", "/", false).unwrap();
    pair.drive();
    pair.client.machine.close(Reason::NotWanted);
    assert!(pair.client.machine.is_closed() && !pair.client.machine.is_free());
    let error = pair.client.request("GET", "/", true).unwrap_err();
    assert!(error.is_of_connection(), "{error}");
    assert!(pair.client.data_out(asked, b"x", true).is_err());
    pair.client.notices();
    let _last_words = pair.client.transmit();
    assert!(!pair.client.machine.wants_write());
}

fn going_away_lets_what_is_under_way_end<M: Version>() {
    let mut pair = M::pair();
    pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    let stream = pair.accepted();
    pair.server.machine.goaway(false);
    pair.drive();
    assert!(!pair.server.machine.is_closed());
    pair.server.respond(stream, 204, &[], true).unwrap();
    pair.drive();
    let log = pair.client.take_log();
    assert!(log.iter().any(|line| line.starts_with("head 204")), "{log:?}");
    assert!(log.iter().any(|line| line.starts_with("farewell")), "{log:?}");
    let error = pair.client.request("GET", "/", true).unwrap_err();
    assert!(error.is_of_connection(), "{error}");
    assert!(pair.server.machine.is_closed() && pair.client.machine.is_closed());
}

fn nothing_more_is_sent_on_a_stream_that_was_given_up<M: Version>() {
    let mut pair = M::pair();
    let asked = pair.client.request("GET", "/", true).unwrap();
    pair.drive();
    let stream = pair.accepted();
    pair.client.machine.reset(asked, Reason::Cancelled);
    pair.drive();
    pair.server.machine.forget(stream);
    for (end, stream) in [(&mut pair.client, asked), (&mut pair.server, stream)] {
        assert!(end.data_out(stream, b"x", true).is_err());
        assert!(end.trailers_out(stream, &[]).is_err());
        // HTTP/1.1 knows an exchange by its key until what is left of it was read and dropped.
        assert!(
            end.machine
                .has_sent_all(stream)
                .is_none_or(|_| end.machine.in_flight() == 1 || end.machine.is_closed())
        );
        end.machine.check_invariants();
    }
}

fn memory_that_is_given_back_changes_nothing<M: Version>() {
    let mut pair = M::pair();
    for round in 0..6 {
        pair.client.request_with("GET", "/", &[("x-round", &round.to_string())], true).unwrap();
        pair.drive();
        let stream = pair.accepted();
        pair.server.respond(stream, 204, &[], true).unwrap();
        pair.drive();
        assert_eq!(pair.client.take_log()[0], "head 204 end");
        assert!(pair.server.take_log()[0].ends_with(&format!("x-round={round} end")));
        for end in [&mut pair.client, &mut pair.server] {
            let before = end.machine.memory_bytes();
            while end.machine.take_empty_head().is_some() {}
            end.machine.trim();
            assert!(end.machine.memory_bytes() <= before);
            if end.machine.needs_head() {
                end.machine.read_into(Box::default());
            }
            assert!(!end.machine.needs_head());
        }
    }
}

/// One exchange after the other, with content of random lengths both ways, on a wire that cuts anywhere.
fn random_exchanges_arrive_in_any_pieces<M: Version>() {
    for seed in 0..30 {
        let (mut rng, mut pair) = (Rng::new(seed), M::pair());
        for _ in 0..10 {
            let (up, down) = (content(&mut rng), content(&mut rng));
            let length = up.len().to_string();
            let asked = pair.client.request_with("PUT", "/", &[("content-length", &length)], up.is_empty());
            send(&mut pair, &mut rng, true, asked.unwrap(), &up);
            let stream = pair.accepted();
            pair.server.respond(stream, 200, &[], down.is_empty()).unwrap();
            send(&mut pair, &mut rng, false, stream, &down);
            assert_eq!(arrived(&pair.server.take_log()), up.len(), "seed {seed}");
            assert_eq!(arrived(&pair.client.take_log()), down.len(), "seed {seed}");
            pair.pass(Duration::from_millis(rng.below(5) as u64).as_nanos() as u64);
        }
        assert_eq!((pair.client.error, pair.server.error), (None, None));
    }
}

fn content(rng: &mut Rng) -> Vec<u8> {
    vec![b'c'; [0, 1, 100, 20_000, 200_000][rng.below(5)] * rng.below(3)]
}

/// Sends content as room is given for it, and drives in pieces meanwhile.
fn send<M: Version>(pair: &mut Pair<M>, rng: &mut Rng, up: bool, stream: StreamKey, mut bytes: &[u8]) {
    let mut is_done = bytes.is_empty();
    while !is_done {
        let end = if up { &mut pair.client } else { &mut pair.server };
        let may = end.machine.await_capacity(stream).min(bytes.len());
        let taken = end.data_out(stream, bytes, true).unwrap();
        assert_eq!(taken, may, "as much as was said");
        bytes = &bytes[taken..];
        is_done = bytes.is_empty();
        pair.drive_in_pieces(1 + rng.below(5_000));
    }
    pair.drive_in_pieces(1 + rng.below(5_000));
}

/// The bytes of content in a log, whose message has to be whole.
fn arrived(log: &[String]) -> usize {
    let whole = log.iter().any(|line| line.ends_with(" end"));
    assert!(whole, "{log:?}");
    let bytes = log.iter().filter_map(|line| line.strip_prefix("data "));
    bytes
        .map(|text| {
            let text = text.trim_end_matches("end").trim_end();
            text.strip_suffix(" bytes").map_or(text.len(), |count| count.parse().unwrap())
        })
        .sum()
}

/// An end may be driven by hand as well.
#[test]
fn bytes_that_are_not_used_up_wait() {
    let mut server = End::new(alula_h1::Connection::server(alula_h1::Config::default()));
    server.receive(b"GET / HTTP/1.1\r\nHo");
    assert!(server.log.is_empty() && server.unused().len() <= 18);
    server.receive(b"st: a.example\r\n\r\n");
    assert_eq!(server.take_log(), ["head GET http a.example / end"]);
}
