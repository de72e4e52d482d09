//! The exchange itself, its tries, and what is told of it.

pub(in crate::fetch) mod basic;
pub(in crate::fetch) mod client;
pub(in crate::fetch) mod cookies;
pub(in crate::fetch) mod digest;
pub(in crate::fetch) mod exchange;
pub(in crate::fetch) mod following;
pub(in crate::fetch) mod login;
pub(in crate::fetch) mod lookup;
pub(in crate::fetch) mod near_end;
pub(in crate::fetch) mod pace;
pub(in crate::fetch) mod speed;
pub(in crate::fetch) mod together;
pub(in crate::fetch) mod tries;
