//! PEM texts of callers: certificates, lists of revoked ones, private keys (RFC 7468).

use std::sync::Arc;

use alula_net::Error;
use rustls::{
    RootCertStore,
    client::WebPkiServerVerifier,
    pki_types::{
        CertificateDer, CertificateRevocationListDer, Der, PrivateKeyDer, TrustAnchor, pem::PemObject,
    },
};

use crate::tls::agreement;

/// The tag that values of ASN.1 begin with in files that are not PEM.
const SEQUENCE: u8 = 0x30;

/// The error messages about a text without the expected content.
pub(super) struct Sentences {
    empty: &'static str,
    none: &'static str,
    der: &'static str,
    pub(super) broken: &'static str,
}

pub(super) const CERTIFICATE: Sentences = Sentences {
    empty: "the text is empty, where a PEM certificate is wanted",
    none: "the text holds no PEM certificate",
    der: "the certificate is DER, and PEM is wanted",
    broken: "the PEM text holds a certificate that cannot be read: is it complete?",
};

const LIST: Sentences = Sentences {
    empty: "the text is empty, where a PEM list of revoked certificates is wanted",
    none: "the text holds no PEM list of revoked certificates (X509 CRL)",
    der: "the list of revoked certificates is DER, and PEM is wanted",
    broken: "the PEM text holds a list of revoked certificates that cannot be read: is it complete?",
};

const KEY: Sentences = Sentences {
    empty: "the text is empty, where a PEM private key is wanted",
    none: "the text holds no PEM private key",
    der: "the private key is DER, and PEM is wanted",
    broken: "the PEM text holds a private key that cannot be read: is it complete?",
};

/// Reads the certificates of a text; one at least.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    all(pem, &CERTIFICATE)
}

/// Reads certificates that can be roots; at least one.
pub(super) fn roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found = certificates(pem)?;
    let mut roots = RootCertStore::empty();
    match found.iter().all(|certificate| roots.add(certificate.clone()).is_ok()) {
        true => Ok(found),
        false => Err(Error::usage(CERTIFICATE.broken)),
    }
}

/// Reads the lists of revoked certificates of a text (RFC 5280 §5); one at least.
pub(super) fn revocation_lists(pem: &[u8]) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
    let lists: Vec<CertificateRevocationListDer<'static>> = all(pem, &LIST)?;
    // rustls reads lists where it makes a verifier, and makes none without a root.
    let nothing = || Der::from_slice(&[]);
    let anchor =
        TrustAnchor { subject: nothing(), subject_public_key_info: nothing(), name_constraints: None };
    let roots = Arc::new(RootCertStore { roots: vec![anchor] });
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::new(agreement::provider()));
    match verifier.with_crls(lists.iter().cloned()).build() {
        Ok(_) => Ok(lists),
        Err(_) => Err(Error::usage(LIST.broken)),
    }
}

/// Reads the first private key of a text.
pub(super) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, Error> {
    let is_encrypted = |mark: &[u8]| pem.windows(mark.len()).any(|bytes| bytes == mark);
    if is_encrypted(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || is_encrypted(b"Proc-Type: 4,ENCRYPTED") {
        return Err(Error::usage("the private key is encrypted: it has to be decrypted before"));
    }
    Ok(all(pem, &KEY)?.swap_remove(0))
}

fn all<T: PemObject>(pem: &[u8], sentences: &Sentences) -> Result<Vec<T>, Error> {
    let found = T::pem_slice_iter(pem).collect::<Result<Vec<T>, _>>();
    match found {
        Ok(found) if found.is_empty() => Err(Error::usage(why_none(pem, sentences))),
        Ok(found) => Ok(found),
        Err(_) => Err(Error::usage(sentences.broken)),
    }
}

fn why_none(text: &[u8], sentences: &Sentences) -> &'static str {
    match text.trim_ascii().first() {
        None => sentences.empty,
        Some(&SEQUENCE) => sentences.der,
        Some(_) => sentences.none,
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn rule<T>(read: Result<T, Error>) -> String {
        read.err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn signed() -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        (CertificateParams::new(["a.example".to_owned()]).unwrap().self_signed(&key).unwrap(), key)
    }

    #[test]
    fn texts_that_hold_nothing_say_why() {
        let (certificate, key) = signed();
        let (pem, der) = (certificate.pem(), certificate.der().to_vec());
        let cut = &pem[..pem.len() / 2];
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (text, sentence) in [
            (&b""[..], CERTIFICATE.empty),
            (b" \r\n", CERTIFICATE.empty),
            (&der, CERTIFICATE.der),
            (key.serialize_pem().as_bytes(), CERTIFICATE.none),
            (b"hello", CERTIFICATE.none),
            (cut.as_bytes(), CERTIFICATE.broken),
            (garbage.as_bytes(), CERTIFICATE.broken),
            ([pem.as_bytes(), garbage.as_bytes()].concat().as_slice(), CERTIFICATE.broken),
        ] {
            assert_eq!(rule(roots(text)), sentence);
        }
        let list = garbage.replace("CERTIFICATE", "X509 CRL");
        for (text, sentence) in [
            (&b""[..], LIST.empty),
            (&der, LIST.der),
            (pem.as_bytes(), LIST.none),
            (list.as_bytes(), LIST.broken),
        ] {
            assert_eq!(rule(revocation_lists(text)), sentence);
        }
    }

    #[test]
    fn keys_that_are_none_say_why() {
        let (certificate, key) = signed();
        let encrypted = key.serialize_pem().replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        for (text, sentence) in [
            (&b""[..], KEY.empty),
            (&key.serialize_der(), KEY.der),
            (certificate.pem().as_bytes(), KEY.none),
            (&key.serialize_pem().as_bytes()[..60], KEY.broken),
            (encrypted.as_bytes(), "the private key is encrypted: it has to be decrypted before"),
        ] {
            assert_eq!(rule(private_key(text)), sentence);
        }
        let second = [certificate.pem(), key.serialize_pem()].concat();
        assert_eq!(private_key(second.as_bytes()).unwrap().secret_der(), key.serialize_der());
    }

    #[test]
    fn line_ends_do_not_matter() {
        let texts = [signed(), signed()].map(|(certificate, _)| certificate.pem());
        let both = texts.concat();
        for text in [both.replace("\r\n", "\n"), both.replace("\r\n", "\n").replace('\n', "\r\n")] {
            assert_eq!(roots(text.as_bytes()).unwrap().len(), 2);
        }
    }
}
