//! Public keys that were pinned: a server has to have one of them, whatever else its certificate says.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use alula_net::PinMismatch;

/// SHA-256 of a `SubjectPublicKeyInfo` in DER (RFC 5280 §4.1).
pub(crate) type Pin = [u8; 32];

/// Asks another verifier, and then looks whether the certificate has one of the keys.
#[derive(Debug)]
pub(super) struct Pinned {
    inner: Arc<dyn ServerCertVerifier>,
    pins: Vec<Pin>,
}

impl Pinned {
    pub(super) fn new(inner: Arc<dyn ServerCertVerifier>, pins: Vec<Pin>) -> Self {
        Self { inner, pins }
    }

    fn has(&self, key: &[u8]) -> bool {
        let hash = digest(&SHA256, key);
        self.pins.iter().any(|pin| pin == hash.as_ref())
    }

    fn is_pinned(&self, end_entity: &CertificateDer<'_>) -> Result<bool, Error> {
        // The server shows its key alone then (RFC 7250 §3).
        if self.inner.requires_raw_public_keys() {
            return Ok(self.has(end_entity));
        }
        Ok(self.has(&ParsedCertificate::try_from(end_entity)?.subject_public_key_info()))
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp, now)?;
        match self.is_pinned(end_entity)? {
            true => Ok(verified),
            false => Err(CertificateError::Other(OtherError(Arc::new(PinMismatch))).into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.inner.requires_raw_public_keys()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.inner.root_hint_subjects()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};

    use super::*;

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
                let pinned = Pinned::new(Arc::new(Trusting { takes_keys }), pins);
                let verified = pinned.verify_server_cert(&shown, &[], &name, &[], UnixTime::now());
                assert_eq!(verified.is_ok(), is_pinned, "{takes_keys}");
                assert_eq!(pinned.requires_raw_public_keys(), takes_keys);
                assert_eq!(pinned.supported_verify_schemes(), [SignatureScheme::ED448]);
            }
        }
    }
}
