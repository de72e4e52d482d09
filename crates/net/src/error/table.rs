//! The table of docs/errors.md: every cause with a sentence, its phase, the side at fault, and whether to
//! send again.
//!
//! Written anew by this test with `ALULA_WRITE_DOCS=1 cargo test -p alula-net --all-features error_table`.

use std::{fmt::Write as _, fs, io, path::Path, time::Duration};

use alula_fields::{Method, Status};
use alula_h1 as h1;
use alula_h2::{ConnectionError, ErrorCode, SendError, Violation};
use alula_machine::{Exceeded, Limits};

use crate::{
    drive::asked::Asked,
    error::{
        Error, Phase, Retry,
        cause::Cause,
        details::{Attempt, Fault},
        limit::Overrun,
        occupied::Occupied,
    },
};

const HEAD: &str = "\
# Errors

Every cause of an `alula::Error`, with a sentence as `Display` gives it. A sentence begins with what was asked of whom where that is
known, as in the first row; the other rows are without it. No sentence shows credentials or the values of a query.
A sentence is one line: control characters and changes of direction in text from elsewhere are escaped, in `Debug` as well.

- *Phase*: `Error::phase`, what was being done; most causes occur in several.
- *Fault*: `Error::fault`, who has to change something.
- *Again*: `Error::retry`, whether the same request may be sent again.

This page is written by a test (`crates/net/src/error/table.rs`), which fails when a cause or a sentence is missing here.

| Cause | Phase | Sentence | Fault | Again |
| --- | --- | --- | --- | --- |
";

/// Returns the name of a cause. A new one does not compile until it has a name here, and then wants a row.
const fn name(cause: &Cause) -> &'static str {
    match cause {
        Cause::Usage(_) => "Usage",
        Cause::Url(_) => "Url",
        Cause::Field(_) => "Field",
        Cause::Refused(_) => "Refused",
        Cause::Io(..) => "Io",
        Cause::Sink(..) => "Sink",
        Cause::Tls(_) => "Tls",
        Cause::Revoked => "Revoked",
        Cause::PinMismatch => "PinMismatch",
        Cause::Protocol => "Protocol",
        Cause::Peer(_) => "Peer",
        Cause::Connection(_) => "Connection",
        Cause::Http1(_) => "Http1",
        Cause::Reset(_) => "Reset",
        Cause::GoAway(_) => "GoAway",
        Cause::Closed => "Closed",
        Cause::ClientLeft => "ClientLeft",
        Cause::Unanswered => "Unanswered",
        Cause::Overrun(_) => "Overrun",
        Cause::Timeout => "Timeout",
        Cause::ProxyStatus(_) => "ProxyStatus",
        Cause::Socks(_) => "Socks",
        Cause::Redirect(_) => "Redirect",
        Cause::Coding(_) => "Coding",
        Cause::Growth(_) => "Growth",
        Cause::TooLong(_) => "TooLong",
        Cause::Unreadable(_) => "Unreadable",
        Cause::MediaType(_) => "MediaType",
        Cause::Status(_) => "Status",
        Cause::Cancelled => "Cancelled",
        Cause::Unfinished => "Unfinished",
        Cause::RuntimeEnded => "RuntimeEnded",
        Cause::Other(_) => "Other",
    }
}

/// The number of causes.
const CAUSES: usize = 33;

fn address(text: &str) -> Attempt {
    Attempt { address: text.parse().unwrap(), failure: io::ErrorKind::ConnectionRefused }
}

fn mistakes() -> Vec<Error> {
    let url = "cannot use the URL http://a:99999/: the port 99999 is above 65535";
    vec![
        Error::usage(
            "the content was sent and cannot be sent again: give bytes or a file instead of a reader",
        ),
        Error::new(Phase::Build, Cause::Url(url.into()), Retry::Pointless),
        Method::parse("GET IT").unwrap_err().into(),
        Error::refused(h1::SendError::ContentLength),
        Error::refused(SendError::GoingAway),
        Error::io(Phase::Build, io::ErrorKind::NotFound.into()).about("form.json"),
        Error::io(Phase::Build, io::Error::other("the disk is full"))
            .with_work("the content could not be read"),
        Error::other(io::Error::other("the disk is full")),
        Error::new(Phase::Send, Cause::Cancelled, Retry::IfIdempotent),
        Error::unfinished(),
    ]
}

fn ways() -> Vec<Error> {
    let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
    let late = |phase, seconds| {
        Error::new(phase, Cause::Timeout, Retry::Safe).in_spite_of(Some(Duration::from_secs_f64(seconds)))
    };
    vec![
        Error::io(Phase::Resolve, io::Error::other("Name or service not known"))
            .about("nosuch.invalid")
            .asking(|| Asked::new("GET", "https://nosuch.invalid", "/a?token=t0p")),
        Error::io(Phase::Connect, refused()).with_tried([address("192.0.2.1:443")]),
        Error::io(Phase::Connect, refused())
            .with_tried([address("[2001:db8::1]:443"), address("192.0.2.1:443")]),
        Error::io(Phase::Connect, io::ErrorKind::NotFound.into()).about("/run/no.sock"),
        Error::io(Phase::Proxy, refused()).about("proxy.example:3128"),
        Error::io(Phase::Proxy, io::ErrorKind::ConnectionReset.into()),
        Error::new(Phase::Proxy, Cause::ProxyStatus(Status::FORBIDDEN), Retry::Pointless),
        Error::new(Phase::Proxy, Cause::Socks("no such user"), Retry::Pointless),
        late(Phase::Queue, 30.0).with_occupied(Occupied { unread: 100, ..Occupied::default() }),
        late(Phase::Resolve, 2.0),
        late(Phase::Connect, 10.0),
        late(Phase::Proxy, 10.0),
        late(Phase::Handshake, 5.0),
        late(Phase::Head, 0.5),
        late(Phase::Content, 0.5),
    ]
}

fn tls() -> Vec<Error> {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, InvalidMessage};
    let failed = |error| Error::tls(Phase::Handshake, error);
    let bad = |why| failed(rustls::Error::InvalidCertificate(why));
    vec![
        bad(Bad::UnknownIssuer),
        bad(Bad::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented: vec!["DnsName(\"b.example\")".to_owned()],
        }),
        bad(Bad::Expired),
        bad(Bad::Revoked),
        bad(Bad::UnknownRevocationStatus),
        bad(Bad::ExpiredRevocationList),
        failed(rustls::Error::InvalidCertRevocationList(rustls::CertRevocationListError::BadSignature)),
        bad(Bad::Other(rustls::OtherError(std::sync::Arc::new(crate::error::cause::PinMismatch)))),
        failed(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)),
        failed(rustls::Error::AlertReceived(Alert::CertificateRequired)),
        failed(rustls::Error::AlertReceived(Alert::ProtocolVersion)),
        Error::io(Phase::Handshake, io::ErrorKind::UnexpectedEof.into()),
        Error::no_version(),
    ]
}

fn exchanges() -> Vec<Error> {
    let at = |phase, cause| Error::new(phase, cause, Retry::IfIdempotent);
    vec![
        at(Phase::Head, Cause::Closed),
        at(Phase::Head, Cause::Unanswered),
        Error::client_left(),
        Error::runtime_ended(Phase::Content, Retry::IfIdempotent),
        Error::io(Phase::Head, io::ErrorKind::ConnectionReset.into()),
        Error::http1(h1::ConnectionError::Peer(h1::Violation::CUT_CONTENT)).during(Phase::Content),
        Error::http1(h1::ConnectionError::Unanswered { is_reused: false }),
        Error::http1(h1::ConnectionError::Peer(h1::Violation::HEAD_LONG))
            .exceeding(Some(Exceeded::HEAD_BYTES.of(70_112, 65_536))),
        Error::connection(ConnectionError::Peer(Violation::TOO_MANY_GLITCHES))
            .exceeding(Some(Exceeded::GLITCHES.of(412, 200))),
        Error::connection(ConnectionError::Peer(Violation::DATA_ON_IDLE)),
        at(Phase::Head, Cause::Peer(Violation::FIELDS_TOO_LARGE))
            .exceeding(Some(Exceeded::FIELD_SECTION_BYTES.of(20_480, 16_384))),
        at(Phase::Content, Cause::Reset(ErrorCode::INTERNAL_ERROR)),
        at(Phase::Head, Cause::Reset(ErrorCode::HTTP_1_1_REQUIRED)),
        Error::farewell(ErrorCode::ENHANCE_YOUR_CALM).with_goaway_debug(b"too fast"),
        Error::overrun(Phase::Content, Overrun::STALLED, &Limits::default()),
        Error::new(Phase::Head, Cause::Redirect("more than 10 redirects"), Retry::Pointless),
        at(Phase::Head, Cause::Status(Status::NOT_FOUND)),
        Error::new(Phase::Content, Cause::Coding("gzip: a checksum is wrong"), Retry::Pointless),
        Error::new(Phase::Content, Cause::Growth(100), Retry::Pointless),
        Error::new(Phase::Content, Cause::TooLong(1000), Retry::Pointless),
        Error::new(
            Phase::Content,
            Cause::Unreadable("its charset \"x\" is not known".into()),
            Retry::Pointless,
        ),
        Error::new(Phase::Content, Cause::MediaType("application/json"), Retry::Pointless),
        Error::sink(io::ErrorKind::StorageFull.into()),
    ]
}

fn row(error: &Error) -> String {
    let fault = match error.fault() {
        Fault::Caller => "caller",
        Fault::Peer => "peer",
        Fault::Between => "between",
    };
    let again = match error.retry() {
        Retry::Safe => "safe",
        Retry::IfIdempotent => "if idempotent",
        Retry::Pointless => "pointless",
    };
    let sentence = error.to_string().replace('|', "\\|");
    format!("| `{}` | `{:?}` | {sentence} | {fault} | {again} |\n", name(error.cause()), error.phase())
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let rows = [ways(), tls(), exchanges(), mistakes()].concat();
    for error in &rows {
        page.write_str(&row(error)).unwrap();
    }
    let mut names: Vec<_> = rows.iter().map(|error| name(error.cause())).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CAUSES, "each cause has a row: {names:?}");
    page
}

#[test]
fn the_page_of_errors_is_as_the_sentences_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    if std::env::var_os("ALULA_WRITE_DOCS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page(), "docs/errors.md is not what the errors say: write it anew");
}
