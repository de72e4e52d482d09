//! The section of `docs/performance.md` about connections that wait.

use std::fmt::Write;
use std::fs;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::super::holding::Who;
use super::super::versions::{locked, told};
use super::super::works::machine;
use super::kinds::{Row, Table};
use crate::costs::figures::Tools;
use crate::costs::table::thousands;

/// The machine and the versions, then each table.
pub(super) fn markdown(tables: &[Table]) -> Result<String> {
    let mut text = heading()?;
    for table in tables {
        write!(text, "\n### {}\n\n{}\n\n", table.title, table.text)?;
        text += &rows(table);
    }
    Ok(text)
}

fn heading() -> Result<String> {
    let file = repository_root().join("bench-peers/rust/Cargo.lock");
    let lock = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let version = |name| locked(&lock, name).with_context(|| format!("{name} is not locked"));
    let Tools { compiler, libc } = Tools::here()?;
    Ok(format!(
        "{}. hyper {}, rustls {}, tokio {}, nginx {}; {compiler}, {libc}.\n",
        machine()?,
        version("hyper")?,
        version("rustls")?,
        version("tokio")?,
        told("nginx")?
    ))
}

/// A row for each kind, with a column for each program and one for the goal.
fn rows(table: &Table) -> String {
    let labels: Vec<&str> = table.who.iter().map(|who| who.label()).collect();
    let columns = " ---: |".repeat(labels.len());
    let mut text =
        format!("| connection | {} | goal | met |\n| --- |{columns} ---: | --- |\n", labels.join(" | "));
    for row in &table.rows {
        let octets = table.who.iter().map(|who| row.octets.get(who).copied().map_or("–".into(), thousands));
        let octets: Vec<String> = octets.collect();
        let (goal, met) = goal(table, row);
        writeln!(text, "| {} | {} | {goal} | {met} |", row.title, octets.join(" | ")).expect("a String");
    }
    text
}

/// The goal, and if it is met.
fn goal(table: &Table, row: &Row) -> (String, &'static str) {
    match ((table.goal)(row), row.octets.get(&Who::Alula)) {
        (Some(goal), Some(own)) => (thousands(goal), if *own <= goal { "yes" } else { "**no**" }),
        _ => ("–".to_owned(), "–"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::tables;
    use super::*;

    #[test]
    fn a_goal_that_is_missed_is_marked() {
        let mut table = tables().swap_remove(0);
        table.rows[0].octets.extend([(Who::Alula, 5000.0), (Who::Nginx, 500.0)]);
        let text = rows(&table);
        assert!(text.contains("| 5,000 | – | – | 500 | 4,096 | **no** |"), "{text}");
        let columns: Vec<usize> = text.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [8; 10], "{text}");
    }
}
