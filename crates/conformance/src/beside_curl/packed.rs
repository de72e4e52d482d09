//! A text in each content coding, packed by the programs of those who made the codings.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::outcome;
use crate::site::Site;

/// The codings: their names (RFC 9110 §8.4.1, RFC 7932, RFC 8878) and the programs that pack.
pub const CODINGS: [(&str, &str); 3] = [("gzip", "gzip"), ("br", "brotli"), ("zstd", "zstd")];

/// The file of a coding's folder.
pub const FILE: &str = "text";

/// The text: long enough for several frames, and not all the same.
#[must_use]
pub fn text() -> Vec<u8> {
    let lines = (0..8000).map(|number| format!("line {number} has {} in it\n", number * number));
    lines.collect::<String>().into_bytes()
}

/// Writes `gzip/text`, `br/text` and `zstd/text` into the site.
///
/// # Panics
/// When a program is not there or fails.
pub fn write(site: &Site) {
    let plain = site.folder().write(FILE, text());
    for (coding, program) in CODINGS {
        let packed = outcome::run(Command::new(program).arg("-c").arg(&plain), Duration::from_secs(20));
        let folder = site.folder().join(coding);
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(FILE), packed.expect_success().stdout).expect("a file can be written");
    }
}
