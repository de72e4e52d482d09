//! The flags of commands that serve.

pub(in crate::args) mod hosts;
pub(in crate::args) mod listen;
pub(in crate::args) mod pace;
pub(in crate::args) mod servers;
pub(in crate::args) mod watching;
