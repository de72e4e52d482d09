//! Random bytes of the system.

use crate::http::answer::fail::Fail;

/// Returns random bytes of the system.
///
/// # Errors
/// It gives none.
pub(in crate::http) fn random<const BYTES: usize>() -> Result<[u8; BYTES], Fail> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| alula::Error::other(std::io::Error::other(error)))?;
    Ok(bytes)
}
