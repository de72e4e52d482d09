//! The sentence that shows a failure: plain words first, and a section of an RFC if a rule of the protocol
//! was broken.
//!
//! Rule: the whole sentence goes through [`OneLine`], since URLs, methods, hosts, files and the words of
//! others are parts of it. The request is named once, at the beginning, and an address that is part of it is
//! not named again.

use std::{
    fmt::{self, Display as _, Write as _},
    io,
    net::SocketAddr,
    time::Duration,
};

use alula_fields::OneLine;

use crate::error::{
    Error, Facts, Phase, Retry,
    cause::Cause,
    details::Attempt,
    limit::{Overrun, Value},
};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(OneLine(f), "{}", Sentence(self.facts()))
    }
}

/// The sentence, with text from elsewhere unescaped.
struct Sentence<'a>(&'a Facts);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.0;
        if let Some(asked) = &facts.asked {
            write!(f, "{asked}: ")?;
        }
        what_happened(f, facts)?;
        let is_early = matches!(facts.phase, Phase::Handshake | Phase::Proxy);
        let are_several = facts.tried.as_ref().is_some_and(|tried| tried.len() > 1);
        if is_early && are_several && !matches!(facts.cause, Cause::Timeout) {
            tried(f, facts, "; tried ")?;
        }
        if !facts.occupied.is_nothing() {
            write!(f, ": {}", facts.occupied)?;
        }
        if let Some(debug) = &facts.goaway {
            write!(f, ", and says \"{}\"", debug.escape_ascii())?;
        }
        Ok(())
    }
}

fn what_happened(f: &mut fmt::Formatter<'_>, facts: &Facts) -> fmt::Result {
    if let Some(exceeded) = facts.limits.exceeded {
        return write!(f, "{}: {exceeded}", facts.phase);
    }
    match (&facts.cause, facts.phase) {
        (Cause::Timeout, phase) => timed_out(f, facts, phase),
        (Cause::Io(..), Phase::Connect) => not_connected(f, facts),
        (Cause::Io(..) | Cause::Sink(..), phase) => broken(f, facts, phase),
        #[cfg(feature = "tls")]
        (Cause::Tls(error), phase) => crate::tls::errors::write(f, error, phase),
        (Cause::Overrun(overrun), phase) => over(f, *overrun, phase, facts.limits.value),
        // Nothing had begun yet, or it is said by the cause.
        (cause, Phase::Build | Phase::Queue | Phase::Resolve | Phase::Connect | Phase::Proxy) => cause.fmt(f),
        (
            cause @ (Cause::Protocol
            | Cause::Revoked
            | Cause::PinMismatch
            | Cause::Status(_)
            | Cause::ClientLeft
            | Cause::Redirect(_)
            | Cause::Growth(_)
            | Cause::TooLong(_)),
            _,
        ) => cause.fmt(f),
        (cause, phase) => write!(f, "{phase}: {cause}"),
    }
}

/// Writes the limit with its value, which stands beside its name at the end.
fn over(
    f: &mut fmt::Formatter<'_>,
    Overrun { limit, .. }: Overrun,
    phase: Phase,
    value: Option<Value>,
) -> fmt::Result {
    let limit = limit.strip_suffix(')').unwrap_or(limit);
    // Nobody waits for a response before there is a connection.
    match phase {
        Phase::Handshake => write!(f, "{limit}")?,
        phase => write!(f, "{phase}: {limit}")?,
    }
    match value {
        Some(Value::Time(time)) => write!(f, " is {})", Seconds(time)),
        Some(Value::Bytes(bytes)) => write!(f, " is {bytes} bytes)"),
        Some(Value::Rate(bytes)) => write!(f, " is {bytes} bytes per second)"),
        None => f.write_str(")"),
    }
}

fn timed_out(f: &mut fmt::Formatter<'_>, facts: &Facts, phase: Phase) -> fmt::Result {
    f.write_str("timed out")?;
    if let Some(after) = facts.limits.after {
        write!(f, " after {}", Seconds(after))?;
    }
    write!(f, " {phase}")?;
    tried(f, facts, "; tried ")
}

fn not_connected(f: &mut fmt::Formatter<'_>, facts: &Facts) -> fmt::Result {
    f.write_str("could not connect")?;
    match (facts.tried.as_deref().unwrap_or_default(), &facts.place) {
        ([only], _) if is_asked(facts, only.address) => write!(f, ": {}", Reason(facts)),
        ([only], _) => write!(f, " to {}: {}", only.address, Reason(facts)),
        ([], Some(place)) => write!(f, " to {place}: {}", Reason(facts)),
        ([], None) => write!(f, ": {}", Reason(facts)),
        _ => tried(f, facts, " to "),
    }
}

/// Returns true if the URL contains this address.
fn is_asked(facts: &Facts, address: SocketAddr) -> bool {
    let origin = facts.asked.as_ref().map_or("", |asked| asked.origin());
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    let is_default =
        matches!((origin.split(':').next(), address.port()), (Some("http"), 80) | (Some("https"), 443));
    let host = SocketAddr::new(address.ip(), 0).to_string();
    authority == address.to_string() || (is_default && Some(authority) == host.strip_suffix(":0"))
}

/// Writes the addresses that were tried, each with its reason; nothing if there are none, or one that the URL
/// contains.
fn tried(f: &mut fmt::Formatter<'_>, facts: &Facts, before: &str) -> fmt::Result {
    let tried = facts.tried.as_deref().unwrap_or_default();
    if matches!(tried, [only] if is_asked(facts, only.address)) {
        return Ok(());
    }
    for (place, Attempt { address, failure }) in tried.iter().enumerate() {
        let between = match place {
            0 => before,
            _ if place + 1 == tried.len() => " or ",
            _ => ", ",
        };
        write!(f, "{between}{address} ({failure})")?;
    }
    Ok(())
}

fn broken(f: &mut fmt::Formatter<'_>, facts: &Facts, phase: Phase) -> fmt::Result {
    let (reason, place) = (Reason(facts), facts.place.as_deref());
    if matches!(facts.cause, Cause::Sink(..)) {
        return write!(f, "the content could not be handed on: {reason}");
    }
    if let Some(work) = facts.work {
        let at = if place.is_some() { " of " } else { "" };
        return write!(f, "{work}{at}{}: {reason}", place.unwrap_or_default());
    }
    match (phase, place) {
        (Phase::Build | Phase::Queue, Some(place)) => write!(f, "{place}: {reason}"),
        (Phase::Build | Phase::Queue, None) => reason.fmt(f),
        (Phase::Resolve, Some(host)) => write!(f, "could not resolve host {host}: {reason}"),
        (Phase::Resolve, None) => write!(f, "could not resolve the host: {reason}"),
        (Phase::Proxy, Some(proxy)) => write!(f, "could not reach the proxy {proxy}: {reason}"),
        (Phase::Proxy, None) => write!(f, "the connection to the proxy broke: {reason}"),
        (Phase::Handshake, _) => write!(f, "the TLS handshake was broken off: {reason}"),
        _ => write!(f, "the connection broke {phase}: {reason}"),
    }
}

/// The message of the source, without a number that repeats it.
struct Reason<'a>(&'a Facts);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Cause::Io(kind, code) | Cause::Sink(kind, code)) = &self.0.cause else { return Ok(()) };
        let text = match (&self.0.source, code) {
            (Some(source), _) => source.to_string(),
            (None, Some(code)) => io::Error::from_raw_os_error(*code).to_string(),
            (None, None) => kind.to_string(),
        };
        f.write_str(&in_sentence(&text))
    }
}

/// Returns a message of the operating system in the form of a clause.
fn in_sentence(text: &str) -> String {
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(text);
    let text = match (text.rfind(" (os error "), text.ends_with(')')) {
        (Some(end), true) => &text[..end],
        _ => text,
    };
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        // Not where all of the word is in capitals.
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// A time in seconds, with as many digits as milliseconds need.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.3}", self.0.as_secs_f64());
        write!(f, "{} s", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "checking the request",
            Self::Queue => "waiting for a connection",
            Self::Resolve => "looking up the host",
            Self::Connect => "connecting",
            Self::Proxy => "waiting for the proxy",
            Self::Handshake => "during the TLS handshake",
            Self::Send => "sending the message",
            Self::Head => "waiting for the response headers",
            Self::Content => "reading the content",
        })
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "sending it again is safe",
            Self::IfIdempotent => "send it again only if it is idempotent (RFC 9110 §9.2.2)",
            Self::Pointless => "sending it again would fail the same way",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::asked::Asked;

    fn asking(error: Error, origin: &str) -> String {
        error.asking(|| Asked::new("GET", origin, "/a?k=secret")).to_string()
    }

    fn refused() -> io::Error {
        io::Error::from_raw_os_error(111)
    }

    fn attempt(address: &str) -> Attempt {
        Attempt { address: address.parse().unwrap(), failure: io::ErrorKind::ConnectionRefused }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_address_is_said_once_and_no_number() {
        let failed = || Error::io(Phase::Connect, refused()).with_tried([attempt("127.0.0.1:81")]);
        assert_eq!(
            asking(failed(), "http://127.0.0.1:81"),
            "GET http://127.0.0.1:81/a?k=…: could not connect: connection refused"
        );
        assert_eq!(
            asking(failed(), "http://a.example"),
            "GET http://a.example/a?k=…: could not connect to 127.0.0.1:81: connection refused"
        );
        let failed =
            Error::io(Phase::Connect, refused()).with_tried([attempt("[::1]:80"), attempt("127.0.0.1:80")]);
        assert_eq!(
            failed.to_string(),
            "could not connect to [::1]:80 (connection refused) or 127.0.0.1:80 (connection refused)"
        );
        let failed = Error::io(Phase::Connect, refused()).with_tried([attempt("[::1]:443")]);
        assert_eq!(
            asking(failed, "https://[::1]"),
            "GET https://[::1]/a?k=…: could not connect: connection refused"
        );
    }

    #[test]
    fn the_error_it_comes_from_is_kept_and_its_text_is_said() {
        let failed = Error::io(Phase::Resolve, io::Error::other("the zone is empty")).about("a.example");
        assert_eq!(failed.to_string(), "could not resolve host a.example: the zone is empty");
        assert_eq!(std::error::Error::source(&failed).unwrap().to_string(), "the zone is empty");
    }

    #[test]
    fn a_deadline_says_how_long_and_for_what() {
        let late = |phase, milliseconds| {
            let late = Error::new(phase, Cause::Timeout, Retry::Safe);
            late.in_spite_of(Some(Duration::from_millis(milliseconds))).to_string()
        };
        assert_eq!(late(Phase::Head, 500), "timed out after 0.5 s waiting for the response headers");
        assert_eq!(late(Phase::Connect, 10_000), "timed out after 10 s connecting");
        assert_eq!(late(Phase::Content, 1), "timed out after 0.001 s reading the content");
    }
}
