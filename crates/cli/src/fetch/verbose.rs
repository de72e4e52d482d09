//! `-v`: an exchange on stderr as curl shows it, `*` before what is done, `>` before what goes and `<` before what comes.
//!
//! Rule: values of fields and targets pass through [`masked_field`], so that no credential is shown unless it is asked for.

use std::{borrow::Cow, net::SocketAddr, time::Duration};

use alula::{
    ConnectionFacts, ExchangeEvent, FieldSection, Redirect, SentHead, Setback, Status, TlsFacts, Version,
    masked_field, masked_url,
};
use anstyle::Style;

use super::{certificate::Certificate, show::name_of};
use crate::terminal;

/// The things that are shown or not, as the flags say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verbose {
    /// Certificates are not checked.
    pub(super) is_trusting: bool,
    /// Credentials and the values of queries are shown as they are.
    pub(super) shows_secrets: bool,
}

impl Verbose {
    /// Prints a step of an exchange.
    pub(super) fn print(self, event: &ExchangeEvent<'_>) {
        match event {
            ExchangeEvent::Resolved(host, addresses) => resolved(host, addresses),
            ExchangeEvent::Connecting(address) => done(&format!("  Trying {address}...")),
            ExchangeEvent::NotConnected(address, error) => {
                let error = error.to_string();
                // The sentence alone, without the system's number for it.
                let error = error.split(" (os error ").next().unwrap_or_default();
                done(&format!("connect to {} port {} failed: {error}", address.ip(), address.port()));
            }
            ExchangeEvent::Connected(to) => connected(to, self.is_trusting),
            ExchangeEvent::Request(head) => self.request(head),
            ExchangeEvent::Interim(version, status, fields)
            | ExchangeEvent::Response(version, status, fields) => self.response(*version, *status, fields),
            ExchangeEvent::Retrying(setback, wait) => retrying(*setback, *wait),
            ExchangeEvent::NotRetried(setback, reason) => {
                done(&format!("Not sent again, since {reason}: {setback}"));
            }
            _ => {}
        }
    }

    /// Prints where a redirect leads.
    pub(super) fn print_redirect(self, redirect: &Redirect<'_>) {
        let to = if self.shows_secrets { redirect.to().to_owned() } else { masked_url(redirect.to()) };
        done(&format!("Issue another request to this URL: '{to}'"));
        if redirect.leaves_origin() {
            done("Credentials and cookies of the first origin are not sent to this one");
        }
    }

    /// Lines as they were sent; the first one of HTTP/1.1 is no field.
    fn request(self, head: &SentHead) {
        for (at, line) in head.lines().enumerate() {
            let is_field = head.version() != Version::Http1 || at > 0;
            match is_field {
                _ if self.shows_secrets => tell(b"> ", line),
                true => tell(b"> ", &masked_line(line)),
                false => tell(b"> ", &masked_request_line(line)),
            }
        }
        tell(b">", b"");
    }

    fn response(self, version: Version, status: Status, fields: &FieldSection) {
        let reason = status.reason().filter(|_| version == Version::Http1);
        let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
        tell(b"< ", format!("{version} {}{reason}", status.as_u16()).as_bytes());
        for field in fields {
            let name = name_of(&field, version);
            let value =
                if self.shows_secrets { Cow::Borrowed(field.value()) } else { masked(&name, field.value()) };
            tell(b"< ", &[&name, &b": "[..], &value].concat());
        }
        tell(b"<", b"");
    }
}

/// Names the addresses of a host that is no address itself.
fn resolved(host: &str, addresses: &[SocketAddr]) {
    if host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_err() {
        let addresses: Vec<_> = addresses.iter().map(|address| address.ip().to_string()).collect();
        done(&format!("Host {host} was resolved: {}", addresses.join(", ")));
    }
}

fn retrying(setback: Setback<'_>, wait: Duration) {
    let when = match wait.is_zero() {
        true => "at once".to_owned(),
        false => format!("in {:.2} s", wait.as_secs_f64()),
    };
    done(&format!("Sending the request again {when}: {setback}"));
}

fn connected(to: &ConnectionFacts<'_>, is_trusting: bool) {
    let origin = to.origin();
    if to.is_reused() {
        return done(&format!("Re-using existing connection for {origin}"));
    }
    match to.remote_address() {
        Some(address) => done(&format!("Connected to {} port {} for {origin}", address.ip(), address.port())),
        None => done(&format!("Connected for {origin}")),
    }
    if let Some(tls) = to.tls() {
        secured(&tls, is_trusting);
    }
    done(&format!("using {}", to.version()));
}

fn secured(tls: &TlsFacts, is_trusting: bool) {
    let agreed = tls.key_agreement().map(|group| format!(" / {group}")).unwrap_or_default();
    let (protocol, suite) = (tls.protocol().replace('_', "."), tls.cipher_suite().replace("TLS13_", "TLS_"));
    done(&format!("SSL connection using {protocol} / {suite}{agreed}"));
    match tls.alpn() {
        Some(protocol) => done(&format!("ALPN: server accepted {}", String::from_utf8_lossy(protocol))),
        None => done("ALPN: server did not agree on a protocol"),
    }
    if tls.is_resumed() {
        done("SSL session taken up again");
    }
    if let Some(certificate) = tls.certificates().next().and_then(Certificate::of) {
        done("Server certificate:");
        done(&format!(" subject: {}", certificate.subject));
        done(&format!(" start date: {}", certificate.not_before));
        done(&format!(" expire date: {}", certificate.not_after));
        done(&format!(" issuer: {}", certificate.issuer));
    }
    done(match is_trusting {
        true => " SSL certificate not verified (-k)",
        false => " SSL certificate verify ok.",
    });
}

fn masked_line(line: &[u8]) -> Vec<u8> {
    // The colon that a pseudo-field begins with is a part of its name.
    let Some(colon) = line.iter().skip(1).position(|octet| *octet == b':') else { return line.to_vec() };
    let (name, value) = line.split_at(colon + 1);
    let value = value.strip_prefix(b": ").unwrap_or(value);
    [name, b": ", &masked(name, value)].concat()
}

/// Method, target and version: the target is what HTTP/2 has in `:path`.
fn masked_request_line(line: &[u8]) -> Vec<u8> {
    let mut parts = line.splitn(3, |octet| *octet == b' ');
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
