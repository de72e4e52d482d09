//! The defaults of `Limits` as text, read from its `default` and `client`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use syn::{BinOp, Expr, ExprStruct, File, ImplItem, Item, Lit, Stmt};

/// Values by the names of limits; none where the default is decided when the program runs.
pub(super) type Values = BTreeMap<String, Option<String>>;

/// Returns the defaults of servers, and those of clients that differ.
pub(super) fn values(file: &File) -> Result<(Values, Values)> {
    Ok((values_of(file, "default")?, values_of(file, "client")?))
}

fn values_of(file: &File, function: &str) -> Result<Values> {
    let literal = literal(file, function).with_context(|| format!("Limits has no function {function}"))?;
    let values = literal.fields.iter().map(|field| {
        let syn::Member::Named(name) = &field.member else { bail!("a limit without a name") };
        let name = name.to_string();
        let value = shown(file, &name, &field.expr).with_context(|| format!("the value of {name}"))?;
        Ok((name, value))
    });
    values.collect()
}

/// The literal that a function of `Limits` consists of.
fn literal<'f>(file: &'f File, function: &str) -> Option<&'f ExprStruct> {
    let blocks = file.items.iter().filter_map(|item| match item {
        Item::Impl(block) => Some(&block.items),
        _ => None,
    });
    blocks.flatten().find_map(|item| match item {
        ImplItem::Fn(item) if item.sig.ident == function => match item.block.stmts.last() {
            Some(Stmt::Expr(Expr::Struct(literal), None)) => Some(literal),
            _ => None,
        },
        _ => None,
    })
}

fn shown(file: &File, name: &str, value: &Expr) -> Result<Option<String>> {
    Ok(match value {
        Expr::Path(path) if path.path.is_ident("None") => None,
        Expr::Call(call) => Some(format!("{} s", number(file, call.args.first().context("no seconds")?)?)),
        _ if name.ends_with("percent") => Some(format!("{} %", number(file, value)?)),
        _ => Some(with_unit(number(file, value)?)),
    })
}

fn number(file: &File, value: &Expr) -> Result<u64> {
    Ok(match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(digits) => digits.base10_parse()?,
            _ => bail!("a literal that is no number"),
        },
        Expr::Binary(both) if matches!(both.op, BinOp::Mul(_)) => {
            number(file, &both.left)? * number(file, &both.right)?
        }
        Expr::Path(path) => number(file, constant(file, path.path.get_ident())?)?,
        _ => bail!("an expression that this table cannot read"),
    })
}

fn constant<'f>(file: &'f File, name: Option<&syn::Ident>) -> Result<&'f Expr> {
    let name = name.context("a constant of another file")?;
    let found = file.items.iter().find_map(|item| match item {
        Item::Const(item) if item.ident == *name => Some(&*item.expr),
        _ => None,
    });
    found.with_context(|| format!("no constant {name}"))
}

fn with_unit(number: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| number >= *unit && number.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", number / unit),
        None => number.to_string(),
    }
}
