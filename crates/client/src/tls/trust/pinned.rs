//! Public keys that were pinned: a server has to have one of them, whatever else its certificate says.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::{CertificateError, Error, OtherError, pki_types::CertificateDer, server::ParsedCertificate};

use alula_net::PinMismatch;

/// SHA-256 of a `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1).
pub(crate) type Pin = [u8; 32];

/// The keys of which a server has to have one.
#[derive(Clone, Debug, Default)]
pub(super) struct Pins(Vec<Pin>);

impl Pins {
    pub(super) fn extend(&mut self, pins: impl IntoIterator<Item = Pin>) {
        self.0.extend(pins);
    }

    /// Checks the key in a certificate, or one that is shown alone (RFC 7250 §3).
    pub(super) fn check(&self, end_entity: &CertificateDer<'_>, is_key_alone: bool) -> Result<(), Error> {
        let is_pinned = match is_key_alone {
            true => self.has(end_entity),
            false => self.has(&ParsedCertificate::try_from(end_entity)?.subject_public_key_info()),
        };
        match is_pinned {
            true => Ok(()),
            false => Err(CertificateError::Other(OtherError(Arc::new(PinMismatch))).into()),
        }
    }

    fn has(&self, key: &[u8]) -> bool {
        let hash = digest(&SHA256, key);
        self.0.iter().any(|pin| pin == hash.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};
    use rustls::{
        DigitallySignedStruct, SignatureScheme,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        pki_types::{ServerName, UnixTime},
    };

    use super::{
        super::verifier::{Trusted, Verifier},
        *,
    };

    /// Trusts anything, be it a certificate or a key alone.
    #[derive(Debug)]
    struct Trusting {
        takes_keys: bool,
    }

    impl ServerCertVerifier for Trusting {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::HandshakeNotComplete)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.verify_tls12_signature(message, certificate, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED448]
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.takes_keys
        }
    }

    #[test]
    fn keys_are_found_in_certificates_and_alone() {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
        let public = key.subject_public_key_info();
        let pin = digest(&SHA256, &public).as_ref().try_into().unwrap();
        let name = ServerName::try_from("a.example").unwrap();
        for (takes_keys, shown) in [(false, certificate.der().clone()), (true, public.into())] {
            for (pins, is_pinned) in [(vec![[0; 32], pin], true), (vec![[0; 32]], false), (vec![], false)] {
                let trusted = Trusted::Given(Arc::new(Trusting { takes_keys }));
                let pinned = Verifier { trusted, pins: Some(Pins(pins)) };
                let verified = pinned.verify_server_cert(&shown, &[], &name, &[], UnixTime::now());
                assert_eq!(verified.is_ok(), is_pinned, "{takes_keys}");
                assert_eq!(pinned.requires_raw_public_keys(), takes_keys);
                assert_eq!(pinned.supported_verify_schemes(), [SignatureScheme::ED448]);
            }
        }
    }
}
