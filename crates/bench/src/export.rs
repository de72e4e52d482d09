//! The lists of fields as files, for peers that are not in Rust; and the blocks that all decoders read.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use alula_hpack::Field;
use alula_testkit::lists::{BROWSER, CREATED, Pair, REQUEST, VISITS};
use alula_testkit::traffic::{self, Ids};

use crate::hpack::decode::{BLOCKS, Blocks};
use crate::hpack::encode::{fields, front_page, proxied, same, visits};

/// Of each request that is made and not sent.
const PSEUDO: [Pair; 4] =
    [(":method", "GET"), (":scheme", "http"), (":authority", "example.com"), (":path", "/static/app")];

/// A field per line, with a tab behind its name; blocks behind their lengths, in two bytes.
pub(crate) fn export(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("request"), lines(&fields(&REQUEST)))?;
    fs::write(folder.join("created"), lines(&fields(&[&PSEUDO[..], &CREATED].concat())))?;
    fs::write(folder.join("varied"), varied())?;
    let proxied = proxied().iter().map(|list| fields(list)).collect();
    let cases = [
        ("a", same(BROWSER), 2),
        ("b", visits(), BLOCKS),
        ("e", same(front_page()), 2),
        ("proxied", proxied, BLOCKS),
    ];
    for (case, lists, count) in cases {
        fs::write(folder.join(format!("fields-{case}")), lines(&lists.concat()))?;
        fs::write(folder.join(format!("blocks-{case}")), Blocks::of(&lists, count).behind_lengths())?;
    }
    Ok(())
}

/// Path, request id and trace of each request of a client whose requests vary.
fn varied() -> String {
    let lines = |number| {
        let Ids { query, request, trace } = traffic::ids(number);
        format!(":path\t/static/app?{query}\nx-request-id\t{request}\nx-trace\t{trace}\n")
    };
    (0..VISITS).map(lines).collect()
}

fn lines(list: &[Field<'_>]) -> String {
    let mut text = String::new();
    for field in list {
        let [name, value] = [field.name, field.value].map(String::from_utf8_lossy);
        writeln!(text, "{name}\t{value}").expect("a String takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_field() {
        assert_eq!(lines(&fields(&[(":path", "/"), ("accept", "*/*")])), ":path\t/\naccept\t*/*\n");
    }
}
