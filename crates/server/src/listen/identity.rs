//! The certificate and key of a server.

use std::sync::Arc;

use alula_net::{Error, Speaks};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};

/// A certificate chain with its private key.
#[doc(alias("RustlsConfig", "TlsConfig", "certificate"))]
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    #[cfg(feature = "self-signed")]
    certificate_pem: Option<Arc<str>>,
}

impl Identity {
    /// Parses PEM texts: the certificate chain, the server's own certificate first, and its private key. The
    /// first identity of a process takes some 25 ms, in which random bytes are gathered.
    ///
    /// # Errors
    /// A text cannot be read or holds nothing, or the key is not the certificate's.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
    /// use alula::{Identity, Server};
    ///
    /// let identity = Identity::from_pem(&std::fs::read("cert.pem")?, &std::fs::read("key.pem")?)?;
    /// let server = Server::builder().identity(identity).bind("127.0.0.1:8443").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, Error> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.map_err(|_| {
            Error::usage("the PEM text holds a certificate that cannot be read: is it complete?")
        })?;
        if chain.is_empty() {
            return Err(Error::usage(
                "the first text holds no PEM certificate: pass what the file holds, not its name",
            ));
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| Error::usage("the PEM text holds no private key that can be read"))?;
        Self::new(chain, key)
    }

    /// Asks clients for a certificate, and accepts those that lead to one of these authorities (PEM);
    /// connections with another certificate fail. A client that shows none is served as well: ask
    /// [`Exchange::read_peer_certificate`](crate::Exchange::read_peer_certificate) who it is. Lists of
    /// certificates that were revoked are not looked at.
    ///
    /// ```no_run
    /// # fn main_() -> Result<(), Box<dyn std::error::Error>> {
    /// use alula::Identity;
    ///
    /// let identity = Identity::from_pem(&std::fs::read("cert.pem")?, &std::fs::read("key.pem")?)?;
    /// let identity = identity.client_authorities_pem(&std::fs::read("clients.pem")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The text holds no certificate of an authority that can be read.
    #[doc(alias("mtls", "client_auth", "verify_client"))]
    pub fn client_authorities_pem(mut self, authorities: &[u8]) -> Result<Self, Error> {
        let mistake = || Error::usage("the PEM text holds no certificate of an authority that can be read");
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            roots.add(certificate.map_err(|_| mistake())?).map_err(|_| mistake())?;
        }
        let provider = self.config.crypto_provider().clone();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let verifier = verifier.allow_unauthenticated().build().map_err(|_| mistake())?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| Error::usage("the TLS provider has no protocol version"))?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(self.config.cert_resolver.clone());
        config.alpn_protocols.clone_from(&self.config.alpn_protocols);
        self.config = Arc::new(config);
        Ok(self)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, Error> {
        Self::with_provider(aws_lc_rs::default_provider(), chain, key)
    }

    fn with_provider(
        provider: CryptoProvider,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, Error> {
        gather_entropy(&provider)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|_| Error::usage("the TLS provider has no protocol version"))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|_| Error::usage("the private key does not belong to the certificate"))?;
        config.alpn_protocols = Speaks::default().alpn();
        Ok(Self {
            config: Arc::new(config),
            #[cfg(feature = "self-signed")]
            certificate_pem: None,
        })
    }

    /// Builds the TLS configuration, which offers the spoken versions by ALPN.
    pub(crate) fn config(&self, speaks: Speaks) -> Arc<ServerConfig> {
        let alpn_protocols = speaks.alpn();
        if self.config.alpn_protocols == alpn_protocols {
            return self.config.clone();
        }
        let mut config = (*self.config).clone();
        config.alpn_protocols = alpn_protocols;
        Arc::new(config)
    }
}

/// Asks for random bytes. The first time costs aws-lc 25 ms of computing, which no peer need wait for.
fn gather_entropy(provider: &CryptoProvider) -> Result<(), Error> {
    let filled = provider.secure_random.fill(&mut [0]);
    filled.map_err(|_| Error::usage("the system has no random bytes"))
}

#[cfg(feature = "self-signed")]
impl Identity {
    /// Creates a self-signed certificate for these names, for tests and debugging. Its subject is the first
    /// name, and it is good for a year from now, and for the day before, as far as clocks differ.
    ///
    /// # Errors
    /// A name is not one that a certificate can hold.
    pub fn self_signed(names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, Error> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (certificate, key) = signed_by_itself(names)
            .map_err(|_| Error::usage("no certificate can be made for these names"))?;
        let key = PrivateKeyDer::try_from(key.serialize_der())
            .map_err(|_| Error::usage("no certificate can be made for these names"))?;
        let mut identity = Self::new(vec![certificate.der().clone()], key)?;
        identity.certificate_pem = Some(certificate.pem().into());
        Ok(identity)
    }

    /// Returns the self-signed certificate as PEM, for clients to trust.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.certificate_pem.as_deref()
    }
}

#[cfg(feature = "self-signed")]
fn signed_by_itself(names: Vec<String>) -> Result<(rcgen::Certificate, rcgen::KeyPair), rcgen::Error> {
    const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    /// The latest time that a certificate can state; a clock beyond it is wrong.
    const LATEST: std::time::Duration = std::time::Duration::from_secs(7000 * 365 * 24 * 60 * 60);

    let subject = names.first().cloned().unwrap_or_default();
    let mut params = rcgen::CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "Alula, self-signed");
    // A common name has 64 characters at most (RFC 5280, appendix A).
    if subject.len() <= 64 {
        params.distinguished_name.push(rcgen::DnType::CommonName, subject);
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let now = rcgen::date_time_ymd(1970, 1, 1) + since.min(LATEST);
    (params.not_before, params.not_after) = (now - DAY, now + 365 * DAY);
    let key = rcgen::KeyPair::generate()?;
    Ok((params.self_signed(&key)?, key))
}

#[cfg(all(test, feature = "self-signed"))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use rustls::crypto::{GetRandomFailed, SecureRandom};

    use super::*;

    /// Counts how often it was asked.
    #[derive(Debug)]
    struct Counted(AtomicUsize);

    impl SecureRandom for Counted {
        fn fill(&self, _: &mut [u8]) -> Result<(), GetRandomFailed> {
            self.0.fetch_add(1, Relaxed);
            Ok(())
        }
    }

    /// The first work of the source takes long.
    #[test]
    fn random_bytes_were_asked_for_before_the_first_peer_comes() {
        static RANDOM: Counted = Counted(AtomicUsize::new(0));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = CryptoProvider { secure_random: &RANDOM, ..aws_lc_rs::default_provider() };
        Identity::with_provider(provider, vec![made.cert.der().clone()], key).unwrap();
        assert_eq!(RANDOM.0.load(Relaxed), 1);
    }

    /// Names of files in place of their content, and the two texts the wrong way round.
    #[test]
    fn a_text_without_a_certificate_is_named() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        for (first, second, sentence) in [
            ("cert.pem", "key.pem", "the first text holds no PEM certificate"),
            ("cert.pem", &*key, "the first text holds no PEM certificate"),
            (&*key, &*certificate, "the first text holds no PEM certificate"),
            ("", "", "the first text holds no PEM certificate"),
            (&*certificate, "key.pem", "holds no private key"),
            (&*certificate, &*certificate, "holds no private key"),
        ] {
            let error =
                Identity::from_pem(first.as_bytes(), second.as_bytes()).expect_err("a mistake").to_string();
            assert!(error.contains(sentence), "{error}");
        }
        assert!(Identity::from_pem(certificate.as_bytes(), key.as_bytes()).is_ok());
    }

    #[test]
    fn a_text_without_an_authority_is_named() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        for text in
            ["", "clients.pem", &*key, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
        {
            let identity = Identity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
            let Err(error) = identity.client_authorities_pem(text.as_bytes()) else { panic!("{text}") };
            assert!(error.to_string().contains("no certificate of an authority"), "{error}");
        }
    }
}
