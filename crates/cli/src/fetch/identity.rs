//! The certificate that is shown to servers, and its key: PEM, DER or PKCS #12, with a password or without.

use std::{
    fs,
    path::{Path, PathBuf},
};

use alula::ClientBuilder;
use p12_keystore::{Pkcs12Archive, error::Error as Pkcs12Error};
use pkcs8::{
    EncryptedPrivateKeyInfoRef, SecretDocument,
    der::pem::{LineEnding, encode_string},
};

use crate::{
    args::{CertType, ConnectionArgs, typed_password},
    exit::{Exit, Failure},
};

/// curl's number for a certificate of ours that cannot be used.
const OURS: u8 = 58;

const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
/// A line of keys that OpenSSL encrypted before there was PKCS #8, by a hash of the password with MD5.
const ENCRYPTED_BEFORE: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// A chain of certificates and the key of the first one, as PEM.
struct Identity {
    chain: Vec<u8>,
    key: Vec<u8>,
}

/// The client that shows the certificate which the flags name, if they name one.
pub(super) fn showing(builder: ClientBuilder, args: &ConnectionArgs) -> Result<ClientBuilder, Failure> {
    let Some(given) = &args.cert else { return Ok(builder) };
    let (path, password) = path_and_password(given, args.pass.as_deref());
    let Identity { chain, key } = identity(&path, password, args)?;
    builder.identity_pem(&chain, &key).map_err(|error| match &args.key {
        Some(key) => failed(&path, &format!("with the key in {}: {error}", key.display())),
        None => failed(&path, &error.to_string()),
    })
}

fn identity(path: &Path, password: Option<String>, args: &ConnectionArgs) -> Result<Identity, Failure> {
    let file = read(path)?;
    let kind = args.cert_type.unwrap_or(CertType::Pem);
    if kind == CertType::P12 {
        let password = password.unwrap_or_default();
        let mut identity = of_pkcs12(path, &file, &password, args.key.is_none())?;
        if let Some(key) = &args.key {
            identity.key = read_key(key, args.key_type.unwrap_or(CertType::Pem), Some(&password))?;
        }
        return Ok(identity);
    }
    let chain = if kind == CertType::Der { pem(CERTIFICATE, &file) } else { file };
    let key = args.key.as_deref().unwrap_or(path);
    Ok(Identity { chain, key: read_key(key, args.key_type.unwrap_or(kind), password.as_deref())? })
}

/// `FILE:PASSWORD` as curl has it, if there is no file of the whole name.
fn path_and_password(given: &Path, pass: Option<&str>) -> (PathBuf, Option<String>) {
    let pass = pass.map(str::to_owned);
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((path, password)) if !given.exists() => {
            (path.into(), pass.or_else(|| Some(password.to_owned())))
        }
        _ => (given.to_owned(), pass),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(path.display(), &error).curl(OURS))
}

fn failed(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{}: {why}", path.display())).curl(OURS)
}

/// The first key of a PKCS #12 file (RFC 7292) and the certificates, that of the key before the others.
fn of_pkcs12(path: &Path, file: &[u8], password: &str, wants_key: bool) -> Result<Identity, Failure> {
    let archive =
        Pkcs12Archive::from_pkcs12(file, password).map_err(|error| failed(path, undecoded(&error)))?;
    let (key, mut certificates) = (archive.keys.first(), archive.certs);
    if certificates.is_empty() || (wants_key && key.is_none()) {
        return Err(failed(path, "it holds no certificate with its private key"));
    }
    let name = key.and_then(|key| Some(key.local_key_id.as_ref()?.as_ref()));
    certificates.sort_by_key(|bag| name.is_none() || bag.local_key_id.as_deref() != name);
    let chain = certificates.iter().flat_map(|bag| pem(CERTIFICATE, bag.cert.as_der())).collect();
    Ok(Identity { chain, key: key.map(|key| pem(PRIVATE_KEY, key.key.as_der())).unwrap_or_default() })
}

fn undecoded(error: &Pkcs12Error) -> &'static str {
    match error {
        Pkcs12Error::MacError(_) | Pkcs12Error::Pkcs5Error(_) | Pkcs12Error::UnpadError => {
            "the password is not that of the file"
        }
        Pkcs12Error::UnsupportedEncryptionScheme => "it is encrypted in a way that is not known",
        Pkcs12Error::InvalidParameters => "decrypting it would take more than 1,000,000 rounds, or 1 GiB",
        _ => "it is no PKCS #12 file that can be read",
    }
}

/// A private key as PEM that is not encrypted.
fn read_key(path: &Path, kind: CertType, password: Option<&str>) -> Result<Vec<u8>, Failure> {
    let file = read(path)?;
    if kind == CertType::Der {
        return Ok(pem(PRIVATE_KEY, &file));
    }
    if file.windows(ENCRYPTED_BEFORE.len()).any(|octets| octets == ENCRYPTED_BEFORE) {
        return Err(failed(
            path,
            "its private key is encrypted as before PKCS #8: openssl pkcs8 -topk8 writes it anew",
        ));
    }
    let Some(encrypted) = section(&file, ENCRYPTED) else { return Ok(file) };
    let password = match password {
        Some(password) => password.to_owned(),
        None => typed_password(&format!("Enter password for '{}': ", path.display()))
            .ok_or_else(|| failed(path, "its private key is encrypted: --pass gives the password"))?
            .map_err(|error| Failure::local("stdin", &error))?,
    };
    let key = decrypted(encrypted, &password).map_err(|error| failed(path, undecrypted(&error)))?;
    Ok(pem(PRIVATE_KEY, key.as_bytes()))
}

/// A key of the form `EncryptedPrivateKeyInfo` (RFC 5958 §3).
fn decrypted(section: &str, password: &str) -> pkcs8::Result<SecretDocument> {
    let (_, document) = SecretDocument::from_pem(section)?;
    EncryptedPrivateKeyInfoRef::try_from(document.as_bytes())?.decrypt(password)
}

fn undecrypted(error: &pkcs8::Error) -> &'static str {
    match error {
        pkcs8::Error::EncryptedPrivateKey(pkcs8::pkcs5::Error::DecryptFailed) => {
            "the password is not that of its private key"
        }
        // Wrong passwords may leave padding that seems right.
        pkcs8::Error::Asn1(_) => "its private key cannot be read, or the password is another one",
        _ => "its private key is encrypted in a way that is not known",
    }
}

/// The first section of a PEM text that is called so, with its marks (RFC 7468).
fn section<'t>(text: &'t [u8], label: &str) -> Option<&'t str> {
    let text = std::str::from_utf8(text).ok()?;
    let end = format!("-----END {label}-----");
    let begin = text.find(&format!("-----BEGIN {label}-----"))?;
    let length = text[begin..].find(&end)? + end.len();
    Some(&text[begin..begin + length])
}

fn pem(label: &str, octets: &[u8]) -> Vec<u8> {
    // It fails for lengths that no memory has.
    encode_string(label, LineEnding::LF, octets).unwrap_or_default().into_bytes()
}

#[cfg(test)]
mod tests {
    use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn the_certificate_of_the_key_stands_first() {
        let make = |name: &str| {
            let key = KeyPair::generate().unwrap();
            (CertificateParams::new([name.to_owned()]).unwrap().self_signed(&key).unwrap(), key)
        };
        let ((other, _), (own, key)) = (make("other"), make("own"));
        let read = |certificate: &rcgen::Certificate| Certificate::from_der(certificate.der()).unwrap();
        let chain =
            PrivateKeyChain::new("id", PrivateKey::from_der(&key.serialize_der()).unwrap(), [read(&own)]);
        let mut store = KeyStore::new();
        store.add_entry("a", KeyStoreEntry::Certificate(read(&other)));
        store.add_entry("b", KeyStoreEntry::PrivateKeyChain(chain));
        let file = store.writer("secret").write().unwrap();
        let archive = Pkcs12Archive::from_pkcs12(&file, "secret").unwrap();
        assert_eq!(archive.certs[0].cert.as_der(), &**other.der(), "the file has them in the other order");
        let identity = of_pkcs12(Path::new("a.p12"), &file, "secret", true).unwrap();
        let expected = [&own, &other].map(|certificate| pem(CERTIFICATE, certificate.der())).concat();
        assert_eq!(identity.chain, expected);
        assert_eq!(identity.key, pem(PRIVATE_KEY, &key.serialize_der()));
    }

    #[test]
    fn a_section_is_found_with_its_marks() {
        let text = b"words\r\n-----BEGIN A-----\r\nAAAA\r\n-----END A-----\r\n-----BEGIN B-----\nBBBB\n-----END B-----\n";
        assert_eq!(section(text, "A"), Some("-----BEGIN A-----\r\nAAAA\r\n-----END A-----"));
        assert_eq!(section(text, "B"), Some("-----BEGIN B-----\nBBBB\n-----END B-----"));
        assert_eq!(section(text, "C"), None);
        assert_eq!(section(b"-----END A----------BEGIN A-----", "A"), None);
    }
}
