//! Whom a client trusts: the platform's roots, roots added by hand, or (for tests) anybody; and who it says it is itself.

use std::sync::Arc;

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, KeyLogFile, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
    version::{TLS12, TLS13},
};

use alula_net::Speaks;

use crate::{Error, agreement};

#[derive(Clone, Default)]
pub(crate) struct Trust {
    added: Vec<CertificateDer<'static>>,
    anything: bool,
    identity: Option<Arc<Identity>>,
    logs_keys: bool,
    /// All that are known unless one is named.
    only_version: Option<&'static SupportedProtocolVersion>,
    /// In place of the roots.
    verifier: Option<Arc<dyn ServerCertVerifier>>,
}

/// The certificate of the client, for servers that ask.
struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Trust {
    pub(crate) fn add_pem(&mut self, pem: &[u8]) -> Result<(), Error> {
        self.added.extend(certificates(pem)?);
        Ok(())
    }

    pub(crate) fn trust_anything(&mut self) {
        self.anything = true;
    }

    pub(crate) fn show_pem(&mut self, chain: &[u8], key: &[u8]) -> Result<(), Error> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| Error::usage("the PEM text holds no private key that can be read"))?;
        self.identity = Some(Arc::new(Identity { chain, key }));
        Ok(())
    }

    pub(crate) fn log_keys(&mut self) {
        self.logs_keys = true;
    }

    pub(crate) fn take_only(&mut self, version: &'static SupportedProtocolVersion) {
        self.only_version = Some(version);
    }

    pub(crate) fn ask(&mut self, verifier: Arc<dyn ServerCertVerifier>) {
        self.verifier = Some(verifier);
    }

    /// A TLS configuration that offers by ALPN what is spoken. Sessions are resumed over all connections made with it
    /// (RFC 8446 §2.2): rustls keeps what 256 servers have given.
    pub(crate) fn config(&self, speaks: Speaks) -> Result<ClientConfig, Error> {
        let provider = Arc::new(agreement::provider());
        let verifier = self.verifier(&provider)?;
        let only = self.only_version.as_ref().map(std::slice::from_ref);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(only.unwrap_or(&[&TLS13, &TLS12]))
            .map_err(|_| Error::usage("the TLS provider has no protocol version"))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            Some(identity) => builder
                .with_client_auth_cert(identity.chain.clone(), identity.key.clone_key())
                .map_err(|_| Error::usage("the private key does not belong to the client's certificate"))?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = speaks.alpn();
        if self.logs_keys {
            config.key_log = Arc::new(KeyLogFile::new());
        }
        Ok(config)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        if let Some(verifier) = self.verifier.as_ref().filter(|_| !self.anything) {
            return Ok(verifier.clone());
        }
        Ok(Arc::new(Verifier {
            algorithms: provider.signature_verification_algorithms,
            rooted: if self.anything { None } else { Some(self.rooted(provider.clone())?) },
        }))
    }

    fn rooted(&self, provider: Arc<CryptoProvider>) -> Result<Rooted, Error> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider).build();
        let verifier = verifier.map_err(|_| Error::usage("the trusted roots cannot be used"))?;
        Ok(Rooted { verifier, added: self.added.clone() })
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

/// The certificates of a PEM text; one at least.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(Error::usage("the PEM text holds no certificate")),
        Ok(certificates) => Ok(certificates),
        Err(_) => Err(Error::usage("the PEM text holds a certificate that cannot be read: is it complete?")),
    }
}

/// Checks signatures, and certificates where they have to lead to a root.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// None trusts any certificate.
    rooted: Option<Rooted>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(Rooted { verifier, added }) = &self.rooted else {
            return Ok(ServerCertVerified::assertion());
        };
        match verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            Err(error) if is_authority_itself(&error) => {
                if !added.contains(end_entity) {
                    return Err(CertificateError::UnknownIssuer.into());
                }
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The roots that a certificate has to lead to. A root that was added by hand is trusted as well when a server shows the root
/// itself, for the names it holds: self-signed certificates are usually marked as authorities, and no chain leads from such a
/// certificate to itself.
#[derive(Debug)]
struct Rooted {
    verifier: Arc<WebPkiServerVerifier>,
    added: Vec<CertificateDer<'static>>,
}

/// Returns true if the server showed an authority's certificate as its own. rustls hands the cause on as text only.
fn is_authority_itself(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    other.0.to_string().contains("CaUsedAsEndEntity")
}

/// The name that a certificate is to be for.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| Error::usage("the host is neither a DNS name nor an IP address, so that no certificate can be checked for it (RFC 6066 §3)"))
}
