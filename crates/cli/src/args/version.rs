//! `alula --version`: the version, and the features of this build.

/// The version, with a line for each feature that may differ between builds; `-V` has the first line alone.
pub(super) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nprotocols: HTTP/1.1, HTTP/2 (http, https)",
    "\nTLS:       1.2 and 1.3, by rustls with aws-lc-rs",
    "\ncodings:   gzip, deflate, br, zstd",
    "\nproxies:   http, https, socks5, socks5h",
    "\nstore:     in memory, on disk (fjall)",
);

#[cfg(test)]
mod tests {
    use super::LONG;

    #[test]
    fn the_first_line_is_the_version_alone() {
        assert_eq!(LONG.lines().next(), Some(env!("CARGO_PKG_VERSION")));
        assert!(LONG.contains("aws-lc-rs"), "{LONG}");
    }
}
