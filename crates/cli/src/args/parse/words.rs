//! The first word of the command line: a command, or the beginning of a request without one.

use std::ffi::OsString;

use clap::Subcommand as _;

use crate::args::{
    Command,
    values::{METHODS, is_in_capitals},
};

/// Inserts the command `request` if the words name none: before a URL, a host, a method in capitals, an item,
/// or a flag that the program itself does not have.
pub(in crate::args) fn named(mut given: Vec<OsString>) -> Vec<OsString> {
    let first = given.get(1).and_then(|first| first.to_str());
    if first.is_some_and(|first| begins_a_request(first, given.len() > 2)) {
        given.insert(1, "request".into());
    }
    given
}

fn begins_a_request(first: &str, is_followed: bool) -> bool {
    if first.starts_with('-') {
        return !["-h", "--help", "-V", "--version"].contains(&first);
    }
    if Command::has_subcommand(first) {
        return false;
    }
    is_like_a_url(first)
        || METHODS.contains(&first)
        || is_followed && !first.is_empty() && is_in_capitals(first)
}

/// Returns true for a word that cannot be a command: it contains a part of a URL or of an item, or is
/// `localhost`.
fn is_like_a_url(word: &str) -> bool {
    word == "localhost" || word.contains(['.', '/', ':', '=', '@', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_needs_no_command() {
        for (given, is_request) in [
            (&["https://a/", "-L"][..], true),
            (&["-sSL", "a"], true),
            (&[":8080/x"], true),
            (&["--json", "{}", "a"], true),
            (&["a.example"], true),
            (&["a.example/x", "b=c"], true),
            (&["a:80"], true),
            (&["[::1]"], true),
            (&["localhost"], true),
            (&["GET", "a"], true),
            (&["M-SEARCH", "a"], true),
            (&["q==1", ":80"], true),
            (&["GET"], true),
            (&["PURGE"], false),
            (&["--help"], false),
            (&["-V"], false),
            (&["get", "https://a/"], false),
            (&["help", "get"], false),
            (&["fetch", "a"], false),
            (&["Get", "a"], false),
            (&[""], false),
            (&[], false),
        ] {
            let all = ["alula"].iter().chain(given).map(OsString::from).collect();
            let named = named(all);
            assert_eq!(named.get(1).is_some_and(|word| word == "request"), is_request, "{given:?}");
        }
    }
}
