//! Statuses, and the fields that belong to them (RFC 9110 §10.2, §15).

use crate::server_cases::case::{Case, ask, get};

pub(crate) fn cases() -> Vec<Case> {
    success().into_iter().chain(redirections()).chain(refusals()).collect()
}

fn success() -> Vec<Case> {
    vec![
        ask("201 has a location", "9110 §15.3.2", "POST", "/created")
            .answers(201)
            .has("location", "/asked")
            .content("made"),
        get("202 may have content", "9110 §15.3.3", "/status/202").answers(202).content("content"),
        get("203 may have content", "9110 §15.3.4", "/status/203").answers(203).content("content"),
        get("205 has no content", "9110 §15.3.6", "/status/205").answers(205).content(""),
        get("205 states a length of zero", "9110 §15.3.6", "/status/205")
            .answers(205)
            .has("content-length", "0")
            .http1_only(),
        get("205 that is streamed has no content", "9110 §15.3.6", "/stream-of-205").answers(205).content(""),
        get("205 of an error has no content", "9110 §15.3.6", "/refused/205").answers(205).content(""),
        get("a status that is not registered goes as it is", "9110 §15", "/status/299")
            .answers(299)
            .content("content"),
        get("103 comes before the answer", "9110 §15.2", "/hints")
            .answers(103)
            .has("link", "</a.css>; rel=preload")
            .gives("after hints"),
    ]
}

fn redirections() -> Vec<Case> {
    let redirection = |name, section, path, status| {
        get(name, section, path).answers(status).has("location", "/to%20here").content("")
    };
    vec![
        redirection("301 has a location", "9110 §15.4.2", "/redirect/301", 301),
        redirection("302 has a location", "9110 §15.4.3", "/redirect/302", 302),
        redirection("303 has a location", "9110 §15.4.4", "/redirect/303", 303),
        redirection("307 has a location", "9110 §15.4.8", "/redirect/307", 307),
        redirection("308 has a location", "9110 §15.4.9", "/redirect/308", 308),
        get("a redirection without a location is not sent", "9110 §10.2.2", "/redirect/200")
            .answers(500)
            .lacks("location"),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        get("401 has a challenge", "9110 §15.5.2", "/refused/401")
            .answers(401)
            .has("www-authenticate", "Basic realm=\"a\""),
        get("403 has content that says so", "9110 §15.5.4", "/refused/403").answers(403).within("403"),
        get("409 says what the conflict is", "9110 §15.5.10", "/refused/409")
            .answers(409)
            .within("a newer one is there"),
        get("410 is as final as 404", "9110 §15.5.11", "/refused/410").answers(410).within("410"),
        get("413 may say when to try again", "9110 §15.5.14", "/refused/413")
            .answers(413)
            .has("retry-after", "5"),
        get("415 may name the codings that are taken", "9110 §15.5.16", "/refused/415")
            .answers(415)
            .has("accept-encoding", "gzip"),
        get("422 has content", "9110 §15.5.21", "/refused/422").answers(422).within("422"),
        get("426 names what to upgrade to", "9110 §15.5.22", "/refused/426")
            .answers(426)
            .has("upgrade", "HTTP/2.0")
            .has("connection", "upgrade")
            .http1_only(),
        get("503 says when to try again", "9110 §15.6.4", "/refused/503")
            .answers(503)
            .has("retry-after", "5"),
        get("502 has content", "9110 §15.6.3", "/refused/502").answers(502).within("502"),
        get("504 has content", "9110 §15.6.5", "/refused/504").answers(504).within("504"),
        get("599 is an error of the server", "9110 §15", "/refused/599").answers(599),
    ]
}
