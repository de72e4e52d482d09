//! What a name means in a module: the part of Rust's name resolution that our own crates need.

use syn::{Item, UseTree, Visibility};

use super::sources::{Crates, ModulePath};

/// What a path leads to.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Target {
    Module(ModulePath),
    /// An item of ours: where it is defined, and its name there.
    Item(ModulePath, String),
    /// Something of a crate that is not ours, as written.
    Outside(String),
}

/// One leaf of a `use` declaration.
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// The name it has here; `None` for `*`.
    pub(super) name: Option<String>,
}

/// More steps than any chain of re-exports of ours has: ends circles.
const STEPS_MAX: usize = 20;

impl Crates {
    /// What `path`, written in `module`, leads to.
    pub(super) fn follow(&self, module: &ModulePath, path: &[String]) -> Target {
        self.follow_within(module, path, STEPS_MAX).unwrap_or_else(|| Target::Outside(path.join("::")))
    }

    fn follow_within(&self, module: &ModulePath, path: &[String], steps: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut target = self.first_step(module, first, steps)?;
        for name in rest {
            target = match target {
                Target::Module(inner) if name == "self" => Target::Module(inner),
                Target::Module(inner) => self.look_up(&inner, name, steps)?,
                Target::Item(..) => return None, // A variant or an associated item.
                Target::Outside(outer) => Target::Outside(format!("{outer}::{name}")),
            };
        }
        Some(target)
    }

    fn first_step(&self, module: &ModulePath, name: &str, steps: usize) -> Option<Target> {
        let own_crate = vec![name.to_owned()];
        match name {
            "crate" => Some(Target::Module(module[..1].to_vec())),
            "self" => Some(Target::Module(module.clone())),
            "super" => Some(Target::Module(module[..module.len() - 1].to_vec())),
            _ if self.modules.contains_key(&own_crate) => Some(Target::Module(own_crate)),
            _ => self.look_up(module, name, steps),
        }
    }

    /// A name in a module: a module, an item, an import, or what a glob brings.
    fn look_up(&self, module: &ModulePath, name: &str, steps: usize) -> Option<Target> {
        let steps = steps.checked_sub(1)?;
        let mut inner = module.clone();
        inner.push(name.to_owned());
        if self.modules.contains_key(&inner) {
            return Some(Target::Module(inner));
        }
        let items = self.modules.get(module)?;
        if items.iter().any(|item| item_name(item).is_some_and(|own| own == name)) {
            return Some(Target::Item(module.clone(), name.to_owned()));
        }
        let imports: Vec<Import> =
            items.iter().filter_map(as_use).flat_map(|(_, tree)| imports(tree)).collect();
        if let Some(import) = imports.iter().find(|import| import.name.as_deref() == Some(name)) {
            let outside = || Some(Target::Outside(import.path.join("::")));
            return self.follow_within(module, &import.path, steps).or_else(outside);
        }
        let globs = imports.iter().filter(|import| import.name.is_none());
        let mut brought = globs.filter_map(|glob| match self.follow_within(module, &glob.path, steps)? {
            Target::Module(inner) => self.look_up(&inner, name, steps),
            _ => None,
        });
        brought.next()
    }
}

/// The name under which an item other than a module can be found.
pub(super) fn item_name(item: &Item) -> Option<String> {
    match item {
        Item::Const(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Static(item) => Some(item.ident.to_string()),
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Trait(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// The visibility and tree of a `use` declaration.
pub(super) fn as_use(item: &Item) -> Option<(&Visibility, &UseTree)> {
    match item {
        Item::Use(item) => Some((&item.vis, &item.tree)),
        _ => None,
    }
}

/// The leaves of a `use` declaration.
pub(super) fn imports(tree: &UseTree) -> Vec<Import> {
    let leaf = |name: String, alias: String| vec![Import { path: vec![name], name: Some(alias) }];
    match tree {
        UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(rename) => leaf(rename.ident.to_string(), rename.rename.to_string()),
        UseTree::Glob(_) => vec![Import { path: Vec::new(), name: None }],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
        UseTree::Path(path) => {
            imports(&path.tree).into_iter().map(|leaf| below(&path.ident.to_string(), leaf)).collect()
        }
    }
}

/// The leaf with one more step in front; `a::{self}` is `a`.
fn below(step: &str, mut leaf: Import) -> Import {
    if leaf.name.as_deref() == Some("self") {
        leaf.name = Some(step.to_owned());
    }
    if leaf.path == ["self"] {
        leaf.path.clear();
    }
    leaf.path.insert(0, step.to_owned());
    leaf
}
