//! Key agreement over elliptic curves: the arithmetic is aws-lc's, the private keys are random bytes of the
//! operating system.

use aws_lc_rs::agreement::{self, Algorithm, PrivateKey, PublicKey, UnparsedPublicKey};
use rustls::{
    Error, NamedGroup, PeerMisbehaved,
    crypto::{ActiveKeyExchange, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup},
    ffdhe_groups::FfdheGroup,
};
use zeroize::Zeroizing;

use super::random::SystemRandom;

/// The bytes of the largest private key, that of P-384.
const PRIVATE_MAX: usize = 48;

/// The random numbers that are tried before giving up. P-256 takes all but one of 2³² (FIPS 186-5 §A.2.2),
/// X25519 takes all.
const TRIES: usize = 8;

/// A curve as a key agreement group (RFC 8446 §4.2.7).
#[derive(Debug)]
pub(super) struct Curve {
    name: NamedGroup,
    algorithm: &'static Algorithm,
    private_bytes: usize,
    /// Returns true for a public key in the only form that TLS allows.
    has_form: fn(&[u8]) -> bool,
    random: &'static dyn SecureRandom,
}

pub(super) static X25519: Curve = Curve {
    name: NamedGroup::X25519,
    algorithm: &agreement::X25519,
    private_bytes: 32,
    has_form: |share| share.len() == 32,
    random: &SystemRandom,
};

pub(super) static P256: Curve = Curve {
    name: NamedGroup::secp256r1,
    algorithm: &agreement::ECDH_P256,
    private_bytes: 32,
    has_form: is_uncompressed,
    random: &SystemRandom,
};

pub(super) static P384: Curve = Curve {
    name: NamedGroup::secp384r1,
    algorithm: &agreement::ECDH_P384,
    private_bytes: 48,
    has_form: is_uncompressed,
    random: &SystemRandom,
};

/// RFC 8446 §4.2.8.2 has no other form; whether it is a point of the curve is checked with the agreement.
fn is_uncompressed(share: &[u8]) -> bool {
    share.first() == Some(&4)
}

impl Curve {
    /// Returns the same curve with other random bytes.
    #[cfg(test)]
    pub(super) fn with_random(&self, random: &'static dyn SecureRandom) -> Self {
        Self { random, ..*self }
    }

    /// Makes a key pair.
    pub(super) fn begin(&self) -> Result<Begun, Error> {
        let key = self.private_key()?;
        let share = key.compute_public_key().map_err(|_| GetRandomFailed)?;
        Ok(Begun { name: self.name, has_form: self.has_form, key, share })
    }

    fn private_key(&self) -> Result<PrivateKey, Error> {
        let mut bytes = Zeroizing::new([0; PRIVATE_MAX]);
        let bytes = &mut bytes[..self.private_bytes];
        for _ in 0..TRIES {
            self.random.fill(bytes)?;
            if let Ok(key) = PrivateKey::from_private_key(self.algorithm, bytes) {
                return Ok(key);
            }
        }
        Err(GetRandomFailed.into())
    }
}

impl SupportedKxGroup for Curve {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(self.begin()?))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.name
    }
}

/// A key pair that waits for the peer's share.
pub(super) struct Begun {
    name: NamedGroup,
    has_form: fn(&[u8]) -> bool,
    key: PrivateKey,
    share: PublicKey,
}

impl Begun {
    pub(super) fn agree(&self, share: &[u8]) -> Result<SharedSecret, Error> {
        let refused = || Error::from(PeerMisbehaved::InvalidKeyShare);
        // aws-lc would also take compressed points, which TLS 1.3 forbids (RFC 8446 §4.2.8.2).
        if !(self.has_form)(share) {
            return Err(refused());
        }
        let share = UnparsedPublicKey::new(self.key.algorithm(), share);
        agreement::agree(&self.key, share, refused(), |secret| Ok(SharedSecret::from(secret)))
    }
}

impl ActiveKeyExchange for Begun {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        self.agree(share)
    }

    fn pub_key(&self) -> &[u8] {
        self.share.as_ref()
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.name
    }
}
