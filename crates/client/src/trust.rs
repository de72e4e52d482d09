//! Whom a client trusts: the platform's roots, roots added by hand, or (for tests) anybody.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};

use crate::Error;

#[derive(Clone, Default)]
pub(crate) struct Trust {
    added: Vec<CertificateDer<'static>>,
    anything: bool,
}

impl Trust {
    pub(crate) fn add_pem(&mut self, pem: &[u8]) -> Result<(), Error> {
        let before = self.added.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            self.added.push(
                certificate
                    .map_err(|_| Error::usage("the PEM text holds a certificate that cannot be read"))?,
            );
        }
        if self.added.len() == before {
            return Err(Error::usage("the PEM text holds no certificate"));
        }
        Ok(())
    }

    pub(crate) fn trust_anything(&mut self) {
        self.anything = true;
    }

    /// A TLS configuration that offers `h2` by ALPN.
    pub(crate) fn config(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|_| Error::usage("the TLS provider has no protocol version"))?;
        let mut config = if self.anything {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Anything(provider)))
                .with_no_client_auth()
        } else {
            builder.with_root_certificates(self.roots()?).with_no_client_auth()
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for certificate in &self.added {
            let added = roots.add(certificate.clone());
            added.map_err(|_| Error::usage("a certificate added as root cannot be read"))?;
        }
        if roots.is_empty() {
            return Err(Error::usage("the platform has no trusted roots: add some"));
        }
        Ok(roots)
    }
}

/// Trusts any certificate; signatures are still checked.
#[derive(Debug)]
struct Anything(Arc<CryptoProvider>);

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
