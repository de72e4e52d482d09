//! X25519MLKEM768: two key agreements, so that one holds if the other is broken by a quantum computer or a
//! flaw. The bytes of ML-KEM come first, in shares and in the secret.

use rustls::{
    Error, NamedGroup, PeerMisbehaved, ProtocolVersion,
    crypto::{ActiveKeyExchange, CompletedKeyExchange, SecureRandom, SharedSecret, SupportedKxGroup},
    ffdhe_groups::FfdheGroup,
};
use zeroize::Zeroizing;

use super::{
    elliptic::{self, Curve},
    ml_kem::{CIPHERTEXT_BYTES, Secret, key_pair},
    random::SystemRandom,
};

/// The hybrid as a key agreement group.
#[derive(Debug)]
pub(super) struct Hybrid {
    curve: &'static Curve,
    random: &'static dyn SecureRandom,
}

pub(super) static X25519_ML_KEM_768: Hybrid = Hybrid::new(&elliptic::X25519, &SystemRandom);

impl Hybrid {
    pub(super) const fn new(curve: &'static Curve, random: &'static dyn SecureRandom) -> Self {
        Self { curve, random }
    }
}

impl SupportedKxGroup for Hybrid {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut seed = Zeroizing::new([0; 64]);
        self.random.fill(&mut *seed)?;
        let (lattice, lattice_share) = key_pair(&seed)?;
        let curve = self.curve.begin()?;
        let share = [&lattice_share[..], curve.pub_key()].concat();
        Ok(Box::new(Begun { curve, lattice, share }))
    }

    /// Servers, which encapsulate to the client's key, have the group of aws-lc.
    fn start_and_complete(&self, _: &[u8]) -> Result<CompletedKeyExchange, Error> {
        Err(Error::General("this key agreement is for clients".to_owned()))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// Two key pairs that wait for the server's share.
struct Begun {
    curve: elliptic::Begun,
    lattice: Secret,
    share: Vec<u8>,
}

impl ActiveKeyExchange for Begun {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, of_curve) = share
            .split_first_chunk::<CIPHERTEXT_BYTES>()
            .ok_or_else(|| Error::from(PeerMisbehaved::InvalidKeyShare))?;
        let of_curve = self.curve.agree(of_curve)?;
        let of_lattice = self.lattice.open(ciphertext)?;
        Ok(SharedSecret::from([of_lattice.as_ref(), of_curve.secret_bytes()].concat()))
    }

    /// Returns the share for a server that knows only the curve: it is offered as well, of the same key
    /// pair.
    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.curve.group(), self.curve.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, Error> {
        self.curve.agree(share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}
