//! The client's certificate and its key: PEM, DER or PKCS #12, with a password or without.

use std::{
    fs,
    path::{Path, PathBuf},
};

use alula::ClientBuilder;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    der::{Der, EXPLICIT_0, IMPLICIT_0, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE},
    pbes2::{Undecrypted, decrypt},
};
use crate::{
    args::{CertType, ConnectionArgs, typed_password},
    failure::exit::{Exit, Failure},
};

/// curl's exit code for an unusable client certificate.
const OURS: u8 = 58;

const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
/// The line of a key that OpenSSL encrypted in its old form, with MD5 of the password.
const ENCRYPTED_BEFORE: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// The content types of PKCS #12 (RFC 7292 §4, RFC 5652 §4 and §8), and of its bags.
const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
const ENCRYPTED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 6];
const BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1];
const KEY_BAG: u8 = 1;
const SHROUDED_KEY_BAG: u8 = 2;
const CERTIFICATE_BAG: u8 = 3;

/// A certificate chain and the key of its first certificate, as PEM.
struct Identity {
    chain: Vec<u8>,
    key: Vec<u8>,
}

/// Adds the certificate of the flags, if there is one, to a client.
pub(in crate::fetch) fn showing(
    builder: ClientBuilder,
    args: &ConnectionArgs,
) -> Result<ClientBuilder, Failure> {
    let Some(given) = &args.cert else { return Ok(builder) };
    let (path, password) = path_and_password(given, args.pass.as_deref());
    let Identity { chain, key } = identity(&path, password, args)?;
    if section(&chain, CERTIFICATE).is_none() && section(&chain, PRIVATE_KEY).is_some() {
        return Err(failed(&path, "it holds no certificate in PEM but a private key, which --key takes"));
    }
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
        let mut identity = Contents::of_file(&file, &password).map_err(|why| refused(path, why))?;
        if let Some(key) = &args.key {
            identity.key = read_key(key, args.key_type.unwrap_or(CertType::Pem), Some(&password))?;
        }
        return Ok(identity);
    }
    let chain = if kind == CertType::Der { pem(CERTIFICATE, &file).into_bytes() } else { file };
    let key_path = args.key.as_deref().unwrap_or(path);
    let key = read_key(key_path, args.key_type.unwrap_or(kind), password.as_deref())?;
    Ok(Identity { chain, key })
}

/// Splits `FILE:PASSWORD` as curl does, unless a file has the whole name.
fn path_and_password(given: &Path, pass: Option<&str>) -> (PathBuf, Option<String>) {
    let pass = pass.map(str::to_owned);
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        // A file may have a colon in its name, which goes before the reading as a password.
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

fn refused(path: &Path, why: Undecrypted) -> Failure {
    failed(
        path,
        match why {
            Undecrypted::Wrong => "the password is not that of its private key",
            Undecrypted::Unknown => "it is not written as OpenSSL does since 3.0: PBES2 with AES",
        },
    )
}

/// Reads a private key as decrypted PEM.
fn read_key(path: &Path, kind: CertType, password: Option<&str>) -> Result<Vec<u8>, Failure> {
    let file = read(path)?;
    if kind == CertType::Der {
        return Ok(pem(PRIVATE_KEY, &file).into_bytes());
    }
    if file.windows(ENCRYPTED_BEFORE.len()).any(|bytes| bytes == ENCRYPTED_BEFORE) {
        let why = "its private key is encrypted as before PKCS #8: openssl pkcs8 -topk8 writes it anew";
        return Err(failed(path, why));
    }
    // The library reads every other kind of key by itself.
    let Some(encrypted) = section(&file, ENCRYPTED) else { return Ok(file) };
    let password = match password {
        Some(password) => password.to_owned(),
        None => typed_password(&format!("Enter password for '{}': ", path.display()))
            .ok_or_else(|| failed(path, "its private key is encrypted: --pass gives the password"))?
            .map_err(|error| Failure::local("stdin", &error))?,
    };
    let key = shrouded(&encrypted, &password).map_err(|why| refused(path, why))?;
    Ok(pem(PRIVATE_KEY, &key).into_bytes())
}

/// Decrypts a key in `EncryptedPrivateKeyInfo` (RFC 5958 §3).
fn shrouded(bytes: &[u8], password: &str) -> Result<Vec<u8>, Undecrypted> {
    let parts =
        Der(bytes).take(SEQUENCE).and_then(|mut info| Some((info.take(SEQUENCE)?, info.take(OCTET_STRING)?)));
    let (algorithm, key) = parts.ok_or(Undecrypted::Unknown)?;
    let key = decrypt(algorithm, key.0, password)?;
    // Wrong passwords may leave padding that seems right.
    Der(&key).take(SEQUENCE).ok_or(Undecrypted::Wrong)?;
    Ok(key)
}

/// Returns the first section of a PEM text with this label (RFC 7468).
fn section(text: &[u8], label: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (inner, _) = rest.split_once(&format!("-----END {label}-----"))?;
    STANDARD.decode(inner.split_ascii_whitespace().collect::<String>()).ok()
}

fn pem(label: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// The certificates and the key in a PKCS #12 file.
#[derive(Default)]
struct Contents {
    chain: String,
    key: Option<Vec<u8>>,
}

impl Contents {
    /// Reads the certificates and the key of the file. Its own proof that it is whole is not checked: the key
    /// has to be that of the certificate.
    fn of_file(bytes: &[u8], password: &str) -> Result<Identity, Undecrypted> {
        let mut found = Self::default();
        let safes = safes(bytes).ok_or(Undecrypted::Unknown)?;
        found.take_safes(safes, password)?;
        match found.key {
            Some(key) if !found.chain.is_empty() => {
                Ok(Identity { chain: found.chain.into_bytes(), key: pem(PRIVATE_KEY, &key).into_bytes() })
            }
            _ => Err(Undecrypted::Unknown),
        }
    }

    fn take_safes(&mut self, mut safes: Der<'_>, password: &str) -> Result<(), Undecrypted> {
        while let Some(safe) = safes.take(SEQUENCE) {
            let bags = contents_of(safe, password)?;
            let mut all = Der(&bags).take(SEQUENCE).ok_or(Undecrypted::Wrong)?;
            while let Some(bag) = all.take(SEQUENCE) {
                self.take_bag(bag, password)?;
            }
        }
        Ok(())
    }

    fn take_bag(&mut self, mut bag: Der<'_>, password: &str) -> Result<(), Undecrypted> {
        let parts = (bag.take(OBJECT_IDENTIFIER), bag.take(EXPLICIT_0));
        let (Some(kind), Some(value)) = parts else { return Err(Undecrypted::Unknown) };
        match kind.0.strip_prefix(BAG) {
            Some([KEY_BAG]) => self.key = Some(value.0.to_vec()),
            Some([SHROUDED_KEY_BAG]) => self.key = Some(shrouded(value.0, password)?),
            Some([CERTIFICATE_BAG]) => {
                let certificate = certificate(value).ok_or(Undecrypted::Unknown)?;
                self.chain += &pem(CERTIFICATE, certificate);
            }
            // Lists of revoked certificates, and secrets of other kinds.
            _ => {}
        }
        Ok(())
    }
}

/// Returns the safes of the file (RFC 7292 §4).
fn safes(bytes: &[u8]) -> Option<Der<'_>> {
    let mut file = Der(bytes).take(SEQUENCE)?;
    file.take(INTEGER)?;
    let mut info = file.take(SEQUENCE)?;
    info.take(OBJECT_IDENTIFIER).filter(|kind| kind.0 == DATA)?;
    info.take(EXPLICIT_0)?.take(OCTET_STRING)?.take(SEQUENCE)
}

/// Returns the bags of a safe, decrypted if necessary.
fn contents_of(mut safe: Der<'_>, password: &str) -> Result<Vec<u8>, Undecrypted> {
    let parts = (safe.take(OBJECT_IDENTIFIER), safe.take(EXPLICIT_0));
    let (Some(kind), Some(mut content)) = parts else { return Err(Undecrypted::Unknown) };
    match kind.0 {
        DATA => content.take(OCTET_STRING).map(|bags| bags.0.to_vec()).ok_or(Undecrypted::Unknown),
        ENCRYPTED_DATA => {
            let (algorithm, bytes) = encrypted(content).ok_or(Undecrypted::Unknown)?;
            decrypt(algorithm, bytes, password)
        }
        _ => Err(Undecrypted::Unknown),
    }
}

/// Returns the algorithm and the bytes of `EncryptedData` (RFC 5652 §8).
fn encrypted(mut content: Der<'_>) -> Option<(Der<'_>, &[u8])> {
    let mut data = content.take(SEQUENCE)?;
    data.take(INTEGER)?;
    let mut info = data.take(SEQUENCE)?;
    info.take(OBJECT_IDENTIFIER)?;
    Some((info.take(SEQUENCE)?, info.take_any([IMPLICIT_0, EXPLICIT_0])?.0))
}

fn certificate(mut value: Der<'_>) -> Option<&[u8]> {
    let mut bag = value.take(SEQUENCE)?;
    bag.take(OBJECT_IDENTIFIER)?;
    Some(bag.take(EXPLICIT_0)?.take(OCTET_STRING)?.0)
}
