//! Memory that is held, and the ledger's account of it.

pub(crate) mod account;
pub(crate) mod idle;
