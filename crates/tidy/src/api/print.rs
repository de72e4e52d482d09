//! Items as single lines: signatures without bodies, constants without values, types without private fields.

use std::collections::BTreeSet;

use syn::{Attribute, Expr, Fields, ImplItem, Item, ItemImpl, Meta, TraitItem, Visibility};

/// Returns true if the item is `pub`, and neither hidden from documentation nor a kind that is handled
/// elsewhere.
pub(super) fn is_public(item: &Item) -> bool {
    let visibility = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        _ => return false,
    };
    matches!(visibility, Visibility::Public(_))
}

/// The item's own lines: the item, then each public field, variant or member, then what it derives.
pub(super) fn item_lines(item: &Item) -> Vec<String> {
    match item.clone() {
        Item::Const(mut item) => {
            keep_telling(&mut item.attrs);
            *item.expr = unsaid();
            vec![line(Item::Const(item))]
        }
        Item::Enum(item) => enum_lines(item),
        Item::Fn(mut item) => {
            keep_telling(&mut item.attrs);
            item.block.stmts.clear();
            vec![without_body(&line(Item::Fn(item)))]
        }
        Item::Static(mut item) => {
            keep_telling(&mut item.attrs);
            *item.expr = unsaid();
            vec![line(Item::Static(item))]
        }
        Item::Struct(item) => struct_lines(item),
        Item::Trait(item) => trait_lines(item),
        Item::Type(mut item) => {
            keep_telling(&mut item.attrs);
            vec![line(Item::Type(item))]
        }
        _ => Vec::new(),
    }
}

/// For an inherent impl a line per public member; for a trait's impl one line, with its associated types.
pub(super) fn impl_lines(item: &ItemImpl) -> Vec<String> {
    let mut bare = item.clone();
    keep_telling(&mut bare.attrs);
    bare.items.clear();
    if item.trait_.is_some() {
        bare.items.extend(item.items.iter().filter(|inner| matches!(inner, ImplItem::Type(_))).cloned());
        for inner in &mut bare.items {
            forget_attributes(inner);
        }
        return vec![without_body(&line(Item::Impl(bare)))];
    }
    let members = item.items.iter().filter_map(public_member);
    members
        .map(|member| line(Item::Impl(ItemImpl { items: vec![member], ..bare.clone() })))
        .map(tidy_member)
        .collect()
}

/// The upper-case names in the tokens of a macro's invocation: the constants it defines.
pub(super) fn constants(tokens: &str) -> BTreeSet<String> {
    let outside_strings = tokens.split('"').step_by(2);
    let words = outside_strings.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let is_upper =
        |word: &str| word == word.to_ascii_uppercase() && word.starts_with(|c: char| c.is_alphabetic());
    words.filter(|word| word.len() > 1 && is_upper(word)).map(str::to_owned).collect()
}

fn enum_lines(mut item: syn::ItemEnum) -> Vec<String> {
    let derived = derives(&item.attrs);
    keep_telling(&mut item.attrs);
    let variants = std::mem::take(&mut item.variants);
    let mut lines = vec![line(Item::Enum(item.clone()))];
    for mut variant in variants {
        keep_telling(&mut variant.attrs);
        variant.fields.iter_mut().for_each(|field| field.attrs.clear());
        let mut one = item.clone();
        one.variants.push(variant);
        lines.push(line(Item::Enum(one)));
    }
    lines.extend(derived);
    lines
}

fn struct_lines(mut item: syn::ItemStruct) -> Vec<String> {
    let derived = derives(&item.attrs);
    keep_telling(&mut item.attrs);
    let mut lines = BTreeSet::new();
    for field in &item.fields {
        lines.insert(match &field.vis {
            Visibility::Public(_) => line(Item::Struct(with_only(&item, field))),
            _ => private_fields(&item),
        });
    }
    if lines.is_empty() {
        lines.insert(line(Item::Struct(item)));
    }
    lines.into_iter().chain(derived).collect()
}

/// The struct as if it had this field alone.
fn with_only(item: &syn::ItemStruct, field: &syn::Field) -> syn::ItemStruct {
    let mut one = item.clone();
    let mut field = field.clone();
    keep_telling(&mut field.attrs);
    let fields = match &mut one.fields {
        Fields::Named(fields) => &mut fields.named,
        Fields::Unnamed(fields) => &mut fields.unnamed,
        Fields::Unit => return one,
    };
    fields.clear();
    fields.push(field);
    one
}

fn private_fields(item: &syn::ItemStruct) -> String {
    let mut bare = item.clone();
    let (open, close) = if matches!(bare.fields, Fields::Named(_)) { (" { ", " }") } else { ("(", ")") };
    bare.fields = Fields::Unit;
    bare.semi_token = Some(Default::default());
    format!("{}{open}private fields{close}", line(Item::Struct(bare)).trim_end_matches(';'))
}

fn trait_lines(mut item: syn::ItemTrait) -> Vec<String> {
    keep_telling(&mut item.attrs);
    let members = std::mem::take(&mut item.items);
    let mut lines = vec![line(Item::Trait(item.clone()))];
    item.supertraits.clear();
    item.colon_token = None;
    for member in members {
        let mut one = item.clone();
        one.items.push(trait_member(member));
        lines.push(line(Item::Trait(one)));
    }
    lines
}

fn trait_member(mut member: TraitItem) -> TraitItem {
    match &mut member {
        TraitItem::Const(item) => item.attrs.clear(),
        TraitItem::Type(item) => item.attrs.clear(),
        TraitItem::Fn(item) => {
            item.attrs.clear();
            // Whether there is a body says whether the method is provided.
            item.default.iter_mut().for_each(|body| body.stmts.clear());
        }
        _ => {}
    }
    member
}

/// The member as it shall be printed, if it is public.
fn public_member(member: &ImplItem) -> Option<ImplItem> {
    let mut member = member.clone();
    let visibility = match &mut member {
        ImplItem::Const(item) => {
            item.expr = unsaid();
            &item.vis
        }
        ImplItem::Fn(item) => {
            item.block.stmts.clear();
            &item.vis
        }
        ImplItem::Type(item) => &item.vis,
        _ => return None,
    };
    let is_public = matches!(visibility, Visibility::Public(_));
    forget_attributes(&mut member);
    is_public.then_some(member)
}

fn forget_attributes(member: &mut ImplItem) {
    match member {
        ImplItem::Const(item) => keep_telling(&mut item.attrs),
        ImplItem::Fn(item) => keep_telling(&mut item.attrs),
        ImplItem::Type(item) => keep_telling(&mut item.attrs),
        _ => {}
    }
}

/// Keeps the attributes that callers feel.
fn keep_telling(attributes: &mut Vec<Attribute>) {
    let tells =
        |attribute: &Attribute| ["cfg", "non_exhaustive"].iter().any(|name| attribute.path().is_ident(name));
    attributes.retain(tells);
}

/// `impl Clone` for each derived trait.
fn derives(attributes: &[Attribute]) -> Vec<String> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let lists = lists.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(list.tokens.to_string()),
        _ => None,
    });
    let names = lists.flat_map(|list| list.split(',').map(|name| name.replace(' ', "")).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).map(|name| format!("impl {name}")).collect()
}

/// What stands for a value.
fn unsaid() -> Expr {
    syn::parse_str("_").expect("an expression")
}

/// The formatted item with all space made single.
fn line(item: Item) -> String {
    let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] };
    let words: Vec<String> = prettyplease::unparse(&file).split_whitespace().map(str::to_owned).collect();
    words
        .join(" ")
        .replace("( ", "(")
        .replace(", )", ")")
        .replace("< ", "<")
        .replace(", >", ">")
        .replace(", {", " {")
}

fn without_body(line: &str) -> String {
    without_mut(line).trim_end_matches("{}").trim_end().trim_end_matches(',').to_owned()
}

/// `impl X { pub fn f() {} }` without the empty body.
fn tidy_member(line: String) -> String {
    without_mut(&line).replace(" {} }", " }").replace(", }", " }")
}

/// Whether a function changes what it was handed is its own affair: `(mut self)` is `(self)` to callers.
fn without_mut(line: &str) -> String {
    line.replace("(mut ", "(").replace(", mut ", ", ")
}
