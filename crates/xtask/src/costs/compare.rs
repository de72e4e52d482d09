//! Fresh figures against recorded ones: allocations equal, instructions no more than a little above.

use std::fmt;

use super::figures::{Figures, Row, Sums, Tools, short};
use super::measure::{Use, Workload};

/// How many more instructions are let pass, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tolerance {
    factor: f64,
    of_sums: f64,
    same_tools: bool,
}

impl Tolerance {
    /// 3 % for a row and 1 % for the sums with the tools of the record; 10 % with others, which no two
    /// versions of a compiler keep to by themselves.
    pub(crate) fn between(recorded: &Tools, now: &Tools) -> Self {
        let same_tools = recorded == now;
        let (factor, of_sums) = if same_tools { (1.03, 1.01) } else { (1.10, 1.10) };
        Self { factor, of_sums, same_tools }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.same_tools {
            true => write!(
                f,
                "same compiler and C library as recorded: 3 % more instructions than the fewest ever are too many, 1 % in the sums"
            ),
            false => {
                write!(f, "another compiler or C library than recorded: 10 % more instructions are too many")
            }
        }
    }
}

/// One line for each workload that costs something else than it may.
pub(crate) fn compare(
    workloads: &[Workload],
    recorded: &Figures,
    now: &Figures,
    tolerance: Tolerance,
) -> Vec<String> {
    let mut lines = Vec::new();
    for workload in workloads {
        match (recorded.get(&workload.name), now.get(&workload.name)) {
            (Some(before), Some(now)) => lines.extend(differences(workload, before, now, tolerance)),
            (None, _) => lines.push(format!("{}: nothing is recorded", workload.name)),
            (_, None) => lines.push(format!("{}: not measured", workload.name)),
        }
    }
    let gone = recorded.rows.iter().filter(|row| workloads.iter().all(|workload| workload.name != row.name));
    lines.extend(gone.map(|row| format!("{}: recorded, but no workload", row.name)));
    lines.extend(sums(workloads, recorded, now, tolerance));
    lines
}

/// A line for each sum that is above the least that there ever was.
fn sums(workloads: &[Workload], recorded: &Figures, now: &Figures, tolerance: Tolerance) -> Vec<String> {
    let Some(least) = recorded.sums else { return Vec::new() };
    let is = Sums::of(&now.rows, workloads);
    let pairs = [("all rows", is.all, least.all), ("all rows below a million", is.small, least.small)];
    let above = pairs.into_iter().filter(|(_, now, least)| *now > least * tolerance.of_sums);
    let line = |(name, now, least): (&str, f64, f64)| {
        let percent = (now / least - 1.0) * 100.0;
        format!("{name}: {now:.1} instructions in sum, {least:.1} at the least (+{percent:.1} %)")
    };
    above.map(line).collect()
}

/// The workloads that have more instructions than they may, or other allocations than recorded that are fewer
/// than none.
pub(crate) fn doubtful<'w>(
    workloads: &'w [Workload],
    recorded: &Figures,
    now: &Figures,
    tolerance: Tolerance,
) -> Vec<&'w str> {
    let has_sums = !sums(workloads, recorded, now, tolerance).is_empty();
    let is_worse = |before: &Row, now: &Row| {
        before.instructions.zip(now.instructions).is_some_and(|(before, now)| now > before)
    };
    let is_doubtful = |workload: &&Workload| {
        let rows = recorded.get(&workload.name).zip(now.get(&workload.name));
        rows.is_some_and(|(before, now)| {
            let is_unsteady = now.allocations < 0.0 && are_others(workload, before, now);
            // Where a sum is too much, chance may have a part in each row that is above its record.
            let is_above = has_sums && is_worse(before, now);
            is_unsteady || is_above || excess(workload, before, now, tolerance).is_some()
        })
    };
    workloads.iter().filter(is_doubtful).map(|workload| workload.name.as_str()).collect()
}

/// The instructions that are recorded and those that are counted, where these are too many.
fn excess(workload: &Workload, before: &Row, now: &Row, tolerance: Tolerance) -> Option<(f64, f64)> {
    let both = before.instructions.zip(now.instructions);
    both.filter(|(before, now)| workload.instructions == Use::Held && *now > before * tolerance.factor)
}

/// Returns true if the allocations are held to those recorded, and are not as many.
fn are_others(workload: &Workload, before: &Row, now: &Row) -> bool {
    workload.allocations == Use::Held && short(now.allocations) != short(before.allocations)
}

fn differences(workload: &Workload, before: &Row, now: &Row, tolerance: Tolerance) -> Vec<String> {
    let (mut lines, name) = (Vec::new(), &workload.name);
    if let Some((before, now)) = excess(workload, before, now, tolerance) {
        let percent = (now / before - 1.0) * 100.0;
        lines.push(format!("{name}: {now:.1} instructions, {before:.1} recorded (+{percent:.1} %)"));
    }
    // Fewer are to be recorded, or the next step back would go unseen.
    let (allocations, recorded) = (short(now.allocations), short(before.allocations));
    if are_others(workload, before, now) {
        lines.push(format!("{name}: {allocations} allocations, {recorded} recorded"));
    }
    if workload.allocations == Use::Resident && now.bytes > before.bytes * RESIDENT_MAX {
        lines.push(format!("{name}: {:.0} bytes resident, {:.0} recorded", now.bytes, before.bytes));
    }
    lines
}

/// So many times the resident bytes are too many: the kernel counts pages, and the allocator gives back whole
/// ones.
const RESIDENT_MAX: f64 = 1.2;

#[cfg(test)]
mod tests {
    use super::super::figures::row;
    use super::*;

    fn workload(name: &str, instructions: Use) -> Workload {
        Workload {
            name: name.into(),
            units: 1,
            instructions,
            allocations: Use::Held,
            within: String::new(),
            load: String::new(),
            what: String::new(),
        }
    }

    fn lines(before: Row, now: Row, compiler: &str) -> Vec<String> {
        lines_with(&workload(&now.name, Use::Held), before, now, compiler)
    }

    fn lines_with(workload: &Workload, before: Row, now: Row, compiler: &str) -> Vec<String> {
        let tools = |compiler: &str| Tools { compiler: compiler.into(), libc: "one".into() };
        let recorded = Figures { tools: tools("one"), rows: vec![before], sums: None };
        let now = Figures { tools: tools(compiler), rows: vec![now], sums: None };
        let tolerance = Tolerance::between(&recorded.tools, &now.tools);
        compare(std::slice::from_ref(workload), &recorded, &now, tolerance)
    }

    #[test]
    fn more_instructions_than_tolerated_are_found() {
        assert_eq!(lines(row("a", 1000.0, 0.0), row("a", 1030.0, 0.0), "one"), [""; 0]);
        assert_eq!(lines(row("a", 1000.0, 0.0), row("a", 900.0, 0.0), "one"), [""; 0]);
        let found = ["a: 1031.0 instructions, 1000.0 recorded (+3.1 %)"];
        assert_eq!(lines(row("a", 1000.0, 0.0), row("a", 1031.0, 0.0), "one"), found);
        assert_eq!(lines(row("a", 1000.0, 0.0), row("a", 1099.0, 0.0), "two"), [""; 0]);
        assert_eq!(lines(row("a", 1000.0, 0.0), row("a", 1101.0, 0.0), "two").len(), 1);
    }

    #[test]
    fn the_least_of_several_counts_is_held_to_the_record() {
        let workloads = [workload("a", Use::Held), workload("b", Use::Told)];
        let figures = |counts: [f64; 2]| Figures {
            rows: vec![row("a", counts[0], 0.0), row("b", counts[1], 0.0)],
            ..Figures::default()
        };
        let recorded = figures([1000.0, 1000.0]);
        let mut now = figures([1031.0, 2000.0]);
        let tolerance = Tolerance::between(&recorded.tools, &now.tools);
        assert_eq!(doubtful(&workloads, &recorded, &now, tolerance), ["a"]);
        now.lessen(&Figures { rows: vec![row("a", 1035.0, 0.0)], ..Figures::default() });
        assert_eq!(doubtful(&workloads, &recorded, &now, tolerance), ["a"], "more does not count");
        now.lessen(&Figures { rows: vec![row("a", 1029.0, 7.0)], ..Figures::default() });
        assert_eq!(doubtful(&workloads, &recorded, &now, tolerance), [""; 0]);
        assert_eq!(
            now.get("a").map(|row| row.allocations),
            Some(0.0),
            "allocations are those of the first time"
        );
    }

    #[test]
    fn fewer_allocations_than_none_are_counted_again() {
        let workloads = [workload("a", Use::Held)];
        let figures = |allocations| Figures { rows: vec![row("a", 1.0, allocations)], ..Figures::default() };
        let (recorded, mut now) = (figures(0.0), figures(-0.5));
        let tolerance = Tolerance::between(&recorded.tools, &now.tools);
        assert_eq!(doubtful(&workloads, &recorded, &now, tolerance), ["a"]);
        now.lessen(&figures(0.5));
        assert_eq!(
            doubtful(&workloads, &recorded, &now, tolerance),
            [""; 0],
            "more than recorded is certain"
        );
        assert_eq!(now.get("a").map(|row| row.allocations), Some(0.5));
    }

    #[test]
    fn any_other_number_of_allocations_is_found() {
        assert_eq!(lines(row("a", 1.0, 0.0), row("a", 1.0, 1.0), "two"), ["a: 1 allocations, 0 recorded"]);
        assert_eq!(
            lines(row("a", 1.0, 0.07), row("a", 1.0, 0.06), "one"),
            ["a: 0.06 allocations, 0.07 recorded"]
        );
    }

    #[test]
    fn figures_that_are_only_told_may_differ() {
        let (before, now) = (row("a", 1000.0, 0.0), row("a", 2000.0, 1.0));
        let found = ["a: 1 allocations, 0 recorded"];
        assert_eq!(lines_with(&workload("a", Use::Told), before, now, "one"), found);
    }

    #[test]
    fn a_resident_set_that_grew_is_found() {
        let holds = |bytes: f64| Row { instructions: None, bytes, ..row("a", 0.0, 0.0) };
        let workload = Workload { allocations: Use::Resident, ..workload("a", Use::Nothing) };
        let lines = |now: f64| lines_with(&workload, holds(10_000.0), holds(now), "one");
        assert_eq!(lines(11_900.0), [""; 0]);
        assert_eq!(lines(12_100.0), ["a: 12100 bytes resident, 10000 recorded"]);
    }

    #[test]
    fn rows_within_their_bounds_may_be_too_much_in_sum() {
        let workloads = ["a", "b"].map(|name| workload(name, Use::Held));
        let figures = |[one, other]: [f64; 2]| Figures {
            rows: vec![row("a", one, 0.0), row("b", other, 0.0)],
            ..Figures::default()
        };
        let recorded =
            Figures { sums: Some(Sums { all: 5_001_000.0, small: 1000.0 }), ..figures([1000.0, 5e6]) };
        let lines = |now| {
            let tolerance = Tolerance::between(&recorded.tools, &Tools::default());
            compare(&workloads, &recorded, &figures(now), tolerance)
        };
        assert_eq!(lines([1009.0, 5.04e6]), [""; 0]);
        let small = ["all rows below a million: 1011.0 instructions in sum, 1000.0 at the least (+1.1 %)"];
        assert_eq!(lines([1011.0, 5e6]), small);
        assert_eq!(lines([1000.0, 5.1e6]).len(), 1);
    }

    #[test]
    fn workloads_that_came_or_went_are_found() {
        let found = ["b: nothing is recorded", "a: recorded, but no workload"];
        assert_eq!(lines(row("a", 1.0, 0.0), row("b", 1.0, 0.0), "one"), found);
    }
}
