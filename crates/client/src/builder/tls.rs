//! Settings of TLS: trusted servers, and the certificate of the client.

use std::sync::Arc;

use alula_net::Error;
use rustls::version::{TLS12, TLS13};

use super::ClientBuilder;
use crate::tls::trust::server_name;

/// The settings of TLS.
#[cfg(feature = "tls")]
impl ClientBuilder {
    /// Trusts these root certificates (PEM) beside the platform's, or alone if those are [left
    /// out](Self::platform_roots). A certificate that a server shows as its own is trusted as well if it is
    /// one of these, for the names in it while it holds. An authority's is taken as a root whether or not it
    /// has expired.
    ///
    /// # Errors
    /// The text is empty, holds no certificate, or one that cannot be read.
    #[doc(alias = "add_root_certificate")]
    #[doc(alias = "tls_certs_merge")]
    pub fn add_roots_pem(mut self, pem: &[u8]) -> Result<Self, Error> {
        self.settings.connect.trust.add_pem(pem)?;
        Ok(self)
    }

    /// Sets whether the platform's root certificates are trusted; they are unless set. They are read when the
    /// first of them is needed: from where the environment's `SSL_CERT_FILE` and `SSL_CERT_DIR` say, or where
    /// the system has them.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let pem = rcgen::generate_simple_self_signed(["localhost".to_owned()])?.cert.pem();
    /// // Trusts the servers of one authority, and no others.
    /// let client = alula::Client::builder().platform_roots(false).add_roots_pem(pem.as_bytes())?.build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "tls_built_in_root_certs")]
    #[doc(alias = "tls_certs_only")]
    #[must_use]
    pub fn platform_roots(mut self, are_trusted: bool) -> Self {
        self.settings.connect.trust.take_platform(are_trusted);
        self
    }

    /// Refuses certificates that these lists revoke (PEM, RFC 5280 §5), and those without a list: each
    /// authority between the server and the root has to have its list here, signed by it and not expired. A
    /// call that ends so has [`Cause::Revoked`](crate::Cause::Revoked), or [`Cause::Tls`](crate::Cause::Tls)
    /// for a list that is missing or cannot be used.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let issuer = rcgen::Issuer::new(rcgen::CertificateParams::default(), rcgen::KeyPair::generate()?);
    /// # let list = rcgen::CertificateRevocationListParams {
    /// #     this_update: rcgen::date_time_ymd(2024, 1, 1),
    /// #     next_update: rcgen::date_time_ymd(4000, 1, 1),
    /// #     crl_number: 1.into(),
    /// #     issuing_distribution_point: None,
    /// #     revoked_certs: Vec::new(),
    /// #     key_identifier_method: rcgen::KeyIdMethod::Sha256,
    /// # };
    /// # let pem = list.signed_by(&issuer)?.pem()?;
    /// let client = alula::Client::builder().add_crls_pem(pem.as_bytes())?.build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The text is empty, holds no list, or one that cannot be read.
    #[doc(alias = "add_crl")]
    #[doc(alias = "add_crls")]
    #[doc(alias = "tls_crls_only")]
    pub fn add_crls_pem(mut self, pem: &[u8]) -> Result<Self, Error> {
        self.settings.connect.trust.revoke_pem(pem)?;
        Ok(self)
    }

    /// Trusts a server only if its own certificate has one of these public keys, beside all other checks:
    /// each is the SHA-256 of a `SubjectPublicKeyInfo` in DER, as in curl's `--pinnedpubkey` and RFC 7469
    /// §2.4. Further calls add to them; none at all match no server. It counts for proxies over TLS, with
    /// [`trust_anything`](Self::trust_anything) and a [verifier](Self::server_verifier) too. A call that ends
    /// so has [`Cause::PinMismatch`](crate::Cause::PinMismatch).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let key = rcgen::KeyPair::generate()?;
    /// # let key = rcgen::PublicKeyData::subject_public_key_info(&key);
    /// let pin = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &key);
    /// let client = alula::Client::builder().pin_public_keys([pin.as_ref().try_into()?]).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "pinnedpubkey")]
    #[doc(alias = "certificate_pinner")]
    #[must_use]
    pub fn pin_public_keys(mut self, sha256: impl IntoIterator<Item = [u8; 32]>) -> Self {
        self.settings.connect.trust.pin(sha256);
        self
    }

    /// Trusts any certificate: anyone on the way can read and change the traffic. For tests only.
    #[doc(alias = "danger_accept_invalid_certs")]
    #[must_use]
    pub fn trust_anything(mut self) -> Self {
        self.settings.connect.trust.trust_anything();
        self
    }

    /// Sends this certificate with its chain to servers and proxies that ask for one (PEM), and proves it
    /// with this private key (PEM: PKCS #8, PKCS #1 or SEC 1).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (chain, key) = (std::fs::read("client.pem")?, std::fs::read("client.key")?);
    /// let client = alula::Client::builder().identity_pem(&chain, &key)?.build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A text is empty, holds nothing of the kind, or what cannot be read or is encrypted; or the key is not
    /// the certificate's.
    #[doc(alias = "identity")]
    pub fn identity_pem(mut self, chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        self.settings.connect.trust.show_pem(chain, key)?;
        Ok(self)
    }

    /// Sets the server name in TLS handshakes (SNI, RFC 6066 §3) and in the check of the certificate, in
    /// place of the URL's host. It is for all origins of the client; `host` still names the URL's.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// // The server at this address shows the certificate of example.com.
    /// let client = alula::Client::builder().server_name("example.com")?.build()?;
    /// let call = client.get("https://192.0.2.1/");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// It is neither a DNS name nor an IP address.
    pub fn server_name(mut self, name: &str) -> Result<Self, Error> {
        self.settings.connect.server_name = Some(server_name(name)?);
        Ok(self)
    }

    /// Writes the secrets of each TLS connection to the file in the environment's `SSLKEYLOGFILE`, if it is
    /// set, so that traffic tools can decrypt the connection. Off unless called: who can read the file can
    /// read what was sent.
    #[must_use]
    pub fn key_log_from_environment(mut self) -> Self {
        self.settings.connect.trust.log_keys();
        self
    }

    /// Checks certificates of servers and proxies with this verifier only: platform roots, added roots and
    /// lists of revoked certificates do not count. [Pins](Self::pin_public_keys) do. The signatures of
    /// handshakes are the verifier's to check as well.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use alula::Client;
    /// use rustls::client::WebPkiServerVerifier;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let root = rcgen::generate_simple_self_signed(["localhost".to_owned()])?.cert.der().clone();
    /// let mut roots = rustls::RootCertStore::empty();
    /// roots.add(root)?;
    /// let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    /// let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
    /// let client = Client::builder().server_verifier(verifier).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn server_verifier(mut self, verifier: Arc<dyn rustls::client::danger::ServerCertVerifier>) -> Self {
        self.settings.connect.trust.ask(verifier);
        self
    }

    /// Offers these cipher suites only, in this order; unknown ones are dropped, and a version of TLS without
    /// any is not spoken. All that are known are offered unless called, and for none at all. A call over TLS
    /// fails if some are named and none is known.
    ///
    /// ```
    /// use rustls::CipherSuite;
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let suites = [CipherSuite::TLS13_AES_256_GCM_SHA384];
    /// let client = alula::Client::builder().cipher_suites(suites).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cipher_suites(mut self, suites: impl IntoIterator<Item = rustls::CipherSuite>) -> Self {
        self.settings.connect.trust.offer_suites(suites.into_iter().collect());
        self
    }

    /// Uses these key agreement groups only, in this order; unknown ones are dropped. Known are
    /// X25519MLKEM768, X25519, P-256 and P-384, in this order unless called, and for none at all. A call over
    /// TLS fails if some are named and none is known.
    ///
    /// ```
    /// use rustls::NamedGroup;
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().key_agreement_groups([NamedGroup::X25519]).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn key_agreement_groups(mut self, groups: impl IntoIterator<Item = rustls::NamedGroup>) -> Self {
        self.settings.connect.trust.offer_groups(groups.into_iter().collect());
        self
    }

    /// Speaks TLS 1.2 only.
    #[must_use]
    pub fn tls12_only(mut self) -> Self {
        self.settings.connect.trust.take_only(&TLS12);
        self
    }

    /// Speaks TLS 1.3 only.
    #[must_use]
    pub fn tls13_only(mut self) -> Self {
        self.settings.connect.trust.take_only(&TLS13);
        self
    }
}
