//! The public API of `alula`, one line per item, read from the sources.
//!
//! Theory of operation: `sources` parses every library crate; `names` follows `use` declarations as far as our own
//! crates go; `walk` starts at the facade, visits everything public in order of depth and gives each item its first
//! and shortest path; `print` turns an item into lines. Impls are collected afterwards, wherever they stand.
//!
//! Rule: nothing is expanded. What a macro defines is listed by the upper-case names in its invocation, which is
//! what our tables of constants look like.

mod names;
mod print;
mod sources;
mod walk;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::repository_root;
use sources::Crates;

const HEADER: &str = "# The public API of `alula`, all features. After a change: cargo xtask api --write\n";

/// The snapshot that is checked in.
#[must_use]
pub fn api_file() -> PathBuf {
    repository_root().join("docs/api/alula.txt")
}

/// What the snapshot should hold: sorted lines, each once. Parses some hundred files.
///
/// # Errors
/// When a file of our library crates cannot be read or parsed.
pub fn current_api() -> Result<String> {
    let lines: BTreeSet<String> = walk::public_lines(&Crates::load()?, "alula");
    Ok(lines.into_iter().fold(HEADER.to_owned(), |text, line| text + &line + "\n"))
}

/// Compares the snapshot with the sources: lines gone begin with `-`, new ones with `+`.
///
/// # Errors
/// As [`current_api`], and when the snapshot cannot be read.
pub fn check_api() -> Result<Vec<String>> {
    let file = api_file();
    let snapshot = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    Ok(difference(&snapshot, &current_api()?))
}

fn difference(snapshot: &str, current: &str) -> Vec<String> {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (snapshot.lines().collect(), current.lines().collect());
    let gone = old.difference(&new).map(|line| format!("-{line}"));
    gone.chain(new.difference(&old).map(|line| format!("+{line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        let crates = Crates::parse(files).expect("Rust");
        walk::public_lines(&crates, "alula").into_iter().collect()
    }

    #[test]
    fn a_re_exported_type_comes_with_what_it_can_do() {
        let facade = "pub use alula_net::Client; mod hidden { pub struct Hidden; }";
        let net = "mod client; pub use client::Client; pub struct NotHandedOn;";
        let client = "
            use crate::Trait;
            /// Docs.
            #[derive(Clone)]
            #[non_exhaustive]
            pub struct Client { pub name: String, secret: u8 }
            impl Client {
                pub fn get<'a>(&'a self, mut url: &str) -> Call<'a> { Call(url) }
                fn private(&self) {}
            }
            impl Iterator for Client { type Item = u8; fn next(&mut self) -> Option<u8> { None } }
            #[cfg(test)]
            mod tests { impl super::Client { pub fn for_tests(&self) {} } }
        ";
        let lines = lines(&[("alula", facade), ("alula_net", net), ("alula_net::client", client)]);
        assert_eq!(
            lines,
            [
                "alula::Client: #[non_exhaustive] pub struct Client { private fields }",
                "alula::Client: #[non_exhaustive] pub struct Client { pub name: String, }",
                "alula::Client: impl Client { pub fn get<'a>(&'a self, url: &str) -> Call<'a> }",
                "alula::Client: impl Clone",
                "alula::Client: impl Iterator for Client { type Item = u8; }",
            ]
        );
    }

    #[test]
    fn globs_renames_and_modules_are_followed() {
        let facade =
            "pub use alula_h2 as h2; pub use alula_h2::frame::*; pub use tokio::io::AsyncRead as Read;";
        let h2 =
            "pub mod frame { pub enum Kind { Data(u8), Headers { id: u32 } } pub(crate) fn hidden() {} }";
        assert_eq!(
            lines(&[("alula", facade), ("alula_h2", h2)]),
            [
                "alula::Kind: pub enum Kind { Data(u8), }",
                "alula::Kind: pub enum Kind { Headers { id: u32 }, }",
                "alula::Kind: pub enum Kind {}",
                "alula::Read: pub use tokio::io::AsyncRead",
                "alula::h2: pub mod",
                "alula::h2::frame: pub mod",
                "alula::h2::frame::Kind: pub use alula::Kind",
            ]
        );
    }

    #[test]
    fn traits_functions_constants_and_tables_are_listed() {
        let facade = "
            pub trait Handler: Send { type Future; fn call(&self) -> Self::Future; fn name(&self) -> u8 { 1 } }
            impl<F> Handler for F where F: Fn() -> u8 { type Future = u8; fn call(&self) -> u8 { 1 } }
            pub const LIMIT: usize = 5 * 8;
            pub async fn run(limit: usize) -> Result<(), Error> { Ok(()) }
            pub struct Status(u16);
            statuses! { 200 OK \"FINE\", 404 NOT_FOUND }
        ";
        assert_eq!(
            lines(&[("alula", facade)]),
            [
                "alula::Handler: impl<F> Handler for F where F: Fn() -> u8 { type Future = u8; }",
                "alula::Handler: pub trait Handler { fn call(&self) -> Self::Future; }",
                "alula::Handler: pub trait Handler { fn name(&self) -> u8 {} }",
                "alula::Handler: pub trait Handler { type Future; }",
                "alula::Handler: pub trait Handler: Send {}",
                "alula::LIMIT: pub const LIMIT: usize = _;",
                "alula::Status: pub struct Status(private fields)",
                "alula::run: pub async fn run(limit: usize) -> Result<(), Error>",
                "alula::statuses!: NOT_FOUND",
                "alula::statuses!: OK",
            ]
        );
    }

    #[test]
    fn a_difference_says_what_went_and_what_came() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["-a", "+c"]);
        assert_eq!(difference("a\n", "a\n"), [""; 0]);
    }
}
