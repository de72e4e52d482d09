//! Decryption of keys with a password: PBES2 with PBKDF2 and AES (RFC 8018 §6.2), as OpenSSL has written them
//! since 3.0.

use std::num::NonZeroU32;

use aws_lc_rs::{
    cipher::{
        self, AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey,
    },
    iv::FixedLength,
    pbkdf2::{self, PBKDF2_HMAC_SHA1, PBKDF2_HMAC_SHA256, PBKDF2_HMAC_SHA384, PBKDF2_HMAC_SHA512},
};

use super::der::{Der, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE};

const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 13];
const PBKDF2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 12];
/// `1.2.840.113549.2.N` for hashes, and `2.16.840.1.101.3.4.1.N` for AES in the mode CBC.
const HMAC_WITH: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2];
const AES: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1];
/// The largest number of iterations: more would take minutes.
const ITERATIONS_MAX: u32 = 10_000_000;

/// The reason for which decryption failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) enum Undecrypted {
    /// The encryption is not supported.
    Unknown,
    /// The password is wrong.
    Wrong,
}

/// An encryption scheme with its parameters.
struct Scheme<'a> {
    salt: &'a [u8],
    iterations: NonZeroU32,
    hash: pbkdf2::Algorithm,
    cipher: &'static cipher::Algorithm,
    key_bytes: usize,
    start: &'a [u8],
}

/// Decrypts bytes by the scheme in this content of an `AlgorithmIdentifier`.
pub(in crate::fetch) fn decrypt(
    algorithm: Der<'_>,
    bytes: &[u8],
    password: &str,
) -> Result<Vec<u8>, Undecrypted> {
    let scheme = scheme(algorithm).ok_or(Undecrypted::Unknown)?;
    let mut key = vec![0; scheme.key_bytes];
    pbkdf2::derive(scheme.hash, scheme.iterations, scheme.salt, password.as_bytes(), &mut key);
    let start = FixedLength::try_from(scheme.start).map_err(|_| Undecrypted::Unknown)?;
    let key = UnboundCipherKey::new(scheme.cipher, &key).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let mut bytes = bytes.to_vec();
    let decrypted =
        key.and_then(|key| Ok(key.decrypt(&mut bytes, DecryptionContext::Iv128(start))?.to_vec()));
    decrypted.map_err(|_| Undecrypted::Wrong)
}

fn scheme(mut algorithm: Der<'_>) -> Option<Scheme<'_>> {
    algorithm.take(OBJECT_IDENTIFIER).filter(|identifier| identifier.0 == PBES2)?;
    let mut parameters = algorithm.take(SEQUENCE)?;
    let (mut derivation, mut encryption) = (parameters.take(SEQUENCE)?, parameters.take(SEQUENCE)?);
    derivation.take(OBJECT_IDENTIFIER).filter(|identifier| identifier.0 == PBKDF2)?;
    let mut derivation = derivation.take(SEQUENCE)?;
    let salt = derivation.take(OCTET_STRING)?.0;
    let iterations = derivation.number().filter(|iterations| *iterations <= ITERATIONS_MAX)?;
    // The length of the key follows from the cipher.
    let _ = derivation.number();
    let hash = match derivation.take(SEQUENCE) {
        Some(mut hash) => hash.take(OBJECT_IDENTIFIER)?.0.strip_prefix(HMAC_WITH)?.to_vec(),
        // HMAC with SHA-1 is the default of the format (RFC 8018 §A.2).
        None => vec![7],
    };
    let hash = match hash[..] {
        [7] => PBKDF2_HMAC_SHA1,
        [9] => PBKDF2_HMAC_SHA256,
        [10] => PBKDF2_HMAC_SHA384,
        [11] => PBKDF2_HMAC_SHA512,
        _ => return None,
    };
    let (cipher, key_bytes) = match encryption.take(OBJECT_IDENTIFIER)?.0.strip_prefix(AES)? {
        [2] => (&AES_128, 16),
        [22] => (&AES_192, 24),
        [42] => (&AES_256, 32),
        _ => return None,
    };
    let start = encryption.take(OCTET_STRING)?.0;
    Some(Scheme { salt, iterations: NonZeroU32::new(iterations)?, hash, cipher, key_bytes, start })
}
