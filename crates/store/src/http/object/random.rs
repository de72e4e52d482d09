//! Bytes that nobody can foresee.

use crate::http::answer::fail::Fail;

/// Returns random bytes of the system.
///
/// # Errors
/// It gives none.
pub(in crate::http) fn random<const OCTETS: usize>() -> Result<[u8; OCTETS], Fail> {
    let mut octets = [0; OCTETS];
    getrandom::fill(&mut octets).map_err(|error| alula::Error::other(std::io::Error::other(error)))?;
    Ok(octets)
}
