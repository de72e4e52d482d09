//! The check of certificates: whether they lead to a root, who is trusted without, and the keys that were
//! pinned.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use super::pinned::Pins;

/// Checks the certificates of servers: whom they are to be trusted by, and then for the keys that were
/// pinned.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) trusted: Trusted,
    /// The pinned keys; `None` accepts any key.
    pub(super) pins: Option<Pins>,
}

/// The certificates that are trusted.
#[derive(Debug)]
pub(super) enum Trusted {
    /// Any; signatures have to be right all the same.
    Anything(WebPkiSupportedAlgorithms),
    Rooted(Rooted),
    /// Those that a verifier of the program takes.
    Given(Arc<dyn ServerCertVerifier>),
}

impl Verifier {
    /// Returns the verifier that all else is asked of, or the algorithms where anything is trusted.
    fn asked(&self) -> Result<&dyn ServerCertVerifier, &WebPkiSupportedAlgorithms> {
        match &self.trusted {
            Trusted::Anything(algorithms) => Err(algorithms),
            Trusted::Rooted(rooted) => Ok(&*rooted.verifier),
            Trusted::Given(given) => Ok(&**given),
        }
    }
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
        let verified = self.asked().map_or(Ok(ServerCertVerified::assertion()), |asked| {
            asked.verify_server_cert(end_entity, intermediates, server_name, ocsp, now)
        });
        let verified = match (verified, &self.trusted) {
            (Err(error), Trusted::Rooted(rooted))
                if is_authority_itself(&error) || is_of_unknown_issuer(&error) =>
            {
                rooted.verify_itself(end_entity, server_name)?
            }
            (verified, _) => verified?,
        };
        // A pin is asked for beside trust, not in place of it.
        self.pins.as_ref().map_or(Ok(()), |pins| pins.check(end_entity, self.requires_raw_public_keys()))?;
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match self.asked() {
            Ok(asked) => asked.verify_tls12_signature(message, certificate, signed),
            Err(algorithms) => verify_tls12_signature(message, certificate, signed, algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        match self.asked() {
            Ok(asked) => asked.verify_tls13_signature(message, certificate, signed),
            Err(algorithms) => verify_tls13_signature(message, certificate, signed, algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let schemes = ServerCertVerifier::supported_verify_schemes;
        self.asked().map_or_else(WebPkiSupportedAlgorithms::supported_schemes, schemes)
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.asked().is_ok_and(|asked| asked.requires_raw_public_keys())
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.asked().ok()?.root_hint_subjects()
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
