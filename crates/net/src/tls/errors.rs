//! Failures of TLS in words for the person who can mend them.

use std::fmt;

use rustls::{AlertDescription as Alert, CertificateError, InvalidMessage};

use crate::error::Phase;

/// Describes the failure, and the certificate that it is about.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, error: &rustls::Error, phase: Phase) -> fmt::Result {
    match error {
        rustls::Error::InvalidCertificate(why) => {
            f.write_str("certificate not trusted: ")?;
            not_trusted(f, why)
        }
        rustls::Error::InvalidCertRevocationList(why) => {
            let why = in_words(&format!("{why:?}"));
            write!(f, "certificate not trusted: a list of revoked certificates cannot be used: {why}")
        }
        rustls::Error::AlertReceived(alert) => alerted(f, *alert),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) if phase == Phase::Handshake => {
            f.write_str("the server does not speak TLS on this port")
        }
        error if phase == Phase::Handshake => write!(f, "the TLS handshake failed: {error}"),
        error => write!(f, "TLS failed {phase}: {error}"),
    }
}

fn not_trusted(f: &mut fmt::Formatter<'_>, why: &CertificateError) -> fmt::Result {
    match why {
        CertificateError::UnknownIssuer => f.write_str("unknown issuer"),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            f.write_str("it has expired, or one of its issuers has")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            f.write_str("it is not valid yet")
        }
        CertificateError::UnknownRevocationStatus => {
            f.write_str("no list says whether it and its issuers were revoked")
        }
        CertificateError::ExpiredRevocationList | CertificateError::ExpiredRevocationListContext { .. } => {
            f.write_str("a list of revoked certificates has expired")
        }
        CertificateError::NotValidForName => f.write_str("it is not for this host"),
        CertificateError::NotValidForNameContext { expected, presented } => {
            write!(f, "it is not for {}", expected.to_str())?;
            match presented.as_slice() {
                [] => Ok(()),
                names => write!(f, ", but for {}", plain(names)),
            }
        }
        CertificateError::BadSignature => f.write_str("its signature is wrong"),
        CertificateError::BadEncoding => f.write_str("it cannot be read"),
        CertificateError::Other(error) => write!(f, "{error}"),
        other => f.write_str(&in_words(&format!("{other:?}"))),
    }
}

/// Returns the name of a kind of failure in separate words: `BadPurposeContext { … }` is "bad purpose".
fn in_words(shown: &str) -> String {
    let name = shown.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    let mut words = String::new();
    for letter in name.strip_suffix("Context").unwrap_or(name).chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Returns names from a message of rustls without their types: `DnsName("a.example")` becomes the name.
fn plain(names: &[String]) -> String {
    let inner = |name: &str| match (name.find('"'), name.rfind('"')) {
        (Some(start), Some(end)) if start < end => name[start + 1..end].to_owned(),
        _ => name.to_owned(),
    };
    names.iter().map(|name| inner(name)).collect::<Vec<_>>().join(" or ")
}

fn alerted(f: &mut fmt::Formatter<'_>, alert: Alert) -> fmt::Result {
    if alert == Alert::CertificateRequired {
        return f.write_str("the server asks for a client certificate, and was given none");
    }
    let words = match alert {
        Alert::UnknownCA => "the peer does not trust the issuer of our certificate",
        Alert::BadCertificate | Alert::CertificateUnknown | Alert::AccessDenied => {
            "the peer does not accept our certificate"
        }
        Alert::CertificateExpired => "the peer finds our certificate expired",
        Alert::ProtocolVersion => "the peer speaks no version of TLS that we speak",
        Alert::HandshakeFailure => "the peer has nothing in common with us, or wants a certificate",
        Alert::UnrecognisedName => "the peer does not know this host",
        Alert::NoApplicationProtocol => "the peer speaks no version of HTTP that was offered",
        _ => "the peer ended TLS",
    };
    write!(f, "{words} (alert {alert:?})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_have_no_sentence_are_named_in_words() {
        for (shown, words) in [
            ("InvalidPurposeContext { required: ServerAuth, presented: [] }", "invalid purpose"),
            ("UnhandledCriticalExtension", "unhandled critical extension"),
            (
                "UnsupportedSignatureAlgorithmForPublicKeyContext { signature_algorithm_id: [6, 8] }",
                "unsupported signature algorithm for public key",
            ),
        ] {
            assert_eq!(in_words(shown), words);
        }
    }
}
