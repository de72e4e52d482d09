//! An authority of the test's own and a certificate for this machine, in PEM files.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::folder::Folder;

/// The files, gone with this value.
#[derive(Debug)]
pub struct Certificates {
    folder: Folder,
}

impl Certificates {
    /// Makes an authority and a certificate for `localhost` and `127.0.0.1` that it vouches for.
    ///
    /// # Panics
    /// When no key can be made.
    #[must_use]
    pub fn new() -> Self {
        Self::of(&["localhost", "127.0.0.1"])
    }

    /// As [`new`](Self::new), for these names.
    ///
    /// # Panics
    /// As [`new`](Self::new), and when a name is not valid.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        let authority_key = KeyPair::generate().expect("a key can be made");
        let authority = authority();
        let certificate = authority.self_signed(&authority_key).expect("a certificate can be signed");
        let folder = Folder::new();
        folder.write("ca.pem", certificate.pem());

        let key = KeyPair::generate().expect("a key can be made");
        let issuer = Issuer::new(authority, authority_key);
        let certificate = leaf(names).signed_by(&key, &issuer).expect("a certificate can be signed");
        folder.write("cert.pem", certificate.pem());
        folder.write("key.pem", key.serialize_pem());
        Self { folder }
    }

    /// The authority's certificate: what a client has to trust.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// The server's certificate.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("cert.pem")
    }

    /// The server's private key.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }
}

impl Default for Certificates {
    fn default() -> Self {
        Self::new()
    }
}

fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "an authority of a test");
    params
}

fn leaf(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().copied().map(String::from).collect();
    CertificateParams::new(names).expect("the names are valid")
}
