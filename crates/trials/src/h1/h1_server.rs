//! Any bytes from a client of HTTP/1.1: whole, in pieces, and one by one.

use alula_testkit::{Rng, byte_by_byte, random_split, whole};

use super::h1_listener::{Manner, hear};
use crate::input::Input;

/// Bytes as limits and habits, a way to cut, and what a client says.
pub fn h1_server(data: &[u8]) {
    let mut input = Input::new(data);
    let (manner, seed) = (Manner::of(&mut input, false), input.byte());
    let bytes = input.take(usize::MAX);
    let heard = hear(&manner, &whole(bytes));
    let pieces = random_split(bytes, &mut Rng::new(seed.into()));
    assert_eq!(hear(&manner, &pieces), heard, "{:?}", pieces.lengths());
    assert_eq!(hear(&manner, &byte_by_byte(bytes)), heard);
}
