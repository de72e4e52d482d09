//! The recorded figures of one target: `crates/bench/figures/TARGET.txt`, one line per workload.
//!
//! Rule: the instructions of a line are the fewest that the workload ever took, and the sums the least that
//! there ever were. A record rises with a reason alone, which stands at the end of its line.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::files::figures_folder;
use super::measure::{Use, Workload};
use crate::command::answer;

/// What was measured, and with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) tools: Tools,
    pub(crate) rows: Vec<Row>,
    /// The least sums that there ever were; none before the first whole record.
    pub(crate) sums: Option<Sums>,
}

/// Instructions of rows that are held, together: of all, and of those below a million. A few rows of long
/// texts are nearly all of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sums {
    pub(crate) all: f64,
    pub(crate) small: f64,
}

/// So much less is no difference between two records of allocations.
const ALLOCATIONS_MIN: f64 = 0.005;

/// Rows above so many instructions would hide all others in a sum.
const SMALL_MAX: f64 = 1e6;

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
    /// The bytes asked for by the allocations.
    pub(crate) bytes: f64,
    /// The reason for which the record rose the last time; empty if it never did.
    pub(crate) reason: String,
}

impl Sums {
    pub(crate) fn of(rows: &[Row], workloads: &[Workload]) -> Self {
        let is_held = |row: &&Row| {
            let mut named = workloads.iter().filter(|workload| workload.name == row.name);
            named.any(|workload| workload.instructions == Use::Held)
        };
        let instructions = || rows.iter().filter(is_held).filter_map(|row| row.instructions);
        Self { all: instructions().sum(), small: instructions().filter(|count| *count < SMALL_MAX).sum() }
    }

    fn lesser(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), small: self.small.min(other.small) }
    }
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

    /// Counts of instructions that are less than those here take their place, and so do allocations in the
    /// place of fewer than none: the warm-up was not over then, and more was allocated in it than later.
    pub(crate) fn lessen(&mut self, again: &Self) {
        for row in &mut self.rows {
            let Some(second) = again.get(&row.name) else { continue };
            if let (Some(first), Some(second)) = (row.instructions, second.instructions) {
                row.instructions = Some(first.min(second));
            }
            if row.allocations < 0.0 {
                (row.allocations, row.bytes) = (second.allocations, second.bytes);
            }
        }
    }

    /// Takes fresh figures over, in the order of the workloads; rows of others go. Returns the rows that are
    /// worse than recorded: without a reason, their record stays.
    pub(crate) fn update(
        &mut self,
        fresh: Self,
        workloads: &[Workload],
        reason: Option<&str>,
    ) -> Vec<String> {
        let is_whole = fresh.rows.len() == workloads.len();
        let (before, sums) = (std::mem::take(&mut self.rows), Sums::of(&fresh.rows, workloads));
        let mut risen = Vec::new();
        for workload in workloads {
            let old = before.iter().find(|row| row.name == workload.name);
            match (fresh.get(&workload.name), old) {
                (Some(new), Some(old)) => self.rows.push(old.ratcheted(new, workload, reason, &mut risen)),
                (Some(row), None) | (None, Some(row)) => self.rows.push(row.clone()),
                (None, None) => {}
            }
        }
        self.tools = fresh.tools;
        self.sums = Some(match self.sums {
            Some(least) => {
                let [was, is] = [&before, &self.rows].map(|rows| Sums::of(rows, workloads));
                // Records that rose with a reason, came or went are no saving and no waste.
                let least = Sums {
                    all: least.all + (is.all - was.all).max(0.0),
                    small: least.small + (is.small - was.small).max(0.0),
                };
                if is_whole { least.lesser(sums) } else { least }
            }
            None => Sums::of(&self.rows, workloads),
        });
        risen
    }

    fn parse(text: &str) -> Result<Self> {
        let mut figures = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ').context("a line has a name and something else")? {
                ("compiler", version) => figures.tools.compiler = version.to_owned(),
                ("libc", version) => figures.tools.libc = version.to_owned(),
                ("sums", sums) => {
                    let (all, small) = sums.split_once(' ').context("two sums are wanted")?;
                    figures.sums = Some(Sums { all: all.parse()?, small: small.trim().parse()? });
                }
                (name, rest) => figures.rows.push(Row::parse(name, rest).with_context(|| line.to_owned())?),
            }
        }
        Ok(figures)
    }

    fn to_text(&self) -> String {
        let mut text = String::from(
            "# Written by `cargo xtask costs --write`. Per unit of each workload: the fewest instructions that it ever took, then\n\
             # allocations and bytes as they are, then the reason for which the record rose the last time. `sums` are the least sums\n\
             # of all rows, and of those below a million.\n",
        );
        let Tools { compiler, libc } = &self.tools;
        write!(text, "compiler {compiler}\nlibc {libc}\n").expect("a String takes any text");
        if let Some(Sums { all, small }) = self.sums {
            writeln!(text, "sums {all:.1} {small:.1}").expect("as above");
        }
        let [name, instructions, allocations, bytes] = ["# workload", "instructions", "allocations", "bytes"];
        writeln!(text, "{name:<28} {instructions:>14} {allocations:>12} {bytes:>12}  reason")
            .expect("as above");
        for row in &self.rows {
            let instructions =
                row.instructions.map_or("-".into(), |instructions| format!("{instructions:.1}"));
            let (name, allocations, bytes) = (&row.name, short(row.allocations), short(row.bytes));
            let line = format!("{name:<28} {instructions:>14} {allocations:>12} {bytes:>12}  {}", row.reason);
            writeln!(text, "{}", line.trim_end()).expect("as above");
        }
        text
    }
}

impl Row {
    fn parse(name: &str, rest: &str) -> Result<Self> {
        let columns: Vec<&str> = rest.split_whitespace().collect();
        let [instructions, allocations, bytes, ref reason @ ..] = columns[..] else {
            bail!("three figures are wanted")
        };
        let instructions = if instructions == "-" { None } else { Some(instructions.parse()?) };
        Ok(Self {
            name: name.to_owned(),
            instructions,
            allocations: allocations.parse()?,
            bytes: bytes.parse()?,
            reason: reason.join(" "),
        })
    }

    /// The record after fresh figures. One that is worse is told, and is a record only with a reason.
    fn ratcheted(
        &self,
        new: &Self,
        workload: &Workload,
        reason: Option<&str>,
        risen: &mut Vec<String>,
    ) -> Self {
        let pair = self.instructions.zip(new.instructions);
        let takes_more = workload.instructions == Use::Held && pair.is_some_and(|(old, new)| new > old);
        let allocates_more =
            workload.allocations == Use::Held && new.allocations > self.allocations + ALLOCATIONS_MIN;
        if !takes_more && !allocates_more {
            return Self { reason: self.reason.clone(), ..new.clone() };
        }
        let count = |row: &Self| row.instructions.map_or("-".to_owned(), |count| format!("{count:.1}"));
        risen.push(format!(
            "{}: {} instructions and {} allocations, recorded {} and {}",
            self.name,
            count(new),
            short(new.allocations),
            count(self),
            short(self.allocations)
        ));
        match reason {
            Some(reason) => Self { reason: reason.to_owned(), ..new.clone() },
            None => self.clone(),
        }
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
    Row {
        name: name.into(),
        instructions: Some(instructions),
        allocations,
        bytes: 0.0,
        reason: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_written() {
        let tools =
            Tools { compiler: "rustc 1.95.0 (59807616e 2026-04-14)".into(), libc: "glibc 2.36".into() };
        let tls = Row { instructions: None, bytes: 96.5, ..row("c", 0.0, 1.25) };
        let risen = Row { reason: "a record of every field".into(), ..row("b-b", 12.0, 0.07) };
        let sums = Some(Sums { all: 818.4, small: 818.4 });
        let figures = Figures { tools, rows: vec![row("a", 806.4, 0.0), risen, tls], sums };
        assert_eq!(Figures::parse(&figures.to_text()).expect("its own text"), figures);
        Figures::parse("a 12").unwrap_err();
    }

    fn workloads(names: &[&str]) -> Vec<Workload> {
        let line = |name: &&str| format!("{name}\t1\theld\theld\t\t\tone");
        names.iter().map(|name| Workload::parse(&line(name)).expect("seven columns")).collect()
    }

    #[test]
    fn rows_that_are_gone_go_and_others_keep_their_record() {
        let of = |rows| Figures { rows, ..Figures::default() };
        let mut figures = of(vec![row("a", 1.0, 0.0), row("gone", 1.0, 0.0)]);
        figures.update(of(vec![row("b", 2.0, 0.0)]), &workloads(&["b", "a"]), None);
        assert_eq!(figures.rows, [row("b", 2.0, 0.0), row("a", 1.0, 0.0)]);
    }

    #[test]
    fn a_record_rises_with_a_reason_alone() {
        let of = |instructions| Figures { rows: vec![row("a", instructions, 0.0)], ..Figures::default() };
        let mut figures = of(1000.0);
        assert_eq!(figures.update(of(1010.0), &workloads(&["a"]), None).len(), 1);
        assert_eq!(figures.rows, [row("a", 1000.0, 0.0)], "a rise within 3 % is no record");
        assert!(figures.update(of(900.0), &workloads(&["a"]), None).is_empty());
        assert_eq!(figures.sums.map(|sums| sums.small), Some(900.0));
        figures.update(of(1010.0), &workloads(&["a"]), Some("dates are checked"));
        assert_eq!(figures.rows[0].reason, "dates are checked");
        assert_eq!(
            (figures.rows[0].instructions, figures.sums.map(|sums| sums.all)),
            (Some(1010.0), Some(1010.0))
        );
    }

    #[test]
    fn the_least_sum_is_kept() {
        let of = |one, other| Figures {
            rows: vec![row("a", one, 0.0), row("b", other, 0.0)],
            ..Figures::default()
        };
        let mut figures = of(100.0, 2e6);
        for (one, other) in [(100.0, 2e6), (110.0, 1e6), (90.0, 3e6)] {
            figures.update(of(one, other), &workloads(&["a", "b"]), None);
        }
        assert_eq!(figures.sums, Some(Sums { all: 1_000_110.0, small: 90.0 }));
    }
}
