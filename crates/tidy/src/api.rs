//! The public API of `alula`, one line per item, read from the sources.
//!
//! Theory of operation: `sources` parses every library crate; `names` follows `use` declarations as far as
//! our own crates go; `walk` starts at the facade, visits everything public in order of depth and gives each
//! item its first and shortest path; `print` turns an item into lines. Impls are collected afterwards,
//! wherever they stand.
//!
//! Rule: nothing is expanded. What a macro defines is listed by the upper-case names in its invocation, which
//! is what our tables of constants look like.

mod nameless;
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

/// The crates that the facade has only by a feature, with that feature and those that switch it on
/// (`crates/alula/Cargo.toml`).
const SIDES: [(&str, &[&str]); 2] = [
    ("alula_client", &["client", "blocking", "metrics"]),
    ("alula_server", &["server", "files", "self-signed"]),
];

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

/// Says which types and traits the public API shows without a path in the facade by which users could name
/// them: with all features, and with all but the client or the server.
///
/// # Errors
/// When a file of our library crates cannot be read or parsed.
pub fn check_nameless() -> Result<Vec<String>> {
    let crates = Crates::load()?;
    let mut findings = nameless_in(&crates);
    for (name, features) in SIDES {
        let without = nameless_in(&crates.without(name, features)).into_iter();
        let further: Vec<String> = without.filter(|finding| !findings.contains(finding)).collect();
        findings.extend(further.iter().map(|finding| format!("without {name}: {finding}")));
    }
    Ok(findings)
}

fn nameless_in(crates: &Crates) -> Vec<String> {
    nameless::nameless(crates, &walk::public_paths(crates, "alula")).into_iter().collect()
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
    fn what_signatures_show_can_be_named() {
        let facade = "pub use alula_net::{Client, Named, Shown, run};";
        let net = "
            mod inner;
            use inner::{Alias, Field, Returned, Sealed, Taken, Unseen, sealed::Owner};
            pub struct Named;
            pub struct Client { pub field: Option<Field>, pub alias: Alias, secret: Unseen }
            impl Client {
                pub fn call<'a, T: Into<Named>>(&'a self, t: T, taken: &[Taken]) -> Result<Named, std::io::Error> {}
                pub fn wrong(&self) -> Missing {}
                #[doc(hidden)]
                pub fn hidden(&self) -> Unseen {}
                fn private(&self) -> Unseen {}
            }
            impl Iterator for Client { type Item = Returned; fn next(&mut self) -> Option<Returned> { None } }
            impl Sealed for Client { type Own = Unseen; }
            pub trait Shown: Owner { type Own; #[doc(hidden)] fn hidden(self) -> Unseen; fn own(self) -> Self::Own; }
            pub fn run(each: impl Fn(Taken) -> u8, other: nowhere::Lines, known: tokio::io::Lines<u8>) -> impl Sealed<Own = u8> {}
        ";
        let inner = "
            pub struct Field; pub struct Returned; pub trait Sealed { type Own; } pub struct Taken; pub struct Unseen;
            pub type Alias = Box<Aliased>; pub struct Aliased; pub mod sealed { pub trait Owner {} }
        ";
        let files = [("alula", facade), ("alula_net", net), ("alula_net::inner", inner)];
        let crates = Crates::parse(&files).expect("Rust");
        let hidden = |item: &str, name: &str| {
            format!("alula::{item} shows alula_net::inner::{name}, which has no path in the facade")
        };
        let nowhere = |item: &str, name: &str| {
            format!("alula::{item} shows {name}, which leads nowhere, or into a crate that users do not name")
        };
        assert_eq!(
            nameless_in(&crates),
            [
                nowhere("Client", "Missing"),
                hidden("Client", "Aliased"),
                hidden("Client", "Field"),
                hidden("Client", "Returned"),
                hidden("Client", "Taken"),
                hidden("run", "Sealed"),
                hidden("run", "Taken"),
                nowhere("run", "nowhere::Lines"),
            ]
        );
    }

    #[test]
    fn a_feature_that_is_off_takes_its_names_along() {
        let facade = "
            #[cfg(all(feature = \"server\", any(feature = \"tls\", feature = \"none\")))]
            pub use alula_net::Both;
            #[cfg(feature = \"client\")]
            pub use alula_net::Shown;
            #[cfg(all(feature = \"server\", not(feature = \"client\")))]
            pub use alula_net::Other;
        ";
        let net = "pub struct Both(pub Shown, pub Other); pub struct Shown; pub struct Other;";
        let crates = Crates::parse(&[("alula", facade), ("alula_net", net)]).expect("Rust");
        let finding =
            |name: &str| format!("alula::Both shows alula_net::{name}, which has no path in the facade");
        assert_eq!(nameless_in(&crates), [""; 0]);
        assert_eq!(nameless_in(&crates.without("alula_client", &["client"])), [finding("Shown")]);
        assert_eq!(nameless_in(&crates.without("alula_server", &["server"])), [""; 0]);
        assert_eq!(nameless_in(&crates.without("none", &["tls"])), [finding("Other")]);
    }

    #[test]
    fn a_difference_says_what_went_and_what_came() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["-a", "+c"]);
        assert_eq!(difference("a\n", "a\n"), [""; 0]);
    }
}
