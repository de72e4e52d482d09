//! The parsed modules of our library crates, by path: `["alula_fields", "section"]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Attribute, Expr, Item, Lit, Meta, Token, punctuated::Punctuated};

use crate::{Workspace, repository_root};

/// A module, from its crate on.
pub(super) type ModulePath = Vec<String>;

/// All modules of our library crates, without those for tests.
#[derive(Default)]
pub(super) struct Crates {
    pub(super) modules: BTreeMap<ModulePath, Vec<Item>>,
}

impl Crates {
    /// Reads every published library crate.
    pub(super) fn load() -> Result<Self> {
        let mut crates = Self::default();
        for package in Workspace::load()?.published() {
            let folder = package.name.strip_prefix("alula-").unwrap_or(&package.name);
            let root = repository_root().join("crates").join(folder).join("src/lib.rs");
            if root.is_file() {
                crates.read(vec![package.name.replace('-', "_")], &root)?;
            }
        }
        Ok(crates)
    }

    /// Modules given as text, for tests.
    #[cfg(test)]
    pub(super) fn parse(files: &[(&str, &str)]) -> Result<Self> {
        let mut crates = Self::default();
        for (path, text) in files {
            let path = path.split("::").map(str::to_owned).collect();
            crates.add(path, syn::parse_file(text)?.items, None)?;
        }
        Ok(crates)
    }

    /// The same without one of the crates, and without what is compiled only where one of these features is
    /// on. All others are taken to be on.
    pub(super) fn without(&self, name: &str, off: &[&str]) -> Self {
        let is_kept = |item: &&Item| {
            let mut conditions = attributes(item).iter().filter(|attribute| attribute.path().is_ident("cfg"));
            conditions.all(|it| it.parse_args().map_or(true, |condition| holds(&condition, off)))
        };
        let kept = |items: &Vec<Item>| items.iter().filter(is_kept).cloned().collect();
        let others = self.modules.iter().filter(|(path, _)| path[0] != name);
        Self { modules: others.map(|(path, items)| (path.clone(), kept(items))).collect() }
    }

    fn read(&mut self, path: ModulePath, file: &Path) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| file.display().to_string())?;
        self.add(path, parsed.items, Some(file))
    }

    /// Keeps the items and goes on into the modules among them; `file` is where they stand.
    fn add(&mut self, path: ModulePath, items: Vec<Item>, file: Option<&Path>) -> Result<()> {
        let items: Vec<Item> = items.into_iter().filter(|item| !is_for_tests(attributes(item))).collect();
        for item in &items {
            let Item::Mod(module) = item else { continue };
            let mut inner = path.clone();
            inner.push(module.ident.to_string());
            match (&module.content, file) {
                (Some((_, items)), _) => self.add(inner, items.clone(), file)?,
                (None, Some(file)) => self.read(inner.clone(), &file_of(&inner, file)?)?,
                (None, None) => {}
            }
        }
        self.modules.insert(path, items);
        Ok(())
    }
}

/// The attributes of an item that may be public.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg").then(|| attribute.parse_args::<syn::Ident>());
        condition.is_some_and(|condition| condition.is_ok_and(|word| word == "test"))
    })
}

/// Returns true if a condition of `cfg` holds where all features but these are on. What is no feature holds.
fn holds(condition: &Meta, off: &[&str]) -> bool {
    let Meta::List(list) = condition else { return !off.iter().any(|name| names_feature(condition, name)) };
    let inner = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
    let mut inner = inner.iter().map(|condition| holds(condition, off));
    match list.path.get_ident().map(ToString::to_string).as_deref() {
        Some("any") => inner.any(|holds| holds),
        Some("not") => !inner.all(|holds| holds),
        _ => inner.all(|holds| holds),
    }
}

/// Returns true if a condition is `feature = "…"` with this name.
fn names_feature(condition: &Meta, name: &str) -> bool {
    let Meta::NameValue(pair) = condition else { return false };
    let is_name = matches!(&pair.value, Expr::Lit(value) if matches!(&value.lit, Lit::Str(text) if text.value() == name));
    pair.path.is_ident("feature") && is_name
}

/// `section.rs` or `section/mod.rs`, in the folder that the module's parent has.
fn file_of(path: &ModulePath, parent: &Path) -> Result<PathBuf> {
    let name = path.last().context("a module has a name")?;
    let beside = parent.with_file_name("");
    let stem = parent.file_stem().unwrap_or_default();
    let folder = if stem == "lib" || stem == "mod" { beside } else { beside.join(stem) };
    let files = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let file = files.into_iter().find(|file| file.is_file());
    file.with_context(|| format!("no file for the module {}", path.join("::")))
}
