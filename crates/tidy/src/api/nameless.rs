//! Types and traits that signatures show and that cannot be named.
//!
//! Theory of operation: `walk` says which items have a path in the facade; here the signatures of these items
//! and of the impls that concern them are searched for paths, and each path is followed to where it leads. An
//! item of ours that has no path in the facade is a finding, and so is a name that leads nowhere, lest a
//! shape that is not understood pass for a good one. What is hidden from documentation is no signature.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Attribute, Fields, Generics, ImplItem, Item, ItemImpl, TraitItem, Visibility};

use super::names::{Target, item_name};
use super::sources::{Crates, ModulePath};
use super::walk::{Paths, segments, type_path};

/// Crates that are not ours whose types may stand in public signatures: users name them by these crates,
/// whose versions are a part of our API. Those of a feature are used by the ones who switch it on.
const OUTSIDE: &[&str] = &[
    "alloc",
    "core",
    "futures_core",
    "http",
    "http_body",
    // The errors of TLS, which `Cause` shows as they came.
    "rustls",
    // What `serde` hands on.
    "serde_core",
    "std",
    "tokio",
    "tower_service",
];

/// The modules of supertraits that keep everybody else from implementing a trait: they are out of reach on
/// purpose.
const SEALED: &str = "sealed";

/// Names that need no `use`.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "AsyncFn",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "bool",
    "char",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "str",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
];

/// The findings, each a sentence, sorted.
pub(super) fn nameless(crates: &Crates, paths: &Paths) -> BTreeSet<String> {
    let mut findings = BTreeSet::new();
    for (target, path) in paths {
        let Target::Item(module, name) = target else { continue };
        let items = crates.modules.get(module).map_or(&[][..], Vec::as_slice);
        for item in items.iter().filter(|item| item_name(item).as_ref() == Some(name)) {
            let mut search = Search::new(crates, paths, module, path);
            search.item(item);
            findings.append(&mut search.findings);
        }
    }
    for (module, items) in &crates.modules {
        for item in items {
            let Item::Impl(item) = item else { continue };
            let Some(path) = shown_at(crates, paths, module, item) else { continue };
            let mut search = Search::new(crates, paths, module, &path);
            search.implementation(item);
            findings.append(&mut search.findings);
        }
    }
    findings
}

/// The path of the type or the trait under which readers find the impl; `None` if they do not.
fn shown_at(crates: &Crates, paths: &Paths, module: &ModulePath, item: &ItemImpl) -> Option<String> {
    let of_type = type_path(&item.self_ty).map(|path| crates.follow(module, &path));
    let of_trait = item.trait_.as_ref().map(|(path, _)| crates.follow(module, &segments(path)));
    let is_ours = |target: &Target| matches!(target, Target::Item(..));
    let is_hidden = |target: &Target| is_ours(target) && !paths.contains_key(target);
    if of_type.iter().chain(&of_trait).any(is_hidden) {
        return None;
    }
    of_type.iter().chain(&of_trait).find_map(|target| paths.get(target).cloned())
}

/// The search of one item's signature.
struct Search<'c> {
    crates: &'c Crates,
    paths: &'c Paths,
    module: &'c ModulePath,
    /// The item's path in the facade.
    path: &'c str,
    /// The parameters of the item and of its members.
    parameters: BTreeSet<String>,
    findings: BTreeSet<String>,
}

impl<'c> Search<'c> {
    fn new(crates: &'c Crates, paths: &'c Paths, module: &'c ModulePath, path: &'c str) -> Self {
        Self { crates, paths, module, path, parameters: BTreeSet::new(), findings: BTreeSet::new() }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(item) => self.visit_type(&item.ty),
            Item::Enum(item) if !is_hidden(&item.attrs) => {
                self.visit_generics(&item.generics);
                item.variants.iter().for_each(|variant| self.fields(&variant.fields, |_| true));
            }
            Item::Fn(item) if !is_hidden(&item.attrs) => self.visit_signature(&item.sig),
            Item::Static(item) => self.visit_type(&item.ty),
            Item::Struct(item) if !is_hidden(&item.attrs) => {
                self.visit_generics(&item.generics);
                self.fields(&item.fields, |field| is_public(&field.vis));
            }
            Item::Trait(item) if !is_hidden(&item.attrs) => self.definition(item),
            Item::Type(item) => {
                self.visit_generics(&item.generics);
                self.visit_type(&item.ty);
            }
            _ => {}
        }
    }

    fn fields(&mut self, fields: &Fields, is_shown: impl Fn(&syn::Field) -> bool) {
        let shown = fields.iter().filter(|field| is_shown(field) && !is_hidden(&field.attrs));
        shown.for_each(|field| self.visit_type(&field.ty));
    }

    fn definition(&mut self, item: &syn::ItemTrait) {
        self.visit_generics(&item.generics);
        item.supertraits.iter().for_each(|bound| self.visit_type_param_bound(bound));
        for member in &item.items {
            match member {
                TraitItem::Const(member) => self.visit_type(&member.ty),
                TraitItem::Fn(member) if !is_hidden(&member.attrs) => self.visit_signature(&member.sig),
                TraitItem::Type(member) if !is_hidden(&member.attrs) => self.visit_trait_item_type(member),
                _ => {}
            }
        }
    }

    fn implementation(&mut self, item: &ItemImpl) {
        self.visit_generics(&item.generics);
        if let Some((of_trait, _)) = &item.trait_ {
            self.visit_path(of_trait);
        }
        for member in &item.items {
            match member {
                ImplItem::Const(member) if is_public(&member.vis) => self.visit_type(&member.ty),
                ImplItem::Fn(member) if is_public(&member.vis) && !is_hidden(&member.attrs) => {
                    self.visit_signature(&member.sig);
                }
                ImplItem::Type(member) => self.visit_type(&member.ty),
                _ => {}
            }
        }
    }

    /// Follows a path, and keeps what is wrong with where it leads.
    fn follow(&mut self, path: &[String]) {
        let target = self.crates.follow(self.module, path);
        if self.paths.contains_key(&target) {
            return;
        }
        match target {
            Target::Item(module, name) => self.without_path(&module, &name),
            Target::Outside(outer) if !is_known(&outer) => {
                self.find(format!(
                    "shows {outer}, which leads nowhere, or into a crate that users do not name"
                ));
            }
            Target::Outside(_) | Target::Module(_) => {}
        }
    }

    /// An item of ours that has no path: an alias stands for what it says.
    fn without_path(&mut self, module: &ModulePath, name: &str) {
        if module.last().is_some_and(|last| last == SEALED) {
            return;
        }
        let items = self.crates.modules.get(module).map_or(&[][..], Vec::as_slice);
        match items.iter().find(|item| item_name(item).is_some_and(|own| own == name)) {
            Some(item @ Item::Type(_)) => {
                let mut aliased = Search::new(self.crates, self.paths, module, self.path);
                aliased.item(item);
                self.findings.append(&mut aliased.findings);
            }
            _ => self.find(format!("shows {}::{name}, which has no path in the facade", module.join("::"))),
        }
    }

    fn find(&mut self, finding: String) {
        self.findings.insert(format!("{} {finding}", self.path));
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_generics(&mut self, generics: &'ast Generics) {
        self.parameters.extend(generics.type_params().map(|parameter| parameter.ident.to_string()));
        self.parameters.extend(generics.const_params().map(|parameter| parameter.ident.to_string()));
        visit::visit_generics(self, generics);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = segments(path);
        let is_relative = names[0] == "Self" || self.parameters.contains(&names[0]);
        if !is_relative {
            self.follow(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr(&mut self, _: &'ast syn::Expr) {}

    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn is_known(outer: &str) -> bool {
    match outer.split_once("::") {
        Some((first, _)) => OUTSIDE.contains(&first),
        None => PRELUDE.contains(&outer),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns true if documentation leaves it out.
fn is_hidden(attributes: &[Attribute]) -> bool {
    let is_hidden = |attribute: &Attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    };
    attributes.iter().any(is_hidden)
}
