//! Where the repository is, and which text files in it are ours.

use std::path::{Path, PathBuf};

/// The root of the repository: two folders above this crate.
///
/// # Panics
/// If this crate has been moved out of `crates/`.
#[must_use]
pub fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies in crates/").to_path_buf()
}
