//! Any bytes from a server, to a client that has asked for something: whole, in pieces, and by a driver that
//! gives everything back at once.

use alula_testkit::{Rng, byte_by_byte, random_split, whole};

use super::frames::conversation;
use super::listener::Listener;
use crate::input::Input;

/// Bytes as limits, a way to cut, and what a server says.
pub fn h2_client(data: &[u8]) {
    let mut input = Input::new(data);
    let (is_small, seed) = (input.flag(), input.byte());
    let bytes = conversation(&mut input, false);
    let listener = |is_eager| {
        let mut listener = Listener::new(true, is_small, is_eager);
        listener.ask();
        listener
    };
    let heard = listener(false).hear(&whole(&bytes));
    let pieces = random_split(&bytes, &mut Rng::new(seed.into()));
    assert_eq!(listener(false).hear(&pieces), heard, "{:?}", pieces.lengths());
    assert_eq!(listener(false).hear(&byte_by_byte(&bytes)), heard);
    listener(true).hear(&pieces);
}
