//! Trust in servers when flags say more of it than `-k`: certificates of their own, lists of revoked ones, pinned keys.
//!
//! Without such flags the library decides, which reads the platform's certificates when the first of them is needed.

use std::{fs, path::Path, sync::Arc};

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{
        WebPkiSupportedAlgorithms, aws_lc_rs::default_provider, verify_tls12_signature,
        verify_tls13_signature,
    },
    pki_types::{
        CertificateDer, CertificateRevocationListDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
        pem::PemObject as _,
    },
    server::ParsedCertificate,
};

use crate::{
    args::ConnectionArgs,
    exit::{Exit, Failure},
    pin::PinMismatch,
};

/// curl's numbers for a file of certificates, one of revoked ones, and a pinned key.
const CACERT: u8 = 77;
const CRL: u8 = 82;
const PIN: u8 = 90;

/// Checks certificates as the flags say.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// None with -k.
    rooted: Option<Arc<WebPkiServerVerifier>>,
    /// Those that the flags name. A server may show one of them as its own.
    named: Vec<CertificateDer<'static>>,
    /// SHA-256 of the public keys one of which the server has to have; any if there is none.
    pins: Vec<Vec<u8>>,
}

/// The verifier that the flags mean; nothing if they leave it to the library.
pub(super) fn verifier(args: &ConnectionArgs) -> Result<Option<Arc<dyn ServerCertVerifier>>, Failure> {
    let has_roots = args.cacert.is_some() || args.capath.is_some();
    if !has_roots && args.crlfile.is_none() && args.pinnedpubkey.is_none() {
        return Ok(None);
    }
    let named = named_roots(args)?;
    let rooted = if args.insecure { None } else { Some(rooted(args, &named, !has_roots || args.ca_native)?) };
    let pins = args.pinnedpubkey.as_deref().map(pins).transpose()?.unwrap_or_default();
    let algorithms = default_provider().signature_verification_algorithms;
    Ok(Some(Arc::new(Verifier { algorithms, rooted, named, pins })))
}

/// The certificates of --cacert and --capath.
fn named_roots(args: &ConnectionArgs) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let mut all = Vec::new();
    if let Some(path) = &args.cacert {
        all = certificates(&read(path, CACERT)?);
        if all.is_empty() {
            let why = format!("{}: it holds no PEM certificate that can be read", path.display());
            return Err(Failure::new(Exit::Usage, why).curl(CACERT));
        }
    }
    if let Some(folder) = &args.capath {
        let failed = |error| Failure::local(folder.display(), &error).curl(CACERT);
        for entry in fs::read_dir(folder).map_err(failed)? {
            // A file that cannot be read holds no certificate.
            let text = fs::read(entry.map_err(failed)?.path()).unwrap_or_default();
            all.extend(certificates(&text));
        }
    }
    Ok(all)
}

fn certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect()
}

fn read(path: &Path, curl: u8) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(path.display(), &error).curl(curl))
}

fn rooted(
    args: &ConnectionArgs,
    named: &[CertificateDer<'static>],
    with_platform: bool,
) -> Result<Arc<WebPkiServerVerifier>, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(named.iter().cloned());
    if with_platform {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if roots.is_empty() {
        return Err(Failure::new(Exit::Usage, "there is no certificate to trust").curl(60));
    }
    let mut revoked = Vec::new();
    if let Some(path) = &args.crlfile {
        let text = read(path, CRL)?;
        revoked.extend(CertificateRevocationListDer::pem_slice_iter(&text).filter_map(Result::ok));
        if revoked.is_empty() {
            let why = format!("{}: it holds no PEM list of revoked certificates", path.display());
            return Err(Failure::new(Exit::Usage, why).curl(CRL));
        }
    }
    let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
    builder.with_crls(revoked).build().map_err(|error| {
        Failure::new(Exit::Usage, format!("the certificates to trust cannot be used: {error}")).curl(CRL)
    })
}

/// The hashes of `sha256//…;sha256//…`, or that of the key in a file.
fn pins(given: &str) -> Result<Vec<Vec<u8>>, Failure> {
    if !given.starts_with("sha256//") {
        let text = read(Path::new(given), PIN)?;
        let key = SubjectPublicKeyInfoDer::from_pem_slice(&text).map_or(text, |key| key.to_vec());
        return Ok(vec![sha256(&key)]);
    }
    let pin = |text: &str| STANDARD.decode(text.strip_prefix("sha256//")?).ok();
    let pins: Option<Vec<Vec<u8>>> = given.split(';').map(pin).collect();
    pins.ok_or_else(|| {
        Failure::new(Exit::Usage, "--pinnedpubkey is written as sha256//BASE64, or as a file").curl(PIN)
    })
}

fn sha256(octets: &[u8]) -> Vec<u8> {
    digest(&SHA256, octets).as_ref().to_vec()
}

impl Verifier {
    fn check_trust(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        let Some(rooted) = &self.rooted else { return Ok(()) };
        match rooted.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
            // Certificates that were signed by themselves are marked as authorities, and no chain leads from one to itself.
            Err(error) if is_authority_itself(&error) => match self.named.contains(end_entity) {
                true => verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name),
                false => Err(CertificateError::UnknownIssuer.into()),
            },
            result => result.map(drop),
        }
    }

    fn check_pin(&self, end_entity: &CertificateDer<'_>) -> Result<(), Error> {
        let key = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
        match self.pins.is_empty() || self.pins.contains(&sha256(&key)) {
            true => Ok(()),
            false => Err(CertificateError::Other(OtherError(Arc::new(PinMismatch))).into()),
        }
    }
}

/// Returns true if the server showed an authority's certificate as its own. rustls hands the cause on as text only.
fn is_authority_itself(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    other.0.to_string().contains("CaUsedAsEndEntity")
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check_trust(end_entity, intermediates, server_name, ocsp, now)?;
        self.check_pin(end_entity)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
