//! `-v`: an exchange on stderr as curl shows it, `*` before what is done, `>` before what goes and `<` before what comes.
//!
//! Rule: values of fields and targets pass through [`masked_field`], so that no credential is shown.

use std::borrow::Cow;

use alula::{
    ConnectionFacts, ExchangeEvent, FieldSection, Redirect, SentHead, Status, TlsFacts, Version, masked_field,
};
use anstyle::Style;

use super::{certificate::Certificate, show::name_of};
use crate::terminal;

/// Prints a step of an exchange. `is_trusting` says that certificates were not checked.
pub(super) fn print(event: &ExchangeEvent<'_>, is_trusting: bool) {
    match event {
        ExchangeEvent::Connecting(address) => done(&format!("  Trying {address}...")),
        ExchangeEvent::Connected(to) => connected(to, is_trusting),
        ExchangeEvent::Request(head) => request(head),
        ExchangeEvent::Interim(version, status, fields)
        | ExchangeEvent::Response(version, status, fields) => {
            response(*version, *status, fields);
        }
        _ => {}
    }
}

/// Prints where a redirect leads.
pub(super) fn print_redirect(redirect: &Redirect<'_>) {
    done(&format!("Issue another request to this URL: '{}'", alula::masked_url(redirect.to())));
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

/// Lines as they were sent; the first one of HTTP/1.1 is no field.
fn request(head: &SentHead) {
    for (at, line) in head.lines().enumerate() {
        let is_field = head.version() != Version::Http1 || at > 0;
        tell(b"> ", &if is_field { masked_line(line) } else { masked_request_line(line) });
    }
    tell(b">", b"");
}

fn response(version: Version, status: Status, fields: &FieldSection) {
    let reason = status.reason().filter(|_| version == Version::Http1);
    let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    tell(b"< ", format!("{version} {}{reason}", status.as_u16()).as_bytes());
    for field in fields {
        let name = name_of(&field, version);
        tell(b"< ", &[&name, &b": "[..], &masked(&name, field.value())].concat());
    }
    tell(b"<", b"");
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
