//! The table of limits in `docs/limits.md`, made from the doc comments and defaults of `Limits`.
//!
//! A row has the name of a limit, its default on servers (and on clients where theirs differs), and the first
//! paragraph of its doc comment without the clause that states the default.

mod value;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use syn::{Attribute, Expr, Field, Fields, File, Item, Lit, Meta};

use crate::repository_root;
use value::{Values, values};

const SOURCE: &str = "crates/machine/src/limits.rs";
const PAGE: &str = "docs/limits.md";
const BEGINNING: &str = "<!-- The table of limits: cargo xtask limits --write -->\n";
const END: &str = "<!-- The end of the table. -->\n";

/// Returns the page with the table as the sources have it.
///
/// # Errors
/// When `Limits` or the page cannot be read, or the page has no place for the table.
pub fn current_limits() -> Result<String> {
    let page = fs::read_to_string(limits_page()).context(PAGE)?;
    let Some((before, rest)) = page.split_once(BEGINNING) else { bail!("{PAGE} has no line {BEGINNING}") };
    let Some((_, after)) = rest.split_once(END) else { bail!("{PAGE} has no line {END}") };
    let source = fs::read_to_string(repository_root().join(SOURCE)).context(SOURCE)?;
    let table = table(&syn::parse_file(&source).context(SOURCE)?)?;
    Ok(format!("{before}{BEGINNING}\n{table}\n{END}{after}"))
}

/// Returns true if the table of the page is the one of the sources.
///
/// # Errors
/// As [`current_limits`].
pub fn check_limits() -> Result<bool> {
    Ok(fs::read_to_string(limits_page())? == current_limits()?)
}

/// The page that holds the table.
#[must_use]
pub fn limits_page() -> PathBuf {
    repository_root().join(PAGE)
}

fn table(file: &File) -> Result<String> {
    let (servers, clients) = values(file)?;
    let mut table = "| limit | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for field in fields(file)? {
        table += &row(field, &servers, &clients)?;
    }
    Ok(table)
}

fn fields(file: &File) -> Result<impl Iterator<Item = &Field>> {
    let limits = file.items.iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == "Limits" => Some(&item.fields),
        _ => None,
    });
    let Some(Fields::Named(fields)) = limits else {
        bail!("{SOURCE} has no struct Limits with named fields")
    };
    Ok(fields.named.iter())
}

fn row(field: &Field, servers: &Values, clients: &Values) -> Result<String> {
    let name = field.ident.as_ref().context("a limit without a name")?.to_string();
    let (meaning, default) = split(&paragraph(&field.attrs));
    let server = servers.get(&name).with_context(|| format!("{name} has no default"))?;
    let default = match (server, clients.get(&name)) {
        (None, _) => default,
        (Some(server), Some(Some(client))) if client != server => format!("{server}; {client} on clients"),
        (Some(server), _) => server.clone(),
    };
    Ok(format!("| `{name}` | {default} | {meaning} |\n"))
}

/// The first paragraph of a doc comment in one line, links without their targets.
fn paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(doc).map(|line| line.trim().to_owned());
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    without_targets(&lines.join(" "))
}

fn doc(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(value) = &pair.value else { return None };
    let Lit::Str(text) = &value.lit else { return None };
    pair.path.is_ident("doc").then(|| text.value())
}

fn without_targets(text: &str) -> String {
    let mut pieces = text.split("](");
    let mut plain = pieces.next().unwrap_or_default().replace('[', "");
    for piece in pieces {
        plain += &piece.split_once(')').map_or("", |(_, rest)| rest).replace('[', "");
    }
    plain
}

/// The paragraph without the clause that states the default, and that clause.
fn split(paragraph: &str) -> (String, String) {
    let starts = ["; by default ", "; default ", ". Default "];
    let Some((meaning, rest)) = starts.iter().find_map(|start| paragraph.split_once(start)) else {
        return (paragraph.to_owned(), String::new());
    };
    let (default, further) = rest.split_once(". ").unwrap_or((rest.trim_end_matches('.'), ""));
    let further = if further.is_empty() { String::new() } else { format!(" {further}") };
    (format!("{meaning}.{further}"), default.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r"
        const WIDE: u32 = 16 * 1024 * 1024;
        pub struct Limits {
            /// The bytes of a [head](Self::heads); default 16 KiB. A longer one is answered 431.
            ///
            /// The reason.
            pub head_bytes: u32,
            /// The connections; by default half of [`all`](Self::all).
            pub connections: Option<u32>,
            /// The time; default 30 s.
            pub time: Duration,
        }
        impl Default for Limits {
            fn default() -> Self {
                Self { head_bytes: 16 * 1024, connections: None, time: Duration::from_secs(30) }
            }
        }
        impl Limits {
            pub fn client() -> Self { Self { head_bytes: WIDE, ..Self::default() } }
        }
    ";

    #[test]
    fn a_row_has_name_default_and_meaning() {
        let table = table(&syn::parse_file(SOURCE).unwrap()).unwrap();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| `head_bytes` | 16 KiB; 16 MiB on clients | The bytes of a head. A longer one is answered 431. |",
                "| `connections` | half of `all` | The connections. |",
                "| `time` | 30 s | The time. |",
            ]
        );
    }
}
