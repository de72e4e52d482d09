//! The section of `docs/store-performance.md`.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result};

use super::super::options::Options;
use super::super::spread::Spread;
use super::super::table::{fine, spread};
use super::super::versions;
use super::cell::{CONNECTIONS, Cell, Who, cells};
use super::figures::{Figures, Turn};
use crate::command::answer;
use crate::costs::table::thousands;

pub(super) fn markdown(figures: &Figures, options: &Options) -> Result<String> {
    let mut text = heading(options)?;
    for cell in cells() {
        write!(text, "\n### {}\n\n", cell.label())?;
        text += &table(figures, cell);
    }
    text += &flushes(figures);
    text += &floor(figures.floor());
    text += &ahead(figures);
    Ok(text)
}

fn heading(options: &Options) -> Result<String> {
    let (rounds, cores) = (options.rounds, std::thread::available_parallelism()?);
    let quick = if options.divisor > 1 { ", turns shorter than those of a whole run" } else { "" };
    Ok(format!(
        "n = {rounds} rounds{quick}, all servers in turns in each; median (least–most). {}; {cores} cores. {}\n",
        super::super::works::machine()?,
        versions()?
    ))
}

fn versions() -> Result<String> {
    let root = repository_root().join("bench-peers");
    let lock = fs::read_to_string(root.join("store-rust/Cargo.lock"))?;
    let modules = fs::read_to_string(root.join("store-go/go.mod"))?;
    let mut parts = Vec::new();
    for name in ["axum", "hyper", "tokio", "fjall"] {
        let version = versions::locked(&lock, name).with_context(|| format!("{name} is not locked"))?;
        parts.push(format!("{name} {version}"));
    }
    for (name, module) in [("Pebble", "pebble/v2 v"), ("bbolt", "bbolt v")] {
        let (_, rest) = modules.split_once(module).with_context(|| format!("{name} is not required"))?;
        parts.push(format!("{name} {}", rest.split_whitespace().next().unwrap_or_default()));
    }
    parts.push(answer(Command::new("go").arg("version")).context("`go version` failed")?.trim().to_owned());
    for program in ["nginx", "wrk"] {
        parts.push(format!("{program} {}", versions::told(program)?));
    }
    Ok(parts.join(", ") + ".")
}

const COLUMNS: &str = "| who | requests/s | CPU, µs per request | p50, µs | p99, µs | memory, MiB | CPU of the load, µs per request |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

fn table(figures: &Figures, cell: Cell) -> String {
    let mut text = COLUMNS.to_owned();
    for who in Who::ALL.into_iter().filter(|who| figures.has(cell, *who)) {
        let told = |value: fn(&Turn) -> f64, print: fn(f64) -> String| {
            spread(figures.spread(cell, who, value), print)
        };
        let cells = [
            told(|turn| turn.per_second, thousands),
            told(|turn| turn.cpu, fine),
            told(|turn| turn.p50, thousands),
            told(|turn| turn.p99, thousands),
            told(|turn| turn.memory, thousands),
            told(|turn| turn.load_cpu, fine),
        ];
        writeln!(text, "| {} | {} |", who.label(), cells.join(" | ")).expect("a String");
    }
    text
}

fn flushes(figures: &Figures) -> String {
    let columns = CONNECTIONS.map(|connections| format!("{connections} connections"));
    let mut text =
        format!("\n### Flushes per 100 writes\n\n| who | {} |\n| --- | ---: | ---: |\n", columns.join(" | "));
    for who in Who::ALL.into_iter().filter(|who| who.takes_writes()) {
        let counts: Vec<String> = figures.flushes(who).iter().map(|count| format!("{count:.1}")).collect();
        if !counts.is_empty() {
            writeln!(text, "| {} | {} |", who.label(), counts.join(" | ")).expect("a String");
        }
    }
    text
}

/// The batches that fjall alone flushes one after the other.
fn floor(lines: &str) -> String {
    let mut text = "\n### fjall alone, in batches that are flushed one after the other\n\n".to_owned();
    text += "| writes a batch | writes/s | µs a batch |\n| ---: | ---: | ---: |\n";
    for line in lines.lines() {
        let cells: Vec<String> =
            line.split(' ').filter_map(|cell| cell.parse().ok()).map(thousands).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String");
    }
    text
}

/// The peers that took less in a cell, and by how much.
fn ahead(figures: &Figures) -> String {
    let mut rows = String::new();
    for cell in cells() {
        let mut row = |by: &str, ahead: Vec<(Who, Spread)>| {
            for (who, times) in ahead {
                let times = spread(Some(times), fine);
                writeln!(rows, "| {} | {by} | {} | {times} × |", cell.label(), who.label())
                    .expect("a String");
            }
        };
        row("CPU", figures.ahead(cell, |turn| turn.cpu));
        row("p99", figures.ahead(cell, |turn| turn.p99));
    }
    match &*rows {
        "" => "\n### Peers that are ahead\n\nNone, by CPU per request and by p99.\n".to_owned(),
        rows => format!(
            "\n### Peers that are ahead\n\n| load | by | ahead is | by |\n| --- | --- | --- | ---: |\n{rows}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_ahead_is_told() {
        let (mut figures, cell) = (Figures::default(), cells().next().expect("a cell"));
        for (who, cpu, p99) in [(Who::Alula, 4.0, 9.0), (Who::Nginx, 2.0, 10.0)] {
            figures.add(
                cell,
                who,
                Turn { cpu, load_cpu: 1.0, per_second: 5000.0, p50: 1.0, p99, memory: 1.0 },
            );
        }
        assert!(table(&figures, cell).contains("| nginx, files | 5,000 (5,000–5,000) | 2.00 (2.00–2.00) |"));
        assert!(floor("32 3862 8285\n").ends_with("| 32 | 3,862 | 8,285 |\n"));
        let ahead = ahead(&figures);
        assert!(ahead.contains("| CPU | nginx, files | 2.00 (2.00–2.00) × |"), "{ahead}");
        assert!(!ahead.contains("| p99 |"), "{ahead}");
    }
}
