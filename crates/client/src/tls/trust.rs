//! The servers that a client trusts: by the platform's roots, by added ones, or (for tests) all; and its own
//! certificate.

use std::sync::Arc;

use rustls::{
    CipherSuite, ClientConfig, KeyLogFile, NamedGroup, RootCertStore, SupportedProtocolVersion,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, CertificateRevocationListDer, ServerName},
    sign::SingleCertAndKey,
    version::{TLS12, TLS13},
};

use alula_net::{Error, Speaks};

use crate::tls::agreement;
use identity::identity;
use pinned::{Pin, Pins};
use verifier::{Rooted, Trusted, Verifier};

mod identity;
mod pem;
mod pinned;
mod verifier;

#[derive(Clone, Default)]
pub(crate) struct Trust {
    leaves_platform_out: bool,
    added: Vec<CertificateDer<'static>>,
    revoked: Vec<CertificateRevocationListDer<'static>>,
    /// The pinned keys; `None` accepts any key.
    pins: Option<Pins>,
    anything: bool,
    identity: Option<Arc<SingleCertAndKey>>,
    logs_keys: bool,
    /// The only TLS version offered; `None` offers all that are known.
    only_version: Option<&'static SupportedProtocolVersion>,
    /// The cipher suites in the order in which they are offered; if empty, all that are known. The same
    /// holds for `groups`.
    suites: Vec<CipherSuite>,
    groups: Vec<NamedGroup>,
    /// The verifier that replaces the roots.
    verifier: Option<Arc<dyn ServerCertVerifier>>,
}

impl Trust {
    pub(crate) fn add_pem(&mut self, pem: &[u8]) -> Result<(), Error> {
        self.added.extend(pem::roots(pem)?);
        Ok(())
    }

    pub(crate) fn take_platform(&mut self, is_trusted: bool) {
        self.leaves_platform_out = !is_trusted;
    }

    pub(crate) fn revoke_pem(&mut self, pem: &[u8]) -> Result<(), Error> {
        self.revoked.extend(pem::revocation_lists(pem)?);
        Ok(())
    }

    pub(crate) fn pin(&mut self, pins: impl IntoIterator<Item = Pin>) {
        self.pins.get_or_insert_default().extend(pins);
    }

    pub(crate) fn trust_anything(&mut self) {
        self.anything = true;
    }

    pub(crate) fn show_pem(&mut self, chain: &[u8], key: &[u8]) -> Result<(), Error> {
        self.identity = Some(Arc::new(identity(chain, key)?));
        Ok(())
    }

    pub(crate) fn log_keys(&mut self) {
        self.logs_keys = true;
    }

    pub(crate) fn take_only(&mut self, version: &'static SupportedProtocolVersion) {
        self.only_version = Some(version);
    }

    pub(crate) fn offer_suites(&mut self, suites: Vec<CipherSuite>) {
        self.suites = suites;
    }

    pub(crate) fn offer_groups(&mut self, groups: Vec<NamedGroup>) {
        self.groups = groups;
    }

    pub(crate) fn ask(&mut self, verifier: Arc<dyn ServerCertVerifier>) {
        self.verifier = Some(verifier);
    }

    /// Returns TLS settings that offer the spoken versions by ALPN. Sessions are resumed over all connections
    /// made with it (RFC 8446 §2.2): rustls keeps what 256 servers have given.
    pub(crate) fn config(&self, speaks: Speaks) -> Result<ClientConfig, Error> {
        let provider = Arc::new(self.provider()?);
        let verifier = Arc::new(self.verifier(&provider)?);
        let only = self.only_version.as_ref().map(std::slice::from_ref);
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(only.unwrap_or(&[&TLS13, &TLS12]))
            .map_err(|_| Error::usage("the TLS provider has no protocol version"))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            Some(identity) => builder.with_client_cert_resolver(identity.clone()),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = speaks.alpn();
        if self.logs_keys {
            config.key_log = Arc::new(KeyLogFile::new());
        }
        Ok(config)
    }

    /// Returns the provider with the chosen cipher suites and groups.
    fn provider(&self) -> Result<CryptoProvider, Error> {
        let mut provider = agreement::provider();
        if !self.suites.is_empty() {
            let known = provider.cipher_suites;
            let find = |name: &CipherSuite| known.iter().find(|suite| suite.suite() == *name).copied();
            provider.cipher_suites = self.suites.iter().filter_map(find).collect();
        }
        if !self.groups.is_empty() {
            let known = provider.kx_groups;
            let find = |name: &NamedGroup| known.iter().find(|group| group.name() == *name).copied();
            provider.kx_groups = self.groups.iter().filter_map(find).collect();
        }
        if provider.cipher_suites.is_empty() || provider.kx_groups.is_empty() {
            return Err(Error::usage("none of the cipher suites or groups that were named is known"));
        }
        Ok(provider)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, Error> {
        let trusted = match &self.verifier {
            _ if self.anything => Trusted::Anything(provider.signature_verification_algorithms),
            Some(given) => Trusted::Given(given.clone()),
            None => Trusted::Rooted(self.rooted(provider.clone())?),
        };
        Ok(Verifier { trusted, pins: self.pins.clone() })
    }

    fn rooted(&self, provider: Arc<CryptoProvider>) -> Result<Rooted, Error> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider);
        // A list that has expired may be an old one, shown again to hide what was revoked since.
        let verifier = verifier.with_crls(self.revoked.iter().cloned()).enforce_revocation_expiration();
        let verifier = verifier.build().map_err(|_| Error::usage("the trusted roots cannot be used"))?;
        Ok(Rooted { verifier, added: self.added.clone(), has_lists: !self.revoked.is_empty() })
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        if !self.leaves_platform_out {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        roots.add_parsable_certificates(self.added.iter().cloned());
        match (roots.is_empty(), self.leaves_platform_out) {
            (false, _) => Ok(roots),
            (true, true) => Err(Error::usage(
                "there is no root to trust: the platform's are left out, and none was added",
            )),
            (true, false) => Err(Error::usage("the platform has no root to trust, and none was added")),
        }
    }
}

/// Returns the server name for certificates.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| Error::usage("the host is neither a DNS name nor an IP address, so that no certificate can be checked for it (RFC 6066 §3)"))
}
