//! Ranges (RFC 9110 §14). `/doc` has ten bytes, the digits.

use crate::server_cases::case::{Case, ask, get};

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const ALL: &str = "0123456789";

/// A request for a range of ten bytes.
fn range(name: &'static str, section: &'static str, value: &'static str) -> Case {
    get(name, section, "/doc").with("range", value)
}

pub(crate) fn cases() -> Vec<Case> {
    single().into_iter().chain(ignored()).chain(several()).chain(conditional()).collect()
}

fn single() -> Vec<Case> {
    vec![
        get("ranges are offered", "9110 §14.3", "/doc").answers(200).has("accept-ranges", "bytes"),
        range("the first bytes", "9110 §14.1.2", "bytes=0-3")
            .answers(206)
            .has("content-range", "bytes 0-3/10")
            .has("content-length", "4")
            .content("0123"),
        range("206 has the tag and the caching of 200", "9110 §15.3.7", "bytes=0-3")
            .answers(206)
            .has("etag", "\"v1\"")
            .has("cache-control", "max-age=60")
            .has("vary", "accept"),
        range("bytes from within", "9110 §14.1.2", "bytes=4-5")
            .answers(206)
            .has("content-range", "bytes 4-5/10")
            .content("45"),
        range("bytes up to the end", "9110 §14.1.2", "bytes=7-")
            .answers(206)
            .has("content-range", "bytes 7-9/10")
            .content("789"),
        range("the last bytes", "9110 §14.1.2", "bytes=-2")
            .answers(206)
            .has("content-range", "bytes 8-9/10")
            .content("89"),
        range("one byte", "9110 §14.1.2", "bytes=0-0").answers(206).content("0"),
        range("a last position past the end", "9110 §14.1.2", "bytes=8-100")
            .answers(206)
            .has("content-range", "bytes 8-9/10")
            .content("89"),
        range("a suffix longer than all", "9110 §14.1.2", "bytes=-100")
            .answers(206)
            .has("content-range", "bytes 0-9/10")
            .content(ALL),
        range("units are compared without case", "9110 §14.1", "BYTES=0-0").answers(206).content("0"),
        range("a first position past the end", "9110 §15.5.17", "bytes=10-")
            .answers(416)
            .has("content-range", "bytes */10"),
        range("a suffix of nothing", "9110 §14.1.2", "bytes=-0")
            .answers(416)
            .has("content-range", "bytes */10"),
        get("a range of nothing", "9110 §14.1.2", "/nothing")
            .with("range", "bytes=0-")
            .answers(416)
            .has("content-range", "bytes */0"),
    ]
}

fn ignored() -> Vec<Case> {
    vec![
        range("the last position before the first", "9110 §14.1.1", "bytes=5-4")
            .answers(200)
            .lacks("content-range")
            .content(ALL),
        range("a unit that is unknown", "9110 §14.2", "lines=0-1").gives(ALL),
        range("a range that is none", "9110 §14.2", "bytes=a-b").gives(ALL),
        range("a range without a unit", "9110 §14.1.1", "0-1").gives(ALL),
        range("an empty set of ranges", "9110 §14.1.1", "bytes=").gives(ALL),
        range("overlapping ranges", "9110 §17.15", "bytes=0-5,4-9").gives(ALL),
        ask("a range with HEAD", "9110 §14.2", "HEAD", "/doc")
            .with("range", "bytes=0-3")
            .answers_head(200)
            .has("content-length", "10")
            .lacks("content-range"),
        get("a range where ranges are not supported", "9110 §14.2", "/text")
            .with("range", "bytes=0-1")
            .answers(200)
            .lacks("content-range")
            .content("hello"),
        ask("a range with PUT", "9110 §14.2", "PUT", "/doc")
            .body("new")
            .with("range", "bytes=0-1")
            .answers(204),
        get("a range with an unknown path", "9110 §14.2", "/none")
            .with("range", "bytes=0-1")
            .answers(404)
            .lacks("content-range"),
    ]
}

fn several() -> Vec<Case> {
    vec![
        range("several ranges come in parts", "9110 §15.3.7.2", "bytes=0-0,9-9")
            .answers(206)
            .holds("content-type", "multipart/byteranges; boundary=")
            .within("bytes 0-0/10")
            .within("bytes 9-9/10"),
        range("several ranges have no range of their own in the head", "9110 §15.3.7.2", "bytes=0-0,9-9")
            .answers(206)
            .lacks("content-range"),
        range("parts say their media type", "9110 §14.6", "bytes=0-0,9-9").answers(206).within("text/plain"),
        range("of several ranges those that are there", "9110 §15.3.7", "bytes=20-30,1-1")
            .answers(206)
            .has("content-range", "bytes 1-1/10")
            .content("1"),
        range("none of several ranges is there", "9110 §15.5.17", "bytes=20-30,40-")
            .answers(416)
            .has("content-range", "bytes */10"),
    ]
}

fn conditional() -> Vec<Case> {
    let range = |name, section| range(name, section, "bytes=0-0");
    vec![
        range("`if-range` with the tag", "9110 §13.1.5").with("if-range", "\"v1\"").answers(206).content("0"),
        range("`if-range` with another tag", "9110 §13.1.5").with("if-range", "\"v0\"").gives(ALL),
        range("`if-range` with a weak tag", "9110 §13.1.5").with("if-range", "W/\"v1\"").gives(ALL),
        range("`if-range` with a date that is not strong", "9110 §13.1.5").with("if-range", DATE).gives(ALL),
        get("`if-range` without a range", "9110 §13.1.5", "/doc").with("if-range", "\"v0\"").gives(ALL),
        range("a range of what the client has", "9110 §13.2.2")
            .with("if-none-match", "\"v1\"")
            .answers(304)
            .lacks("content-range"),
        range("a range of what has changed", "9110 §13.2.2")
            .with("if-match", "\"v0\"")
            .answers(412)
            .lacks("content-range"),
        get("a tag that is lost counts before a range that is not there", "9110 §13.2.2", "/doc")
            .with("range", "bytes=20-")
            .with("if-range", "\"v0\"")
            .gives(ALL),
    ]
}
