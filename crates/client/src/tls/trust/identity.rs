//! The certificate that a client shows to servers that ask for one, and the key that proves it.

use alula_net::Error;
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::pem;
use crate::tls::agreement;

/// Reads a chain of certificates and the private key of the first one.
pub(super) fn identity(chain: &[u8], key: &[u8]) -> Result<SingleCertAndKey, Error> {
    let (chain, key) = (pem::certificates(chain)?, pem::private_key(key)?);
    match CertifiedKey::from_der(chain, key, &agreement::provider()) {
        Ok(identity) => Ok(identity.into()),
        Err(error) => Err(Error::usage(unusable(&error))),
    }
}

const fn unusable(error: &rustls::Error) -> &'static str {
    match error {
        // The most frequent mistake: the files of two certificates were mixed up.
        rustls::Error::InconsistentKeys(_) => "the private key does not belong to the certificate",
        rustls::Error::InvalidCertificate(_) => pem::CERTIFICATE.broken,
        _ => "the private key is of a kind that is not known, or cannot be read",
    }
}
