//! The check of certificates: whether they lead to a root, and who is trusted without.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

/// Checks signatures, and certificates where they have to lead to a root.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) algorithms: WebPkiSupportedAlgorithms,
    /// The trusted roots; `None` accepts any certificate.
    pub(super) rooted: Option<Rooted>,
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
        let Some(rooted) = &self.rooted else {
            return Ok(ServerCertVerified::assertion());
        };
        match rooted.verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            Err(error) if is_authority_itself(&error) || is_of_unknown_issuer(&error) => {
                rooted.verify_itself(end_entity, server_name)
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

/// The roots that a certificate has to lead to. A certificate that was added by hand is trusted as well when
/// a server shows it as its own, for the names it holds: self-signed certificates are usually marked as
/// authorities, and no chain leads from such a certificate to itself, nor from that of a server whose
/// authority is unknown.
#[derive(Debug)]
pub(super) struct Rooted {
    pub(super) verifier: Arc<WebPkiServerVerifier>,
    pub(super) added: Vec<CertificateDer<'static>>,
    /// Lists say what is revoked; they are of authorities, and say nothing of a certificate without one.
    pub(super) has_lists: bool,
}

impl Rooted {
    /// Checks a certificate that leads nowhere. Before webpki looks for issuers it has found that the
    /// certificate holds at this time and, unless it is an authority's, for servers.
    fn verify_itself(
        &self,
        end_entity: &CertificateDer<'_>,
        server_name: &ServerName<'_>,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.added.contains(end_entity) {
            false => Err(CertificateError::UnknownIssuer.into()),
            true if self.has_lists => Err(CertificateError::UnknownRevocationStatus.into()),
            true => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
        }
    }
}

fn is_of_unknown_issuer(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer))
}

/// Returns true if the server showed an authority's certificate as its own. rustls hands the cause on as text
/// only.
fn is_authority_itself(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    other.0.to_string().contains("CaUsedAsEndEntity")
}
