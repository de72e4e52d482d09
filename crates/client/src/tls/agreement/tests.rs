//! Shares of bytes that are given, beside those of others, and secrets that both sides agree on.

use std::array;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::{
    Error, NamedGroup, PeerMisbehaved,
    crypto::{GetRandomFailed, SecureRandom, SupportedKxGroup, aws_lc_rs::kx_group},
};

use super::{
    elliptic::{Curve, P256, P384, X25519},
    hybrid::{Hybrid, X25519_ML_KEM_768},
    provider,
};

/// Gives the same bytes whenever it is asked.
#[derive(Debug)]
struct Fixed(&'static [u8]);

impl SecureRandom for Fixed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        bytes.copy_from_slice(self.0.get(..bytes.len()).ok_or(GetRandomFailed)?);
        Ok(())
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// A curve whose private keys are these bytes.
fn with_key(curve: &Curve, key: Vec<u8>) -> Curve {
    let random: &'static Fixed = Box::leak(Box::new(Fixed(key.leak())));
    curve.with_random(random)
}

const ALICE: &str = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";

#[test]
fn shares_of_curves_are_those_of_their_vectors() {
    for (curve, key, share) in [
        // RFC 7748 §6.1.
        (&X25519, ALICE, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"),
        // RFC 5903 §8.1.
        (
            &P256,
            "C88F01F5 10D9AC3F 70A292DA A2316DE5 44E9AAB8 AFE84049 C62A9C57 862D1433",
            "04 DAD0B653 94221CF9 B051E1FE CA5787D0 98DFE637 FC90B9EF 945D0C37 72581180
                5271A046 1CDB8252 D61F1C45 6FA3E59A B1F45B33 ACCF5F58 389E0577 B8990BB3",
        ),
        // RFC 5903 §8.2.
        (
            &P384,
            "099F3C70 34D4A2C6 99884D73 A375A67F 7624EF7C 6B3C0F16
             0647B674 14DCE655 E35B5380 41E649EE 3FAEF896 783AB194",
            "04 667842D7 D180AC2C DE6F74F3 7551F557 55C7645C 20EF73E3
                1634FE72 B4C55EE6 DE3AC808 ACB4BDB4 C88732AE E95F41AA
                9482ED1F C0EEB9CA FC498462 5CCFC23F 65032149 E0E144AD
                A0241815 35A0F38E EB9FCFF3 C2C947DA E69B4C63 4573A81C",
        ),
    ] {
        let begun = with_key(curve, bytes(key)).start().unwrap();
        assert_eq!(begun.pub_key(), bytes(share), "{curve:?}");
    }
}

/// The seed counts from 0 to 63. Go's `crypto/mlkem` makes an encapsulation key of it that has this digest.
#[test]
fn the_share_of_the_hybrid_is_that_of_ml_kem_and_then_that_of_the_curve() {
    let seed: [u8; 64] = array::from_fn(|at| at as u8);
    let curve: &'static Curve = Box::leak(Box::new(with_key(&X25519, bytes(ALICE))));
    let hybrid = Hybrid::new(curve, Box::leak(Box::new(Fixed(seed.to_vec().leak()))));
    let begun = hybrid.start().unwrap();
    let (lattice, of_curve) = begun.pub_key().split_at(1184);
    let expected = bytes("0b7934c83125c788995e2ba6bd761e33046b3e40571be53e023309a29f398cc9");
    assert_eq!(digest(&SHA256, lattice).as_ref(), expected);
    assert_eq!(of_curve, curve.start().unwrap().pub_key());
    let component = begun.hybrid_component().map(|(group, share)| (group, share.to_vec()));
    assert_eq!(component, Some((NamedGroup::X25519, of_curve.to_vec())));
}

#[test]
fn both_sides_have_the_same_secret() {
    let pairs: [(&dyn SupportedKxGroup, &dyn SupportedKxGroup); 4] = [
        (&X25519_ML_KEM_768, kx_group::X25519MLKEM768),
        (&X25519, kx_group::X25519),
        (&P256, kx_group::SECP256R1),
        (&P384, kx_group::SECP384R1),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(ours.name(), theirs.name());
        let begun = ours.start().unwrap();
        let theirs = theirs.start_and_complete(begun.pub_key()).unwrap();
        let secret = begun.complete(&theirs.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), theirs.secret.secret_bytes(), "{ours:?}");
    }
    // A server that knows the curve alone.
    let begun = X25519_ML_KEM_768.start().unwrap();
    let theirs = kx_group::X25519.start_and_complete(begun.hybrid_component().unwrap().1).unwrap();
    let secret = begun.complete_hybrid_component(&theirs.pub_key).unwrap();
    assert_eq!(secret.secret_bytes(), theirs.secret.secret_bytes());
}

/// Checks that the random bytes come from the system: those of aws-lc cost 25 ms the first time.
#[test]
fn all_random_bytes_are_the_systems() {
    let provider = provider();
    assert_eq!(format!("{:?}", provider.secure_random), "SystemRandom");
    let offers =
        [NamedGroup::X25519MLKEM768, NamedGroup::X25519, NamedGroup::secp256r1, NamedGroup::secp384r1];
    assert_eq!(provider.kx_groups.iter().map(|group| group.name()).collect::<Vec<_>>(), offers);
    for group in provider.kx_groups {
        assert!(format!("{group:?}").ends_with("random: SystemRandom }"), "{group:?}");
    }
}

#[test]
fn no_key_is_used_twice() {
    for group in provider().kx_groups {
        let [one, other] = [(); 2].map(|()| group.start().unwrap().pub_key().to_vec());
        assert_ne!(one, other, "{group:?}");
    }
}

#[test]
fn shares_that_are_none_are_refused() {
    let compressed = [&[2][..], &bytes("DAD0B65394221CF9B051E1FECA5787D098DFE637FC90B9EF945D0C3772581180")];
    let off_the_curve = [&[4][..], &[1; 64]];
    let cases: [(&dyn SupportedKxGroup, Vec<u8>); 9] = [
        (&X25519, vec![9; 31]),
        // Points of small order (RFC 7748 §6.1).
        (&X25519, vec![0; 32]),
        (&P256, vec![]),
        (&P256, compressed.concat()),
        (&P256, off_the_curve.concat()),
        (&P384, off_the_curve.concat()),
        (&X25519_ML_KEM_768, vec![9; 1088]),
        (&X25519_ML_KEM_768, vec![0; 1120]),
        (&X25519_ML_KEM_768, vec![9; 1121]),
    ];
    for (group, share) in cases {
        let refused = group.start().unwrap().complete(&share).err();
        assert_eq!(refused, Some(Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare)), "{group:?}");
    }
}

/// Uses a number above the order of the curve, which is no private key.
#[test]
fn without_random_bytes_there_is_no_share() {
    let failed = Some(Error::FailedToGetRandomBytes);
    assert_eq!(with_key(&P256, vec![0xff; 32]).start().err(), failed);
    assert_eq!(with_key(&X25519, vec![]).start().err(), failed);
    let silent: &'static Fixed = Box::leak(Box::new(Fixed(&[])));
    assert_eq!(Hybrid::new(&X25519, silent).start().err(), failed);
}
