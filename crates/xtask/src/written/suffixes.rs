//! `cargo xtask suffixes`: the table of public suffixes of `crates/client`, made of the list that the pinned
//! crate `psl` has.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use alula_tidy::repository_root;
use anyhow::{Context, Result};
use serde_json::Value;
use url::Host;

use crate::command::{answer, cargo};

/// Says whether the table is that of the list.
pub(crate) fn check() -> Result<ExitCode> {
    let is_fresh = fs::read_to_string(table())? == made()?;
    println!("the table {} that of the list", if is_fresh { "is" } else { "is not" });
    Ok(if is_fresh { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes the table what the list says.
pub(crate) fn write() -> Result<ExitCode> {
    fs::write(table(), made()?)?;
    println!("wrote {}", table().display());
    Ok(ExitCode::SUCCESS)
}

fn table() -> PathBuf {
    repository_root().join("crates/client/src/cookies/suffixes.txt")
}

fn made() -> Result<String> {
    let list = list()?;
    packed(&fs::read_to_string(&list).with_context(|| list.display().to_string())?)
}

/// The rules as they were published, in the sources of `psl`.
fn list() -> Result<PathBuf> {
    let mut metadata: Command = cargo(["metadata", "--format-version", "1", "--locked"]);
    let answer = answer(&mut metadata).context("cargo metadata failed")?;
    let metadata: Value = serde_json::from_str(&answer)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let psl = packages.find(|package| package["name"] == "psl").context("psl is no dependency")?;
    let manifest = psl["manifest_path"].as_str().context("psl has no manifest")?;
    Ok(PathBuf::from(manifest).with_file_name("data").join("rules.txt"))
}

/// A line for each domain that rules end with: the domain, and what stands in front of it. Rules of one label
/// are left out, since a domain of one label is a suffix without a rule.
fn packed(rules: &str) -> Result<String> {
    let mut domains: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for rule in rules.lines() {
        let (sign, rule) = rule.strip_prefix('!').map_or(("", rule), |rule| ("!", rule));
        if let Some((label, domain)) = rule.split_once('.') {
            domains.entry(ascii(domain)?).or_default().insert(format!("{sign}{}", ascii(label)?));
        }
    }
    let line = |(domain, labels): (String, BTreeSet<String>)| {
        format!("{domain} {}\n", Vec::from_iter(labels).join(" "))
    };
    Ok(domains.into_iter().map(line).collect())
}

/// A name as in URLs.
fn ascii(name: &str) -> Result<String> {
    match name.is_ascii() {
        true => Ok(name.to_owned()),
        false => Ok(Host::parse(name).with_context(|| name.to_owned())?.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_list() {
        let is_fresh = fs::read_to_string(table()).unwrap() == made().unwrap();
        assert!(is_fresh, "`cargo xtask suffixes --write` writes another table");
    }

    #[test]
    fn rules_are_packed_by_their_domains() {
        let packed = packed("uk\nco.uk\nac.uk\n*.ck\n!www.ck\nжж.рф\n").unwrap();
        assert_eq!(packed, "ck !www *\nuk ac co\nxn--p1ai xn--f1aa\n");
    }
}
