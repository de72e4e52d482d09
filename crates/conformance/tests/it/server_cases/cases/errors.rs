//! The content of errors: for its reader, and as the request prefers it (RFC 9110 §12.5.1, §15.5, §15.6).

use crate::server_cases::case::{Case, ask, get, raw};

const TEXT: &str = "text/plain; charset=utf-8";
const PROBLEM: &str = "application/problem+json";

pub(crate) fn cases() -> Vec<Case> {
    vec![
        get("an error is text where nothing is preferred", "9110 §12.5.1", "/refused/409")
            .answers(409)
            .has("content-type", TEXT),
        get("an error is JSON for those who take JSON", "9110 §12.5.1", "/refused/409")
            .with("accept", "application/json")
            .answers(409)
            .has("content-type", PROBLEM)
            .within("\"detail\":\"a newer one is there\""),
        get("an error is JSON for those who take problems", "9110 §12.5.1", "/none")
            .with("accept", "application/problem+json")
            .answers(404)
            .has("content-type", PROBLEM)
            .within("\"status\":404"),
        get("an error is text for those who take text", "9110 §12.5.1", "/none")
            .with("accept", "text/plain")
            .answers(404)
            .has("content-type", TEXT),
        get("an error is text for those who take anything", "9110 §12.5.1", "/none")
            .with("accept", "*/*")
            .answers(404)
            .has("content-type", TEXT),
        get("an error is sent though its form is not accepted", "9110 §12.5.1", "/none")
            .with("accept", "image/png")
            .answers(404),
        get("media types are compared without case", "9110 §8.3.1", "/none")
            .with("accept", "Application/JSON")
            .answers(404)
            .has("content-type", PROBLEM),
        get("an error has a length", "9110 §8.6", "/none").answers(404).holds("content-length", ""),
        ask("405 is JSON for those who take JSON", "9110 §12.5.1", "DELETE", "/text")
            .with("accept", "application/json")
            .answers(405)
            .has("content-type", PROBLEM)
            .has("allow", "GET, HEAD, POST"),
        get("an error of the server tells nothing of its cause", "9110 §15.6.1", "/failed")
            .answers(500)
            .content("500 Internal Server Error\n"),
        get("a handler that panics is answered 500", "9110 §15.6.1", "/panics").answers(500),
        get("a parameter that is malformed is answered 400", "9110 §15.5.1", "/number/ten")
            .answers(400)
            .within("number"),
        get("a parameter that is well-formed is taken", "9110 §15.3.1", "/number/10").gives("number 10"),
        get("empty segments are refused", "9110 §15.5.1", "//text").answers(400).http1_only(),
        get("dot segments are refused", "9110 §15.5.1", "/segment/../text").answers(400).http1_only(),
        raw("a refused request is dated", "9110 §6.6.1", "GET /text HTTP/1.1\r\n\r\n")
            .answers(400)
            .holds("date", "GMT")
            .closes(),
        raw("a refused request has an answer with a length", "9112 §6.2", "GET /text HTTP/1.1\r\n\r\n")
            .answers(400)
            .holds("content-length", "")
            .closes(),
    ]
}
