//! Whole conversations, replayed in pieces: the events are the same however the bytes arrive.

use alula_h2::{Config, Connection, Counters};
use alula_testkit::at_every_split;

use crate::support::{End, Pair, new_pair};

/// What went up and down in a conversation that has a bit of everything.
fn conversation() -> (Vec<u8>, Vec<u8>) {
    let mut pair = new_pair();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    let mut carry = |pair: &mut Pair| {
        loop {
            let (to_server, to_client) = (pair.client.transmit(), pair.server.transmit());
            if to_server.is_empty() && to_client.is_empty() {
                break;
            }
            pair.server.receive(&to_server);
            pair.client.receive(&to_client);
            up.extend(to_server);
            down.extend(to_client);
        }
    };
    for round in 0..3 {
        let get = pair
            .client
            .request_with("GET", "/a", &[("x-own", "value"), ("cookie", "a=b; c=d")], true)
            .unwrap();
        let put = pair.client.request_with("PUT", "/b", &[("content-length", "300")], false).unwrap();
        assert_eq!(pair.client.data_out(put, &[b'u'; 300], true), Ok(300));
        pair.client.machine.ping([round; 8]).unwrap();
        carry(&mut pair);
        let [first, second] = pair.server.streams[pair.server.streams.len() - 2..] else {
            panic!("two requests")
        };
        pair.server.respond(first, 103, &[("link", "<x>")], false).unwrap();
        pair.server.respond(first, 200, &[("x-own", "value")], false).unwrap();
        assert_eq!(pair.server.data_out(first, &[b'd'; 500], false), Ok(500));
        pair.server.trailers_out(first, &[("x-sum", "1")]).unwrap();
        pair.server.respond(second, 200, &[("x-long", "long ".repeat(40).trim_end())], false).unwrap();
        carry(&mut pair);
        if round == 1 {
            pair.client.machine.forget(put);
        } else {
            assert_eq!(pair.server.data_out(second, b"", true), Ok(0));
        }
        carry(&mut pair);
        assert_eq!(pair.client.machine.stream_id(get), None);
    }
    pair.server.machine.goaway(true);
    carry(&mut pair);
    assert!(pair.client.machine.is_closed());
    (up, down)
}

/// Events in their order, resets in theirs, and what was counted. Notices are asked for between inputs, so
/// that their place among the events depends on the pieces, and of two GOAWAYs in one piece the last is told;
/// which blocks are found whole depends on the pieces, too.
fn heard(end: &mut End) -> (Vec<String>, Vec<String>, Counters) {
    let (notices, events) = end
        .take_log()
        .into_iter()
        .filter(|line| !line.starts_with("farewell "))
        .partition(|line| line.starts_with("reset "));
    let mut counters = *end.machine.counters();
    counters.memo_hits = 0;
    (events, notices, counters)
}

#[test]
fn a_server_hears_the_same_in_any_pieces() {
    let (up, _) = conversation();
    let log = at_every_split(&up, 1, |pieces| {
        let mut server = End::new(Connection::server(Config::default()));
        pieces.iter().for_each(|bytes| server.receive(bytes));
        heard(&mut server)
    });
    assert!(log.0.len() > 10, "{log:?}");
}

#[test]
fn a_client_hears_the_same_in_any_pieces() {
    let (_, down) = conversation();
    let log = at_every_split(&down, 2, |pieces| {
        let mut client = End::new(Connection::client(Config::default()));
        for _ in 0..3 {
            client.request("GET", "/a", true).unwrap();
            client.request_with("PUT", "/b", &[("content-length", "300")], false).unwrap();
        }
        client.transmit();
        pieces.iter().for_each(|bytes| client.receive(bytes));
        heard(&mut client)
    });
    assert!(log.0.len() > 10, "{log:?}");
}

#[test]
fn what_a_frame_says_is_known_when_it_is_cut_anywhere() {
    // Every beginning of a good conversation is good: nothing is judged before it is certain.
    let (up, _) = conversation();
    for end in 0..up.len() {
        let mut server = End::new(Connection::server(Config::default()));
        server.receive(&up[..end]);
        assert_eq!(server.error, None, "{end} bytes");
    }
}
