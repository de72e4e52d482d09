//! Any octets from a server of HTTP/1.1, to a client that asks again whenever it can: whole, in pieces, and
//! one by one.

use alula_testkit::{Rng, byte_by_byte, random_split, whole};

use super::h1_listener::{Manner, hear};
use crate::input::Input;

/// Octets as limits and habits, a way to cut, and what a server says.
pub fn h1_client(data: &[u8]) {
    let mut input = Input::new(data);
    let (manner, seed) = (Manner::of(&mut input, true), input.octet());
    let octets = input.take(usize::MAX);
    let heard = hear(&manner, &whole(octets));
    let pieces = random_split(octets, &mut Rng::new(seed.into()));
    assert_eq!(hear(&manner, &pieces), heard, "{:?}", pieces.lengths());
    assert_eq!(hear(&manner, &byte_by_byte(octets)), heard);
}
