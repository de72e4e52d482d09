//! Certificates, keys and trust as the flags name them.

pub(in crate::fetch) mod certificate;
pub(in crate::fetch) mod der;
pub(in crate::fetch) mod identity;
pub(in crate::fetch) mod pbes2;
pub(in crate::fetch) mod roots;
pub(in crate::fetch) mod trust;
