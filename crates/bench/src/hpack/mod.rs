//! HPACK alone.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod part_g;
