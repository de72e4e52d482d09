//! The recorded figures of one target: `crates/bench/figures/TARGET.txt`, one line per workload.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::files::figures_folder;
use crate::command::answer;

/// What was measured, and with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) tools: Tools,
    pub(crate) rows: Vec<Row>,
}

/// Whatever changes figures without a change of ours.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tools {
    /// As `rustc --version` says.
    pub(crate) compiler: String,
    /// As the C library calls itself; its `memcpy` is in the figures.
    pub(crate) libc: String,
}

/// One workload, per unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// None where they are not counted: over TLS, the cipher's are most of them.
    pub(crate) instructions: Option<f64>,
    pub(crate) allocations: f64,
    /// The octets asked for by the allocations.
    pub(crate) octets: f64,
}

impl Figures {
    /// Those of this target, if there are any.
    pub(crate) fn load() -> Result<Option<Self>> {
        let file = file();
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text).with_context(|| file.display().to_string()).map(Some),
            Err(_) => Ok(None),
        }
    }

    pub(crate) fn save(&self) -> Result<()> {
        std::fs::write(file(), self.to_text()).with_context(|| file().display().to_string())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Counts of instructions that are less than those here take their place, and so do allocations in the place of fewer than none: the
    /// warm-up was not over then, and more was allocated in it than later.
    pub(crate) fn lessen(&mut self, again: &Self) {
        for row in &mut self.rows {
            let Some(second) = again.get(&row.name) else { continue };
            if let (Some(first), Some(second)) = (row.instructions, second.instructions) {
                row.instructions = Some(first.min(second));
            }
            if row.allocations < 0.0 {
                (row.allocations, row.octets) = (second.allocations, second.octets);
            }
        }
    }

    /// Takes fresh figures over, in the order of the names; rows of other names go.
    pub(crate) fn update(&mut self, fresh: Self, names: &[&str]) {
        let row = |name: &&str| fresh.get(name).or(self.get(name)).cloned();
        self.rows = names.iter().filter_map(row).collect();
        self.tools = fresh.tools;
    }

    fn parse(text: &str) -> Result<Self> {
        let mut figures = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ').context("a line has a name and something else")? {
                ("compiler", version) => figures.tools.compiler = version.to_owned(),
                ("libc", version) => figures.tools.libc = version.to_owned(),
                (name, rest) => figures.rows.push(Row::parse(name, rest).with_context(|| line.to_owned())?),
            }
        }
        Ok(figures)
    }

    fn to_text(&self) -> String {
        let mut text = String::from("# Written by `cargo xtask costs --write`. Per unit of each workload.\n");
        let Tools { compiler, libc } = &self.tools;
        let columns = ["# workload", "instructions", "allocations", "octets"];
        let [name, instructions, allocations, octets] = columns;
        write!(text, "compiler {compiler}\nlibc {libc}\n").expect("a String takes any text");
        writeln!(text, "{name:<28} {instructions:>14} {allocations:>12} {octets:>12}").expect("as above");
        for row in &self.rows {
            let instructions =
                row.instructions.map_or("-".into(), |instructions| format!("{instructions:.1}"));
            let (name, allocations, octets) = (&row.name, short(row.allocations), short(row.octets));
            writeln!(text, "{name:<28} {instructions:>14} {allocations:>12} {octets:>12}").expect("as above");
        }
        text
    }
}

impl Row {
    fn parse(name: &str, rest: &str) -> Result<Self> {
        let columns: Vec<&str> = rest.split_whitespace().collect();
        let [instructions, allocations, octets] = columns[..] else { bail!("three figures are wanted") };
        let instructions = if instructions == "-" { None } else { Some(instructions.parse()?) };
        Ok(Self {
            name: name.to_owned(),
            instructions,
            allocations: allocations.parse()?,
            octets: octets.parse()?,
        })
    }
}

impl Tools {
    /// Those of this machine.
    pub(crate) fn here() -> Result<Self> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let compiler = answer(Command::new(rustc).arg("--version")).context("`rustc --version` failed")?;
        let libc =
            answer(Command::new("getconf").arg("GNU_LIBC_VERSION")).unwrap_or_else(|| "unknown".into());
        Ok(Self { compiler: compiler.trim().to_owned(), libc: libc.trim().to_owned() })
    }
}

/// A figure with at most four digits behind the point, and none that say nothing.
pub(crate) fn short(figure: f64) -> String {
    let text = format!("{figure:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Such as `x86_64-linux`.
pub(crate) fn target() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Where the figures of this target are.
pub(crate) fn file() -> PathBuf {
    figures_folder().join(target() + ".txt")
}

/// A row that counts instructions, for tests.
#[cfg(test)]
pub(crate) fn row(name: &str, instructions: f64, allocations: f64) -> Row {
    Row { name: name.into(), instructions: Some(instructions), allocations, octets: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let tools =
            Tools { compiler: "rustc 1.95.0 (59807616e 2026-04-14)".into(), libc: "glibc 2.36".into() };
        let tls = Row { instructions: None, octets: 96.5, ..row("c", 0.0, 1.25) };
        let figures = Figures { tools, rows: vec![row("a", 806.4, 0.0), row("b-b", 12.0, 0.07), tls] };
        assert_eq!(Figures::parse(&figures.to_text()).expect("its own text"), figures);
        Figures::parse("a 12").unwrap_err();
    }

    #[test]
    fn fresh_figures_replace_old_ones_and_names_that_are_gone_go() {
        let mut figures =
            Figures { rows: vec![row("a", 1.0, 0.0), row("gone", 1.0, 0.0)], ..Figures::default() };
        let fresh = Figures { rows: vec![row("b", 2.0, 0.0)], ..Figures::default() };
        figures.update(fresh, &["b", "a"]);
        assert_eq!(figures.rows, [row("b", 2.0, 0.0), row("a", 1.0, 0.0)]);
    }
}
