//! `-v`: an exchange on stderr as curl shows it, `*` before what is done, `>` before what goes and `<` before
//! what comes.
//!
//! Rule: values of fields and targets pass through [`masked_field`], so that no credential is shown unless it
//! is asked for.

use std::{borrow::Cow, net::SocketAddr, time::Duration};

use alula::{
    ConnectionFacts, ExchangeEvent, FieldSection, Follow, Redirect, SentHead, Setback, Status, TlsFacts,
    Version, masked_field, masked_url,
};
use anstyle::Style;

use crate::fetch::{
    send::tries,
    show::name_of,
    tls::{certificate::Certificate, roots::Roots},
};
use crate::terminal;

/// The things that are shown or not, as the flags say.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Verbose {
    /// The certificates that count.
    pub(in crate::fetch) roots: Roots,
    /// Credentials and the values of queries are shown as they are.
    pub(in crate::fetch) shows_secrets: bool,
    /// Credentials go along when a redirect leaves their origin.
    pub(in crate::fetch) keeps_credentials: bool,
}

impl Verbose {
    /// Prints a step of an exchange.
    pub(in crate::fetch) fn print(&self, event: &ExchangeEvent<'_>) {
        if let ExchangeEvent::Trailers(version, trailers) = event {
            return self.print_trailers(*version, trailers);
        }
        self.steps(event).iter().for_each(|line| done(line));
        let Some((direction, lines)) = self.head(event) else { return };
        let mark = direction.mark();
        lines.iter().for_each(|line| tell(&[mark, b" "].concat(), line));
        tell(mark, b"");
    }

    /// Prints the fields that came behind the content.
    pub(in crate::fetch) fn print_trailers(&self, version: Version, trailers: &FieldSection) {
        let mark = Direction::Received.mark();
        self.fields(version, trailers).for_each(|line| tell(&[mark, b" "].concat(), &line));
    }

    /// Returns the lines about a step that is no head.
    pub(in crate::fetch) fn steps(&self, event: &ExchangeEvent<'_>) -> Vec<String> {
        match event {
            ExchangeEvent::Redirected(_, Follow::Error | Follow::Stop) => Vec::new(),
            ExchangeEvent::Redirected(redirect, _) => self.redirect(redirect),
            event => steps(event, &self.roots),
        }
    }

    /// The place that a redirect leads to, and what is not taken along.
    fn redirect(&self, redirect: &Redirect<'_>) -> Vec<String> {
        let to = if self.shows_secrets { redirect.to().to_owned() } else { masked_url(redirect.to()) };
        let mut lines = vec![format!("Issue another request to this URL: '{to}'")];
        if redirect.leaves_origin() && !self.keeps_credentials {
            lines.push("Credentials and cookies of the first origin are not sent to this one".to_owned());
        }
        lines
    }

    /// The lines of a head that is sent or came, if that is what happened.
    pub(in crate::fetch) fn head(&self, event: &ExchangeEvent<'_>) -> Option<(Direction, Vec<Vec<u8>>)> {
        match event {
            ExchangeEvent::Request(head) => Some((Direction::Sent, self.request(head))),
            ExchangeEvent::Interim(head) | ExchangeEvent::Response(head) => {
                Some((Direction::Received, self.response(head.version(), head.status(), head.fields())))
            }
            _ => None,
        }
    }

    /// Lines as they were sent; the first one of HTTP/1.1 is no field.
    fn request(&self, head: &SentHead) -> Vec<Vec<u8>> {
        let shown = |(at, line): (usize, &[u8])| match head.version() != Version::Http1 || at > 0 {
            _ if self.shows_secrets => line.to_vec(),
            true => masked_line(line),
            false => masked_request_line(line),
        };
        head.lines().enumerate().map(shown).collect()
    }

    fn response(&self, version: Version, status: Status, fields: &FieldSection) -> Vec<Vec<u8>> {
        let reason = status.reason().filter(|_| version == Version::Http1);
        let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
        let mut lines = vec![format!("{version} {}{reason}", status.as_u16()).into_bytes()];
        lines.extend(self.fields(version, fields));
        lines
    }

    /// A line for each field.
    pub(in crate::fetch) fn fields(
        &self,
        version: Version,
        fields: &FieldSection,
    ) -> impl Iterator<Item = Vec<u8>> {
        fields.iter().map(move |field| {
            let name = name_of(&field, version);
            let value =
                if self.shows_secrets { Cow::Borrowed(field.value()) } else { masked(&name, field.value()) };
            [&name, &b": "[..], &value].concat()
        })
    }
}

/// The way that bytes go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Direction {
    Sent,
    Received,
}

impl Direction {
    const fn mark(self) -> &'static [u8] {
        match self {
            Self::Sent => b">",
            Self::Received => b"<",
        }
    }
}

/// The lines about a step that is no head.
fn steps(event: &ExchangeEvent<'_>, roots: &Roots) -> Vec<String> {
    match event {
        ExchangeEvent::Resolved(host, addresses) => resolved(host, addresses).into_iter().collect(),
        ExchangeEvent::Connecting(address) => vec![format!("  Trying {address}...")],
        ExchangeEvent::NotConnected(address, error) => {
            let error = error.to_string();
            // The sentence alone, without the system's number for it.
            let error = error.split(" (os error ").next().unwrap_or_default();
            vec![format!("connect to {} port {} failed: {error}", address.ip(), address.port())]
        }
        ExchangeEvent::Tunnelled(_, Some(status)) => {
            let outcome = if status.is_success() { "established" } else { "failed" };
            vec![format!("CONNECT tunnel {outcome}, response {}", status.as_u16())]
        }
        ExchangeEvent::Connected(to) => connected(to, roots),
        ExchangeEvent::Retrying(setback, wait) => vec![retrying(*setback, *wait)],
        ExchangeEvent::NotRetried(setback, reason) => {
            vec![format!("Not sent again, since {reason}: {setback}")]
        }
        _ => Vec::new(),
    }
}

/// Names the addresses of a host that is no address itself.
fn resolved(host: &str, addresses: &[SocketAddr]) -> Option<String> {
    if host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok() {
        return None;
    }
    let addresses: Vec<_> = addresses.iter().map(|address| address.ip().to_string()).collect();
    Some(format!("Host {host} was resolved: {}", addresses.join(", ")))
}

fn retrying(setback: Setback<'_>, wait: Duration) -> String {
    let when = match wait.is_zero() {
        true => "at once".to_owned(),
        false => format!("in {}", tries::shown(wait)),
    };
    format!("Sending the request again {when}: {setback}")
}

fn connected(to: &ConnectionFacts<'_>, roots: &Roots) -> Vec<String> {
    let origin = to.origin();
    if to.is_reused() {
        return vec![format!("Re-using existing connection for {origin}")];
    }
    let mut lines = vec![match to.remote_address() {
        Some(address) => format!("Connected to {} port {} for {origin}", address.ip(), address.port()),
        None => format!("Connected for {origin}"),
    }];
    if let Some(tls) = to.tls() {
        secured(&tls, roots, &mut lines);
    }
    lines.push(format!("using {}", to.version()));
    lines
}

fn secured(tls: &TlsFacts, roots: &Roots, lines: &mut Vec<String>) {
    lines.extend(roots.lines());
    let agreed = tls.key_agreement().map(|group| format!(" / {group}")).unwrap_or_default();
    let (protocol, suite) = (tls.protocol().replace('_', "."), tls.cipher_suite().replace("TLS13_", "TLS_"));
    lines.push(format!("SSL connection using {protocol} / {suite}{agreed}"));
    lines.push(match tls.alpn() {
        Some(protocol) => format!("ALPN: server accepted {}", String::from_utf8_lossy(protocol)),
        None => "ALPN: server did not agree on a protocol".to_owned(),
    });
    if tls.is_resumed() {
        lines.push("SSL session taken up again".to_owned());
    }
    if let Some(certificate) = tls.certificates().next().and_then(Certificate::of) {
        lines.extend([
            "Server certificate:".to_owned(),
            format!(" subject: {}", certificate.subject),
            format!(" start date: {}", certificate.not_before),
            format!(" expire date: {}", certificate.not_after),
            format!(" issuer: {}", certificate.issuer),
        ]);
    }
    lines.push(roots.verdict().to_owned());
}

fn masked_line(line: &[u8]) -> Vec<u8> {
    // The colon that a pseudo-field begins with is a part of its name.
    let Some(colon) = line.iter().skip(1).position(|byte| *byte == b':') else { return line.to_vec() };
    let (name, value) = line.split_at(colon + 1);
    let value = value.strip_prefix(b": ").unwrap_or(value);
    [name, b": ", &masked(name, value)].concat()
}

/// Method, target and version: the target is what HTTP/2 has in `:path`.
fn masked_request_line(line: &[u8]) -> Vec<u8> {
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let (Some(method), Some(target), Some(version)) = (parts.next(), parts.next(), parts.next()) else {
        return line.to_vec();
    };
    [method, b" ", &masked(b":path", target), b" ", version].concat()
}

/// The value of a field without the credentials in it.
fn masked<'v>(name: &[u8], value: &'v [u8]) -> Cow<'v, [u8]> {
    masked_field(&String::from_utf8_lossy(name), value)
}

fn done(line: &str) {
    tell(b"* ", line.as_bytes());
}

fn tell(mark: &[u8], line: &[u8]) {
    terminal::tell(Style::new(), &[mark, line].concat());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_masked_by_their_names() {
        for (line, shown) in [
            (&b"Authorization: Basic czNjcmV0"[..], "Authorization: Basic \u{2026}"),
            (b":authority: a:80", ":authority: a:80"),
            (b"x: a: b", "x: a: b"),
            (b"x: ", "x: "),
            (b"", ""),
        ] {
            assert_eq!(String::from_utf8(masked_line(line)).unwrap(), shown);
        }
        assert_eq!(masked_request_line(b"GET /x?a=b HTTP/1.1"), "GET /x?a=… HTTP/1.1".as_bytes());
        assert_eq!(masked_request_line(b"odd"), b"odd");
    }
}
