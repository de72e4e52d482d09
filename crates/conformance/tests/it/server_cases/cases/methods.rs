//! Methods (RFC 9110 §9).

use crate::server_cases::case::{Case, ask, get, raw};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        get("GET sends the representation", "9110 §9.3.1", "/text").gives("hello"),
        ask("POST is handled by its own handler", "9110 §9.3.3", "POST", "/text").gives("posted"),
        ask("PUT that makes something is answered 201", "9110 §9.3.4", "PUT", "/absent")
            .body("new")
            .answers(201)
            .has("location", "/absent"),
        ask("PUT that replaces something is answered 204", "9110 §9.3.4", "PUT", "/doc")
            .body("new")
            .answers(204)
            .content(""),
        ask("DELETE is answered 204", "9110 §9.3.5", "DELETE", "/doc").answers(204).content(""),
        ask("DELETE of what is not there is answered 404", "9110 §9.3.5", "DELETE", "/absent").answers(404),
        ask("a known method that the path lacks is answered 405", "9110 §15.5.6", "DELETE", "/text")
            .answers(405)
            .has("allow", "GET, HEAD, POST"),
        ask("405 names the methods of this path alone", "9110 §10.2.1", "POST", "/stream")
            .answers(405)
            .has("allow", "GET, HEAD"),
        ask("PATCH that the path lacks is answered 405", "9110 §15.5.6", "PATCH", "/text").answers(405),
        ask("a method that nobody knows is answered 501", "9110 §9.1", "BREW", "/text").answers(501),
        ask("a method that nobody knows on an unknown path is answered 501", "9110 §9.1", "BREW", "/none")
            .answers(501),
        ask("methods are compared with case", "9110 §9.1", "get", "/text").answers(501),
        ask("a method of one's own has a handler", "9110 §9.1", "PURGE", "/purge").gives("purged"),
        ask("a method of one's own reaches a handler of all methods", "9110 §16.1", "X-1!#", "/asked")
            .answers(200)
            .within("X-1!# /asked"),
        ask("content of GET is read over", "9110 §9.3.1", "GET", "/text").body("ignored").gives("hello"),
        ask("content of DELETE is read over", "9110 §9.3.5", "DELETE", "/doc").body("ignored").answers(204),
        ask("a safe method may be repeated on one connection", "9110 §9.2.1", "GET", "/text")
            .answers(200)
            .sends("GET /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .answers(200)
            .http1_only(),
        raw("a method that is no token is refused", "9112 §3.1", "G@T /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("a request without a method is refused", "9112 §3", " /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
        raw("a method in parentheses is refused", "9112 §3.1", "(GET) /text HTTP/1.1\r\nHost: a\r\n\r\n")
            .refused(400),
    ]
}
