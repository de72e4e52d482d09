//! The certificates by which users are known.
//!
//! A certificate is known by its SHA-256 or by a DNS name among its alternative names (RFC 5280 §4.2.1.6),
//! whose form every issuer agrees on. The common name of its subject is not looked at: it is free text in
//! several encodings, and issuers that check alternative names may not check it (RFC 9525 §2).

use std::fmt;

use alula::Scratch;
use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// A name of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CertificateName {
    /// The SHA-256 of the whole certificate in DER.
    Sha256([u8; 32]),
    /// A DNS name among its alternative names, in lower case.
    Dns(Box<str>),
}

impl CertificateName {
    /// Reads `sha256:` with 64 hexadecimal digits, which may stand in pairs between colons, or `dns:` with a
    /// name.
    ///
    /// # Errors
    /// The text is neither.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mistake = || {
            "is `sha256:` with the 64 digits that `openssl x509 -fingerprint -sha256` prints, or `dns:` with \
             an alternative name of the certificate"
                .to_owned()
        };
        if let Some(digits) = text.strip_prefix("sha256:") {
            return sha256(digits).map(Self::Sha256).ok_or_else(mistake);
        }
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        match text.strip_prefix("dns:") {
            Some(name) if !name.is_empty() && name.bytes().all(is_name_byte) => {
                Ok(Self::Dns(name.to_ascii_lowercase().into()))
            }
            _ => Err(mistake()),
        }
    }
}

impl fmt::Display for CertificateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(bytes) => {
                f.write_str("sha256:")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Dns(name) => write!(f, "dns:{name}"),
        }
    }
}

/// Returns the first answer for a DNS name of a certificate in DER, which is handed over in lower case.
pub(super) fn dns_name<T>(der: &[u8], answer: impl Fn(&str) -> Option<T>) -> Option<T> {
    let der = CertificateDer::from(der);
    let certificate = EndEntityCert::try_from(&der).ok()?;
    let mut lower = Scratch::lend();
    certificate.valid_dns_names().find_map(|name| {
        lower.clear();
        lower.extend_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        answer(std::str::from_utf8(&lower).ok()?)
    })
}

fn sha256(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_digests_or_dns_names() {
        let digits = "0a".repeat(32);
        let expected = CertificateName::Sha256([10; 32]);
        assert_eq!(CertificateName::read(&format!("sha256:{digits}")), Ok(expected.clone()));
        let pairs = ["0A"; 32].join(":");
        assert_eq!(CertificateName::read(&format!("sha256:{pairs}")), Ok(expected));
        let dns = CertificateName::Dns("backup.example".into());
        assert_eq!(CertificateName::read("dns:Backup.Example"), Ok(dns));
        for wrong in
            ["", "CN=backup", "sha256:", "sha256:0a", "dns:", "dns:a b", "dns:*.example", "backup.example"]
        {
            assert!(CertificateName::read(wrong).is_err(), "{wrong}");
        }
    }
}
