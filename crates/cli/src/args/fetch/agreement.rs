//! The names of cipher suites and of key agreement groups, as OpenSSL and curl write them.

use rustls::{CipherSuite, NamedGroup};

/// Cipher suites, the best first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Suites(pub(crate) Vec<CipherSuite>);

/// Groups, the best first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Groups(pub(crate) Vec<NamedGroup>);

/// The cipher suites of TLS 1.2, by OpenSSL's names.
const TLS12: [(&str, CipherSuite); 6] = [
    ("ECDHE-ECDSA-AES256-GCM-SHA384", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-ECDSA-AES128-GCM-SHA256", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("ECDHE-RSA-AES256-GCM-SHA384", CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-RSA-AES128-GCM-SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-RSA-CHACHA20-POLY1305", CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

const TLS13: [(&str, CipherSuite); 3] = [
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];

/// The groups, each with its names.
const GROUPS: [(&str, NamedGroup); 9] = [
    ("X25519MLKEM768", NamedGroup::X25519MLKEM768),
    ("X25519", NamedGroup::X25519),
    ("P-256", NamedGroup::secp256r1),
    ("P-384", NamedGroup::secp384r1),
    ("secp256r1", NamedGroup::secp256r1),
    ("secp384r1", NamedGroup::secp384r1),
    ("prime256v1", NamedGroup::secp256r1),
    ("P256", NamedGroup::secp256r1),
    ("P384", NamedGroup::secp384r1),
];

/// The number of groups that a message lists.
const GROUPS_SHOWN: usize = 4;

impl Suites {
    /// Returns the cipher suites to offer: for each version those that are named, or all.
    pub(crate) fn offered(of_tls12: Option<&Self>, of_tls13: Option<&Self>) -> Vec<CipherSuite> {
        let of = |named: Option<&Self>, all: &[(&str, CipherSuite)]| match named {
            Some(named) => named.0.clone(),
            None => all.iter().map(|(_, suite)| *suite).collect(),
        };
        [of(of_tls13, &TLS13), of(of_tls12, &TLS12)].concat()
    }
}

pub(in crate::args) fn suites_of_tls12(text: &str) -> Result<Suites, String> {
    read(text, &TLS12, TLS12.len()).map(Suites)
}

pub(in crate::args) fn suites_of_tls13(text: &str) -> Result<Suites, String> {
    read(text, &TLS13, TLS13.len()).map(Suites)
}

pub(in crate::args) fn groups(text: &str) -> Result<Groups, String> {
    read(text, &GROUPS, GROUPS_SHOWN).map(Groups)
}

/// Returns the value of each name; the error for an unknown name lists the first `shown` known ones.
fn read<T: Copy>(text: &str, known: &[(&str, T)], shown: usize) -> Result<Vec<T>, String> {
    let find = |name: &str| {
        let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, meant)| *meant).ok_or_else(|| {
            let names: Vec<&str> = known.iter().take(shown).map(|(name, _)| *name).collect();
            format!("{name:?} is not spoken here; {} are", names.join(", "))
        })
    };
    let names = text.split([':', ',', ' ']).filter(|name| !name.is_empty());
    match names.map(find).collect::<Result<Vec<T>, String>>()? {
        all if all.is_empty() => Err("it names none".to_owned()),
        all => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_openssl() {
        let both = suites_of_tls12("ECDHE-RSA-AES128-GCM-SHA256:ecdhe-ecdsa-aes256-gcm-sha384").unwrap();
        assert_eq!(both, Suites(vec![TLS12[4].1, TLS12[0].1]));
        assert_eq!(suites_of_tls13("TLS_AES_128_GCM_SHA256"), Ok(Suites(vec![TLS13[1].1])));
        assert_eq!(groups("X25519:prime256v1"), Ok(Groups(vec![NamedGroup::X25519, NamedGroup::secp256r1])));
        for (wrong, named) in
            [("", "names none"), ("AES256-SHA", "\"AES256-SHA\""), ("HIGH:!aNULL", "\"HIGH\"")]
        {
            assert!(suites_of_tls12(wrong).unwrap_err().contains(named), "{wrong}");
        }
        assert!(groups("P-521").unwrap_err().ends_with("X25519MLKEM768, X25519, P-256, P-384 are"));
    }
}
