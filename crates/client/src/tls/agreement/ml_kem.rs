//! ML-KEM-768 (FIPS 203) for a client: a key pair from a seed, and decapsulation.
//!
//! Key pairs are made by libcrux, since aws-lc makes them of random bytes of its own only; it is given
//! nothing that a peer has a say in. The server's share is read by aws-lc.

use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, ML_KEM_768};
use libcrux_ml_kem::mlkem768::portable::generate_key_pair;
use rustls::{Error, PeerMisbehaved};
use zeroize::Zeroizing;

/// The two random numbers of a key pair, `d` and `z` of FIPS 203 §7.1.
pub(super) type Seed = [u8; 64];

/// The client's share, an encapsulation key.
pub(super) type Share = [u8; 1184];

/// The bytes of the server's share, a ciphertext.
pub(super) const CIPHERTEXT_BYTES: usize = 1088;

/// The secret half of a key pair. It is used once.
pub(super) struct Secret(DecapsulationKey);

/// Makes the key pair of this seed.
pub(super) fn key_pair(seed: &Seed) -> Result<(Secret, Share), Error> {
    let (secret, share) = generate_key_pair(*seed).into_parts();
    let secret = Zeroizing::new(<[u8; 2400]>::from(secret));
    let key = DecapsulationKey::new(&ML_KEM_768, &*secret)
        .map_err(|_| Error::General("a key pair of ML-KEM was refused".to_owned()))?;
    Ok((Secret(key), share.into()))
}

impl Secret {
    /// Returns the secret that the server has encapsulated.
    pub(super) fn open(
        &self,
        ciphertext: &[u8; CIPHERTEXT_BYTES],
    ) -> Result<impl AsRef<[u8]> + use<>, Error> {
        let opened = self.0.decapsulate(Ciphertext::from(&ciphertext[..]));
        opened.map_err(|_| PeerMisbehaved::InvalidKeyShare.into())
    }
}
