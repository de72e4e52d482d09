//! `/digest-auth/QOP/USER/PASSWORD`: who asks, by a hash of the password (RFC 7616).
//!
//! Any nonce is taken, so that a test can send one that it was not given; a server that guards something must
//! not.

use alula::{
    Answer, KnownName, Status,
    fields::parameters::{self, Parameter},
};
use md5::{Digest as _, Md5};
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;

use super::{
    asked::Asked,
    auth::{authenticated, credentials},
    made::Made,
};
use crate::random;

const REALM: &str = "alula echo";

/// The hash of a challenge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Algorithm {
    Md5,
    Sha256,
}

impl Algorithm {
    /// MD5 where another one is asked for, as with httpbin.
    fn named(name: Option<&str>) -> Self {
        match name {
            Some("SHA-256") => Self::Sha256,
            _ => Self::Md5,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha256 => "SHA-256",
        }
    }

    /// The hash in hexadecimal digits.
    fn of(self, bytes: &[u8]) -> String {
        let digits = |hash: &[u8]| hash.iter().map(|byte| format!("{byte:02x}")).collect();
        match (self, TLS13_AES_128_GCM_SHA256.tls13()) {
            (Self::Sha256, Some(suite)) => digits(suite.common.hash_provider.hash(bytes).as_ref()),
            _ => digits(&Md5::digest(bytes)),
        }
    }
}

/// `/digest-auth/QOP/USER/PASSWORD` and `/digest-auth/QOP/USER/PASSWORD/ALGORITHM`.
pub(super) fn digest(asked: &Asked<'_>) -> Result<Made, Answer> {
    let algorithm = asked.exchange.param("algorithm").ok();
    let algorithm = Algorithm::named(algorithm.as_deref());
    let (user, password) = (asked.path_text("user")?, asked.path_text("password")?);
    match credentials(asked, "digest") {
        Some(given) if is_right(asked, algorithm, given, (&user, &password)) => authenticated(&user),
        _ => challenge(algorithm, &asked.path_text("qop")?),
    }
}

fn challenge(algorithm: Algorithm, qop: &str) -> Result<Made, Answer> {
    let qop = if matches!(qop, "auth" | "auth-int") { qop } else { "auth, auth-int" };
    let (nonce, opaque) = (random_digits(algorithm), random_digits(algorithm));
    let name = algorithm.name();
    let value = format!(
        "Digest realm=\"{REALM}\", nonce=\"{nonce}\", opaque=\"{opaque}\", qop=\"{qop}\", algorithm={name}, stale=false"
    );
    Made::new(Status::UNAUTHORIZED).header(KnownName::WWW_AUTHENTICATE, value)
}

fn random_digits(algorithm: Algorithm) -> String {
    algorithm.of(&random::number().to_be_bytes())
}

/// Returns true if the response is that of this user (RFC 7616 §3.4.1).
fn is_right(asked: &Asked<'_>, algorithm: Algorithm, given: &str, (user, password): (&str, &str)) -> bool {
    let request = asked.exchange.request();
    let part = |name| {
        let mut parts = parameters::elements(given.as_bytes()).map(Parameter::parse);
        parts.find(|part| part.is(name)).and_then(|part| part.text()).unwrap_or_default()
    };
    let hash = |text: &str| algorithm.of(text.as_bytes());
    let first = hash(&format!("{user}:{}:{password}", part("realm")));
    let asked_for = format!("{}:{}", request.method(), request.path());
    let second = match &*part("qop") {
        "auth-int" => hash(&format!("{asked_for}:{}", algorithm.of(asked.content))),
        _ => hash(&asked_for),
    };
    let expected = match &*part("qop") {
        // Clients of RFC 2069 send no `qop`.
        "" => hash(&format!("{first}:{}:{second}", part("nonce"))),
        qop => {
            let (nonce, count, own) = (part("nonce"), part("nc"), part("cnonce"));
            hash(&format!("{first}:{nonce}:{count}:{own}:{qop}:{second}"))
        }
    };
    part("username") == user && part("response") == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standards() {
        assert_eq!(Algorithm::named(None).of(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            Algorithm::named(Some("SHA-256")).of(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(Algorithm::named(Some("SHA-512")), Algorithm::Md5);
    }
}
