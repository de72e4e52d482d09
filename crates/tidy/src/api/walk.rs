//! From the facade to every public item, breadth first, so that an item's first path is its shortest.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use syn::{Item, ItemImpl, Type, Visibility};

use super::names::{Target, as_use, imports, item_name};
use super::print;
use super::sources::{Crates, ModulePath};

/// The first path that each target has in the facade.
pub(super) type Paths = BTreeMap<Target, String>;

/// The lines of everything that can be named from the crate `facade`, and of the impls that concern it.
pub(super) fn public_lines(crates: &Crates, facade: &str) -> BTreeSet<String> {
    let mut walk = Walk::of(crates, facade);
    walk.beside_the_tree();
    walk.lines
}

/// Everything that can be named from the crate `facade`.
pub(super) fn public_paths(crates: &Crates, facade: &str) -> Paths {
    Walk::of(crates, facade).paths
}

struct Walk<'c> {
    crates: &'c Crates,
    lines: BTreeSet<String>,
    paths: Paths,
    /// Modules still to be visited, with the path they have in the facade.
    waiting: VecDeque<(String, ModulePath)>,
}

impl<'c> Walk<'c> {
    /// Goes through everything that can be named from the crate `facade`.
    fn of(crates: &'c Crates, facade: &str) -> Self {
        let mut walk =
            Self { crates, lines: BTreeSet::new(), paths: BTreeMap::new(), waiting: VecDeque::new() };
        let root = vec![facade.to_owned()];
        walk.paths.insert(Target::Module(root.clone()), facade.to_owned());
        walk.waiting.push_back((facade.to_owned(), root));
        while let Some((path, module)) = walk.waiting.pop_front() {
            walk.module(&path, &module);
        }
        walk
    }

    fn module(&mut self, path: &str, module: &ModulePath) {
        for item in self.items(module) {
            match item {
                Item::Use(declaration) if is_public(&declaration.vis) => self.re_exports(path, module, item),
                Item::Mod(inner) if is_public(&inner.vis) => {
                    let target = self.crates.follow(module, &["self".into(), inner.ident.to_string()]);
                    self.found(format!("{path}::{}", inner.ident), target);
                }
                item if print::is_public(item) => {
                    let name = item_name(item).expect("a public item has a name");
                    self.found(format!("{path}::{name}"), Target::Item(module.clone(), name));
                }
                _ => {}
            }
        }
    }

    fn re_exports(&mut self, path: &str, module: &ModulePath, item: &Item) {
        let (_, tree) = as_use(item).expect("a use declaration");
        for import in imports(tree) {
            match (self.crates.follow(module, &import.path), import.name) {
                (target, Some(name)) => self.found(format!("{path}::{name}"), target),
                (Target::Module(inner), None) => self.module(path, &inner),
                (Target::Outside(outer), None) => {
                    self.lines.insert(format!("{path}: pub use {outer}::*"));
                }
                (Target::Item(..), None) => {} // The variants of an enum, which are listed with it.
            }
        }
    }

    /// Lists what has no path yet, and says of the rest where it is listed.
    fn found(&mut self, path: String, target: Target) {
        if let Some(first) = self.paths.get(&target) {
            if *first != path {
                self.lines.insert(format!("{path}: pub use {first}"));
            }
            return;
        }
        match &target {
            Target::Outside(outer) => {
                self.lines.insert(format!("{path}: pub use {outer}"));
            }
            Target::Module(module) => {
                self.lines.insert(format!("{path}: pub mod"));
                self.waiting.push_back((path.clone(), module.clone()));
            }
            Target::Item(module, name) => {
                let items = self.items(module).iter();
                let named = items.filter(|item| item_name(item).is_some_and(|own| own == *name));
                for line in named.flat_map(print::item_lines) {
                    self.lines.insert(format!("{path}: {line}"));
                }
            }
        }
        self.paths.insert(target, path);
    }

    /// Impls and tables of constants belong to what they concern, wherever they stand.
    fn beside_the_tree(&mut self) {
        let crates = self.crates;
        let used: BTreeSet<String> = self.paths.keys().filter_map(own_crate).collect();
        for (module, items) in crates.modules.iter().filter(|(module, _)| used.contains(&module[0])) {
            for item in items {
                match item {
                    Item::Impl(item) => self.impl_lines(module, item),
                    Item::Macro(item) if item.ident.is_none() => self.table_lines(module, &item.mac),
                    _ => {}
                }
            }
        }
    }

    fn impl_lines(&mut self, module: &ModulePath, item: &ItemImpl) {
        let of_type = type_path(&item.self_ty).and_then(|path| self.first_path(module, &path));
        let of_trait = item.trait_.as_ref().and_then(|(path, _)| self.first_path(module, &segments(path)));
        let Some(path) = of_type.or(of_trait) else { return };
        for line in print::impl_lines(item) {
            self.lines.insert(format!("{path}: {line}"));
        }
        let tables = item.items.iter().filter_map(|inner| match inner {
            syn::ImplItem::Macro(table) => Some(&table.mac),
            _ => None,
        });
        tables.for_each(|table| self.table_lines(module, table));
    }

    fn table_lines(&mut self, module: &ModulePath, table: &syn::Macro) {
        let name = segments(&table.path).join("::");
        for constant in print::constants(&table.tokens.to_string()) {
            self.lines.insert(format!("{}::{name}!: {constant}", module.join("::")));
        }
    }

    /// The listed path of what is called `path` in `module`, if it is listed.
    fn first_path(&self, module: &ModulePath, path: &[String]) -> Option<String> {
        self.paths.get(&self.crates.follow(module, path)).cloned()
    }

    fn items(&self, module: &ModulePath) -> &'c [Item] {
        self.crates.modules.get(module).map_or(&[], Vec::as_slice)
    }
}

fn own_crate(target: &Target) -> Option<String> {
    match target {
        Target::Module(module) | Target::Item(module, _) => module.first().cloned(),
        Target::Outside(_) => None,
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The path of the type that an impl is for, behind references.
pub(super) fn type_path(of: &Type) -> Option<Vec<String>> {
    match of {
        Type::Path(path) if path.qself.is_none() => Some(segments(&path.path)),
        Type::Reference(reference) => type_path(&reference.elem),
        _ => None,
    }
}

pub(super) fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}
