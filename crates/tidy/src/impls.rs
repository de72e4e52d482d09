//! The methods of a type stand in the folder of the type, or below it.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, Type};

use crate::{Source, rooms::in_product};

/// Crates in which some still stand elsewhere. The list may only become shorter.
const UNTIDY: [&str; 3] = ["client", "server", "store"];

/// Blocks of methods that stand outside of the folder of their type, and crates that are listed although they
/// have none.
#[must_use]
pub fn check_impls(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, syn::File)>> = BTreeMap::new();
    for (source, name, within) in in_product(sources) {
        if let Ok(file) = syn::parse_file(&source.text) {
            crates.entry(name).or_default().push((within, file));
        }
    }
    let check = |(name, files): (&str, Vec<_>)| -> Vec<String> {
        let found = of_crate(name, &files);
        match UNTIDY.contains(&name) {
            true if found.is_empty() => vec![format!("crates/{name} is tidy: take it off the list")],
            true => Vec::new(),
            false => found,
        }
    };
    crates.into_iter().flat_map(check).collect()
}

fn of_crate(name: &str, files: &[(&str, syn::File)]) -> Vec<String> {
    let mut homes: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, file) in files {
        for defined in file.items.iter().filter_map(defined) {
            homes.entry(defined).or_default().insert(path);
        }
    }
    let blocks = files.iter().flat_map(|(path, file)| {
        file.items.iter().filter_map(extended).map(move |extended| (*path, extended))
    });
    let away = blocks.filter_map(|(path, extended)| {
        let homes = homes.get(&extended).filter(|homes| !homes.iter().any(|home| is_near(path, home)))?;
        let home = homes.first()?;
        Some(format!("crates/{name}/src/{path}: methods of {extended}, which is in {home}"))
    });
    away.collect()
}

/// Returns true if a file is in the folder of another, or below, or in the folder that the other heads.
fn is_near(path: &str, home: &str) -> bool {
    let folder = home.rsplit_once('/').map_or("", |(folder, _)| folder);
    let own = home.strip_suffix(".rs").unwrap_or(home);
    let is_below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    match folder {
        "" => !path.contains('/') || is_below(own),
        folder => is_below(folder),
    }
}

/// The name that an item defines, of those that can have methods.
fn defined(item: &Item) -> Option<String> {
    Some(match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// The name of the type that a block of methods extends.
fn extended(item: &Item) -> Option<String> {
    let Item::Impl(block) = item else { return None };
    let mut of = &*block.self_ty;
    while let Type::Reference(reference) = of {
        of = &reference.elem;
    }
    let Type::Path(path) = of else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |(path, text): &(&str, &str)| Source { path: format!("crates/{path}"), text: (*text).to_owned() };
        check_impls(&files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn methods_outside_of_the_folder_of_their_type_are_found() {
        let home = ("net/src/a/b.rs", "struct B;");
        for block in ["impl B {}", "impl<'a> Drop for &'a mut B<'a> {}", "impl crate::a::b::B {}"] {
            for (path, is_away) in [
                ("net/src/a/b.rs", false),
                ("net/src/a/c.rs", false),
                ("net/src/a/b/c.rs", false),
                ("net/src/a/c/d.rs", false),
                ("net/src/ab/c.rs", true),
                ("net/src/c/d.rs", true),
                ("net/src/c.rs", true),
                ("h1/src/c/d.rs", false),
            ] {
                let away = format!("crates/{path}: methods of B, which is in a/b.rs");
                let expected = if is_away { vec![away] } else { vec![] };
                assert_eq!(found(&[home, (path, block)]), expected, "{path} {block}");
            }
        }
    }

    #[test]
    fn a_type_of_the_root_has_its_methods_there_or_in_its_own_folder() {
        let root = ("net/src/b.rs", "enum B {}");
        assert!(found(&[root, ("net/src/c.rs", "impl B {}"), ("net/src/b/c.rs", "impl B {}")]).is_empty());
        assert_eq!(found(&[root, ("net/src/c/d.rs", "impl B {}")]).len(), 1);
    }

    #[test]
    fn a_listed_crate_that_is_tidy_is_found() {
        let listed = UNTIDY[0];
        let (home, away) = (format!("{listed}/src/a/b.rs"), format!("{listed}/src/c/d.rs"));
        assert!(found(&[(&home, "struct B;"), (&away, "impl B {}")]).is_empty());
        assert_eq!(
            found(&[(&home, "struct B;")]),
            [format!("crates/{listed} is tidy: take it off the list")]
        );
    }
}
