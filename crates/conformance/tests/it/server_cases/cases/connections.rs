//! Connections: persistence, pipelining, ends and upgrades (RFC 9112 §9; RFC 9110 §7.6, §7.8).

use crate::server_cases::case::{Case, get, raw};

/// A request with these fields.
fn asked(name: &'static str, section: &'static str, version: &str, fields: &str) -> Case {
    raw(name, section, format!("GET /text {version}\r\nHost: a\r\n{fields}\r\n"))
}

pub(crate) fn cases() -> Vec<Case> {
    persistence().into_iter().chain(pipelines()).chain(ends()).chain(upgrades()).collect()
}

fn persistence() -> Vec<Case> {
    vec![
        asked("a connection of HTTP/1.1 stays", "9112 §9.3", "HTTP/1.1", "").answers(200).lacks("connection"),
        asked("`close` ends it after the answer", "9112 §9.6", "HTTP/1.1", "Connection: close\r\n")
            .gives("hello")
            .closes(),
        asked("`Close` is compared without case", "9110 §7.6.1", "HTTP/1.1", "Connection: CLOSE\r\n")
            .refused(200),
        asked(
            "`close` among other options",
            "9110 §7.6.1",
            "HTTP/1.1",
            "Connection: x-hop, close\r\nX-Hop: 1\r\n",
        )
        .refused(200),
        asked(
            "`close` in a second field",
            "9110 §7.6.1",
            "HTTP/1.1",
            "Connection: x-hop\r\nConnection: close\r\n",
        )
        .refused(200),
        asked(
            "an option that is unknown changes nothing",
            "9110 §7.6.1",
            "HTTP/1.1",
            "Connection: x-hop\r\n",
        )
        .answers(200),
        asked(
            "`keep-alive` changes nothing in HTTP/1.1",
            "9112 §9.3",
            "HTTP/1.1",
            "Connection: keep-alive\r\n",
        )
        .answers(200),
        asked(
            "`close` and `keep-alive` together",
            "9112 §9.3",
            "HTTP/1.1",
            "Connection: keep-alive, close\r\n",
        )
        .refused(200),
        asked("a connection of HTTP/1.0 ends", "9112 §9.3", "HTTP/1.0", "").gives("hello").closes(),
        asked(
            "a connection of HTTP/1.0 stays by `keep-alive`",
            "9112 §9.3",
            "HTTP/1.0",
            "Connection: keep-alive\r\n",
        )
        .answers(200)
        .has("connection", "keep-alive"),
        raw("HTTP/1.0 needs no host", "9112 §3.2", "GET /text HTTP/1.0\r\n\r\n").gives("hello").closes(),
        get("a handler ends the connection", "9112 §9.6", "/close").gives("the last").closes().http1_only(),
        raw(
            "a refused request ends the connection",
            "9112 §9.6",
            "GET /text HTTP/1.1\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .refused(400),
        get("an unknown path leaves the connection", "9112 §9.3", "/none").answers(404).lacks("connection"),
        get("a failed handler leaves the connection", "9112 §9.3", "/failed")
            .answers(500)
            .lacks("connection"),
    ]
}

fn pipelines() -> Vec<Case> {
    vec![
        raw(
            "requests that are sent ahead are answered in their order",
            "9112 §9.3.2",
            "GET /text HTTP/1.1\r\nHost: a\r\n\r\n\
             GET /none HTTP/1.1\r\nHost: a\r\n\r\n\
             GET /probe HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .gives("hello")
        .answers(404)
        .gives("still here"),
        raw(
            "requests with content that are sent ahead",
            "9112 §9.3.2",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none\
             GET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .gives("one")
        .gives("hello"),
        raw(
            "what is sent after `close` is not answered",
            "9112 §9.6",
            "GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .refused(200),
        raw(
            "an answer before one that is refused",
            "9112 §9.3.2",
            "GET /text HTTP/1.1\r\nHost: a\r\n\r\nGET /text HTTP/1.1\r\n\r\n",
        )
        .gives("hello")
        .refused(400),
        raw("a request in two pieces", "9112 §2.1", "GET /text HT")
            .sends("TP/1.1\r\nHost: a\r\n\r")
            .sends("\n")
            .gives("hello"),
    ]
}

fn ends() -> Vec<Case> {
    vec![
        raw(
            "a client that closes its side is answered",
            "9112 §9.6",
            "GET /text HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .half_closes()
        .gives("hello")
        .ends(),
        raw("a connection without a request is closed", "9112 §9.5", "").half_closes().ends(),
        raw("a head that is cut is not handled", "9112 §8", "GET /text HTTP/1.1\r\nHost: a\r\n")
            .half_closes()
            .ends(),
        raw("an idle connection that ends is closed", "9112 §9.5", "GET /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .answers(200)
            .half_closes()
            .ends(),
    ]
}

fn upgrades() -> Vec<Case> {
    vec![
        asked(
            "an upgrade that is not taken is answered as if it was not there",
            "9110 §7.8",
            "HTTP/1.1",
            "Connection: Upgrade\r\nUpgrade: unknown/1\r\n",
        )
        .gives("hello"),
        asked(
            "an upgrade in HTTP/1.0 is ignored",
            "9110 §7.8",
            "HTTP/1.0",
            "Connection: Upgrade\r\nUpgrade: unknown/1\r\n",
        )
        .refused(200),
        asked(
            "`te` changes nothing",
            "9110 §10.1.4",
            "HTTP/1.1",
            "Connection: TE\r\nTE: trailers, gzip;q=0.5\r\n",
        )
        .answers(200)
        .lacks("transfer-encoding"),
    ]
}
