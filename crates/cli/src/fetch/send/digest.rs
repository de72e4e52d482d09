//! Credentials as a digest (RFC 7616): what servers ask for, read, and the answer to it.
//!
//! Rule: the challenge is a peer's. A challenge that cannot be read, or asks for an unknown algorithm, is
//! not answered.

use std::{
    borrow::Cow,
    hash::{BuildHasher as _, Hasher as _, RandomState},
};

use alula::fields::parameters::{quote, unquote};
use aws_lc_rs::digest::{SHA256, digest};
use md5::{Digest as _, Md5};

/// A scheme that a server takes, with its parameters (RFC 9110 §11.3), the names in lower case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct Challenge {
    pub(in crate::fetch) scheme: String,
    parameters: Vec<(String, String)>,
}

/// The challenges of a field `www-authenticate`, as far as they can be read.
pub(in crate::fetch) fn challenges(field: &str) -> Vec<Challenge> {
    let is_between = |character: char| character == ',' || character.is_ascii_whitespace();
    let mut all: Vec<Challenge> = Vec::new();
    let mut rest = field.trim_start_matches(is_between);
    while let Some((word, after)) = token(rest) {
        let text = after.trim_start().strip_prefix('=').map(str::trim_start);
        rest = match (text, all.last_mut()) {
            // A word before `=` is a parameter of the last scheme; any other word begins a new one.
            (Some(text), Some(challenge)) => {
                let Some((value, after)) = value(text) else { break };
                challenge.parameters.push((word.to_ascii_lowercase(), value.into_owned()));
                after
            }
            _ => {
                all.push(Challenge { scheme: word.to_ascii_lowercase(), parameters: Vec::new() });
                behind_token68(after)
            }
        };
        rest = rest.trim_start_matches(is_between);
    }
    all
}

/// A token (RFC 9110 §5.6.2), and what follows it.
fn token(text: &str) -> Option<(&str, &str)> {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_of_token(byte)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Returns what follows the credentials in one piece that a scheme may have in place of parameters (RFC 9110
/// §11.2), such as `YWJj==`; all of the text if there are none.
fn behind_token68(text: &str) -> &str {
    let is_of_token68 = |character: char| character.is_ascii_alphanumeric() || "-._~+/".contains(character);
    let rest = text.trim_start().trim_start_matches(is_of_token68).trim_start_matches('=');
    match rest.trim_start() {
        "" => "",
        behind if behind.starts_with(',') => behind,
        _ => text,
    }
}

/// A token, or what stands in quotes.
fn value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    match text.starts_with('"') {
        true => unquote(text),
        false => token(text).map(|(value, rest)| (value.into(), rest)),
    }
}

impl Challenge {
    fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The hash of a digest.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Hash {
    Md5,
    Sha256,
}

impl Hash {
    /// The hash in hexadecimal digits.
    fn of(self, text: &str) -> String {
        let bytes = match self {
            Self::Md5 => Md5::digest(text).to_vec(),
            Self::Sha256 => digest(&SHA256, text.as_bytes()).as_ref().to_vec(),
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A challenge that can be answered, and how often it was.
#[derive(Clone, Debug)]
pub(in crate::fetch) struct Digest {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// The algorithm, as the server wrote it.
    algorithm: Option<String>,
    hash: Hash,
    /// A hash of the nonces takes part.
    is_session: bool,
    has_qop: bool,
    hides_user: bool,
    /// The credentials were right, and the nonce is used up.
    pub(in crate::fetch) is_stale: bool,
    count: u32,
}

impl Digest {
    /// The best that these challenges ask for; nothing if there is none that is known.
    pub(in crate::fetch) fn best(challenges: &[Challenge]) -> Option<Self> {
        challenges.iter().filter_map(Self::of).max_by_key(|digest| digest.hash)
    }

    fn of(challenge: &Challenge) -> Option<Self> {
        if challenge.scheme != "digest" {
            return None;
        }
        let algorithm = challenge.get("algorithm");
        let (hash, is_session) = match algorithm.unwrap_or("MD5").to_ascii_lowercase().as_str() {
            "md5" => (Hash::Md5, false),
            "md5-sess" => (Hash::Md5, true),
            "sha-256" => (Hash::Sha256, false),
            "sha-256-sess" => (Hash::Sha256, true),
            _ => return None,
        };
        let qop = challenge.get("qop");
        let is_auth = |qop: &str| qop.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth"));
        // The hash of content (auth-int) is not made.
        if qop.is_some_and(|qop| !is_auth(qop)) {
            return None;
        }
        let is_true = |name| challenge.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        Some(Self {
            realm: challenge.get("realm").unwrap_or_default().to_owned(),
            nonce: challenge.get("nonce")?.to_owned(),
            opaque: challenge.get("opaque").map(str::to_owned),
            algorithm: algorithm.map(str::to_owned),
            hash,
            is_session,
            has_qop: qop.is_some(),
            hides_user: is_true("userhash"),
            is_stale: is_true("stale"),
            count: 0,
        })
    }

    /// The value of `authorization` for a request of this method and target. Each call counts as one use of
    /// the nonce.
    pub(in crate::fetch) fn authorization(
        &mut self,
        user: &(String, String),
        method: &str,
        target: &str,
    ) -> String {
        let random = || RandomState::new().build_hasher().finish();
        self.answer(user, method, target, &format!("{:016x}{:016x}", random(), random()))
    }

    fn answer(
        &mut self,
        (name, password): &(String, String),
        method: &str,
        target: &str,
        cnonce: &str,
    ) -> String {
        self.count += 1;
        let Self { realm, nonce, hash, count, .. } = &*self;
        let mut secret = hash.of(&format!("{name}:{realm}:{password}"));
        if self.is_session {
            secret = hash.of(&format!("{secret}:{nonce}:{cnonce}"));
        }
        let asked = hash.of(&format!("{method}:{target}"));
        let response = match self.has_qop {
            true => hash.of(&format!("{secret}:{nonce}:{count:08x}:{cnonce}:auth:{asked}")),
            // The form of RFC 2069, for servers that offer no `qop` (RFC 2617 §3.2.2.1).
            false => hash.of(&format!("{secret}:{nonce}:{asked}")),
        };
        let user = if self.hides_user { quote(&hash.of(&format!("{name}:{realm}"))) } else { quote(name) };
        let mut value = format!(
            "Digest username={user}, realm={}, nonce={}, uri={}, response=\"{response}\"",
            quote(realm),
            quote(nonce),
            quote(target)
        );
        if self.has_qop {
            value += &format!(", cnonce=\"{cnonce}\", nc={count:08x}, qop=auth");
        } else if self.is_session {
            value += &format!(", cnonce=\"{cnonce}\"");
        }
        value.extend(self.opaque.as_ref().map(|opaque| format!(", opaque={}", quote(opaque))));
        value.extend(self.algorithm.as_ref().map(|algorithm| format!(", algorithm={algorithm}")));
        value.extend(self.hides_user.then_some(", userhash=true"));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(value: &str) -> Vec<(String, String)> {
        challenges(value).remove(0).parameters
    }

    #[test]
    fn challenges_are_read_with_their_parameters() {
        for (field, expected) in [
            ("Basic realm=\"a\"", &["basic realm=a"][..]),
            (
                "Digest realm=\"a, b\", nonce=\"c\\\"d\",qop=auth , Basic realm=x",
                &["digest realm=a, b|nonce=c\"d|qop=auth", "basic realm=x"],
            ),
            ("Negotiate, Digest nonce = \"e\"", &["negotiate", "digest nonce=e"]),
            ("Negotiate YWJj==, Digest nonce=e", &["negotiate", "digest nonce=e"]),
            ("Negotiate a/b-c=,Basic realm=\"a\"", &["negotiate", "basic realm=a"]),
            ("NTLM a, Digest realm = \"x\" nonce=b", &["ntlm", "digest realm=x|nonce=b"]),
            ("Digest realm=\"open", &["digest"]),
            (", ,", &[]),
            ("", &[]),
        ] {
            let read = challenges(field);
            let shown: Vec<String> = read
                .iter()
                .map(|challenge| {
                    let all: Vec<String> =
                        challenge.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    format!("{} {}", challenge.scheme, all.join("|")).trim_end().to_owned()
                })
                .collect();
            assert_eq!(shown, expected, "{field}");
        }
    }

    /// RFC 7616 §3.9.1.
    #[test]
    fn answers_are_those_of_the_rfc() {
        let user = ("Mufasa".to_owned(), "Circle of Life".to_owned());
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let field = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let mut digest = Digest::best(&challenges(&field)).unwrap();
            let answer = digest.answer(&user, "GET", "/dir/index.html", cnonce);
            let parameters = parameters(&answer);
            let get = |name: &str| parameters.iter().find(|(known, _)| known == name).unwrap().1.as_str();
            assert_eq!((get("response"), get("nc"), get("qop")), (response, "00000001", "auth"));
            assert_eq!(
                (get("uri"), get("algorithm"), get("username")),
                ("/dir/index.html", algorithm, "Mufasa")
            );
            assert!(digest.answer(&user, "GET", "/", cnonce).contains("nc=00000002"));
        }
    }

    #[test]
    fn the_best_digest_that_is_known_is_answered() {
        for (field, best) in [
            ("Digest nonce=a, Digest nonce=b, algorithm=SHA-256", Some("b")),
            ("Digest nonce=b, algorithm=SHA-256-sess, Digest nonce=a", Some("b")),
            ("Digest nonce=a, algorithm=SHA-512-256, Basic realm=x", None),
            ("Digest nonce=a, qop=\"auth-int\"", None),
            ("Digest realm=a", None),
            ("Basic realm=x", None),
        ] {
            let nonce = Digest::best(&challenges(field)).map(|digest| digest.nonce);
            assert_eq!(nonce.as_deref(), best, "{field}");
        }
        let mut old =
            Digest::best(&challenges("Digest realm=\"r\\\"\", nonce=n, stale=TRUE, userhash=true")).unwrap();
        assert!(old.is_stale);
        let answer = old.authorization(&("n".into(), "p".into()), "GET", "/");
        assert!(answer.contains("realm=\"r\\\"\"") && answer.contains(", userhash=true"), "{answer}");
        assert!(!answer.contains("cnonce") && !answer.contains("username=\"n\""), "{answer}");
    }
}
