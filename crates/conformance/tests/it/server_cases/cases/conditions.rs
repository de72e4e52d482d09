//! Conditional requests (RFC 9110 §13). `/doc` has the strong tag `"v1"` and a date, `/weak` a weak tag, `/dated` a date alone.

use crate::server_cases::case::{Case, ask, get};

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const LATER: &str = "Mon, 07 Nov 1994 08:49:37 GMT";
const ALL: &str = "0123456789";

/// A request to change something, with content.
fn put(name: &'static str, section: &'static str, path: &'static str) -> Case {
    ask(name, section, "PUT", path).body("new")
}

pub(crate) fn cases() -> Vec<Case> {
    validators().into_iter().chain(tags()).chain(dates()).chain(changes()).collect()
}

fn validators() -> Vec<Case> {
    vec![
        get("an answer has its entity-tag", "9110 §8.8.3", "/doc")
            .answers(200)
            .has("etag", "\"v1\"")
            .content(ALL),
        get("an answer has its date of change", "9110 §8.8.2", "/doc")
            .answers(200)
            .has("last-modified", DATE),
        get("a weak entity-tag stays weak", "9110 §8.8.1", "/weak").answers(200).has("etag", "W/\"w1\""),
        get("304 has what 200 would have of its tag and caching", "9110 §15.4.5", "/doc")
            .with("if-none-match", "\"v1\"")
            .answers(304)
            .has("etag", "\"v1\"")
            .has("cache-control", "max-age=60")
            .has("vary", "accept")
            .content(""),
        get("304 says nothing of the content", "9110 §15.4.5", "/doc")
            .with("if-none-match", "\"v1\"")
            .answers(304)
            .lacks("content-type")
            .lacks("content-language")
            .lacks("transfer-encoding"),
    ]
}

fn tags() -> Vec<Case> {
    vec![
        get("`if-none-match` with the tag", "9110 §13.1.2", "/doc")
            .with("if-none-match", "\"v1\"")
            .answers(304)
            .content(""),
        get("`if-none-match` with another tag", "9110 §13.1.2", "/doc")
            .with("if-none-match", "\"v0\"")
            .gives(ALL),
        get("`if-none-match` with a list", "9110 §13.1.2", "/doc")
            .with("if-none-match", "\"v0\", \"v,\",\"v1\"")
            .answers(304),
        get("`if-none-match` in two fields", "9110 §5.3", "/doc")
            .with("if-none-match", "\"v0\"")
            .with("if-none-match", "\"v1\"")
            .answers(304),
        get("`if-none-match` with any", "9110 §13.1.2", "/doc").with("if-none-match", "*").answers(304),
        get("`if-none-match` compares weakly", "9110 §13.1.2", "/doc")
            .with("if-none-match", "W/\"v1\"")
            .answers(304),
        get("`if-none-match` compares weak tags weakly", "9110 §8.8.3.2", "/weak")
            .with("if-none-match", "\"w1\"")
            .answers(304),
        get("tags are compared with case", "9110 §8.8.3.2", "/doc")
            .with("if-none-match", "\"V1\"")
            .answers(200),
        get("a tag without quotes is none", "9110 §8.8.3", "/doc").with("if-none-match", "v1").answers(200),
        ask("`if-none-match` with HEAD", "9110 §13.1.2", "HEAD", "/doc")
            .with("if-none-match", "\"v1\"")
            .answers_head(304),
        get("`if-match` with the tag", "9110 §13.1.1", "/doc").with("if-match", "\"v1\"").gives(ALL),
        get("`if-match` with another tag", "9110 §13.1.1", "/doc").with("if-match", "\"v0\"").answers(412),
        get("`if-match` with a list", "9110 §13.1.1", "/doc").with("if-match", "\"v0\", \"v1\"").answers(200),
        get("`if-match` with any", "9110 §13.1.1", "/doc").with("if-match", "*").answers(200),
        get("`if-match` compares strongly", "9110 §13.1.1", "/doc").with("if-match", "W/\"v1\"").answers(412),
        get("`if-match` is never met by a weak tag", "9110 §13.1.1", "/weak")
            .with("if-match", "W/\"w1\"")
            .answers(412),
        get("`if-match` counts before `if-none-match`", "9110 §13.2.2", "/doc")
            .with("if-match", "\"v0\"")
            .with("if-none-match", "\"v1\"")
            .answers(412),
        get("an unknown path is 404 whatever its conditions", "9110 §13.2.1", "/none")
            .with("if-match", "\"v1\"")
            .answers(404),
    ]
}

fn dates() -> Vec<Case> {
    vec![
        get("`if-modified-since` with the date", "9110 §13.1.3", "/doc")
            .with("if-modified-since", DATE)
            .answers(304),
        get("`if-modified-since` with a later date", "9110 §13.1.3", "/doc")
            .with("if-modified-since", LATER)
            .answers(304),
        get("`if-modified-since` with an earlier date", "9110 §13.1.3", "/doc")
            .with("if-modified-since", EARLIER)
            .answers(200),
        get("`if-modified-since` that is no date", "9110 §13.1.3", "/doc")
            .with("if-modified-since", "yesterday")
            .answers(200),
        get("`if-modified-since` beside `if-none-match` is ignored", "9110 §13.1.3", "/doc")
            .with("if-none-match", "\"v0\"")
            .with("if-modified-since", DATE)
            .answers(200),
        get("a date in the form of RFC 850", "9110 §5.6.7", "/dated")
            .with("if-modified-since", "Sunday, 06-Nov-94 08:49:37 GMT")
            .answers(304),
        get("a date in the form of asctime", "9110 §5.6.7", "/dated")
            .with("if-modified-since", "Sun Nov  6 08:49:37 1994")
            .answers(304),
        get("`if-unmodified-since` with the date", "9110 §13.1.4", "/doc")
            .with("if-unmodified-since", DATE)
            .answers(200),
        get("`if-unmodified-since` with an earlier date", "9110 §13.1.4", "/doc")
            .with("if-unmodified-since", EARLIER)
            .answers(412),
        get("`if-unmodified-since` that is no date", "9110 §13.1.4", "/doc")
            .with("if-unmodified-since", "never")
            .answers(200),
        get("`if-unmodified-since` beside `if-match` is ignored", "9110 §13.1.4", "/doc")
            .with("if-match", "\"v1\"")
            .with("if-unmodified-since", EARLIER)
            .answers(200),
        get("dates of what has none are ignored", "9110 §13.1.3", "/weak")
            .with("if-modified-since", LATER)
            .answers(200),
    ]
}

fn changes() -> Vec<Case> {
    vec![
        put("PUT with the tag", "9110 §13.1.1", "/doc")
            .with("if-match", "\"v1\"")
            .answers(204)
            .has("etag", "\"v2\""),
        put("PUT with a tag that is lost", "9110 §15.5.13", "/doc").with("if-match", "\"v0\"").answers(412),
        put("PUT that must make something new", "9110 §13.1.2", "/doc")
            .with("if-none-match", "*")
            .answers(412),
        put("PUT that makes something new", "9110 §13.1.2", "/absent")
            .with("if-none-match", "*")
            .answers(201),
        put("PUT that must replace something", "9110 §13.1.1", "/absent").with("if-match", "*").answers(412),
        put("PUT never ends in 304", "9110 §13.1.2", "/doc").with("if-none-match", "\"v1\"").answers(412),
        put("PUT with the date", "9110 §13.1.4", "/dated").with("if-unmodified-since", DATE).answers(204),
        put("PUT with an earlier date", "9110 §13.1.4", "/dated")
            .with("if-unmodified-since", EARLIER)
            .answers(412),
        put("PUT ignores `if-modified-since`", "9110 §13.1.3", "/dated")
            .with("if-modified-since", LATER)
            .answers(204),
        ask("DELETE with a tag that is lost", "9110 §13.1.1", "DELETE", "/doc")
            .with("if-match", "\"v0\"")
            .answers(412),
        ask("DELETE with the tag", "9110 §13.1.1", "DELETE", "/doc").with("if-match", "\"v1\"").answers(204),
    ]
}
