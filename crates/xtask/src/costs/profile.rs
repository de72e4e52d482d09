//! Where the instructions of a unit go: two profiles of callgrind, subtracted function by function.
//!
//! Below each function are the files of the code that was inlined into it, and who called it with what cost
//! in all.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use anyhow::{Context, Result};

use super::measure::Bench;

/// Instructions of functions.
#[derive(Default)]
struct Profile {
    /// Of a function itself, by the file its code comes from.
    own: HashMap<(String, String), i64>,
    /// Of a function with all it calls, by its caller.
    called: HashMap<(String, String), i64>,
    /// Calls of functions that were not inlined.
    calls: i64,
}

/// The instructions of a unit by group, and its calls of functions.
pub(crate) struct Grouped {
    pub(crate) groups: BTreeMap<&'static str, f64>,
    pub(crate) calls: f64,
}

/// One line per function with at least a hundredth of the unit.
pub(crate) fn of(bench: &Bench, workload: &str) -> Result<String> {
    let (profile, units) = profile(bench, workload)?;
    Ok(profile.print(units))
}

/// Instructions by the group of a function and of the file that its code comes from.
pub(crate) fn grouped(
    bench: &Bench,
    workload: &str,
    group: impl Fn(&str, &str) -> &'static str,
) -> Result<Grouped> {
    let (profile, units) = profile(bench, workload)?;
    let mut groups = BTreeMap::new();
    for ((function, file), cost) in &profile.own {
        *groups.entry(group(function, file)).or_default() += *cost as f64 / units;
    }
    Ok(Grouped { groups, calls: profile.calls as f64 / units })
}

/// The profile of N units, and N.
fn profile(bench: &Bench, workload: &str) -> Result<(Profile, f64)> {
    let workload = bench.list()?.into_iter().find(|own| own.name == workload).context("no such workload")?;
    let file = std::env::temp_dir().join(format!("alula-profile-{}", std::process::id()));
    let mut profile = Profile::default();
    for (units, sign) in [(2 * workload.units, 1), (workload.units, -1)] {
        bench.callgrind(&workload, units, &file)?;
        profile.add(&std::fs::read_to_string(&file)?, sign);
    }
    std::fs::remove_file(&file)?;
    Ok((profile, workload.units as f64))
}

impl Profile {
    /// Adds what callgrind has written.
    fn add(&mut self, text: &str, sign: i64) {
        let mut names = Names::default();
        let (mut function, mut file, mut callee) = ("", "", None);
        for line in text.lines() {
            match line.split_once('=') {
                Some(("fn", value)) => function = names.resolve('n', value),
                Some(("fl" | "fi" | "fe", value)) => file = names.resolve('l', value),
                Some(("cfn", value)) => callee = Some(names.resolve('n', value)),
                // It may be the first to name a file.
                Some(("cfi" | "cfl", value)) => _ = names.resolve('l', value),
                Some(("calls", value)) => self.calls += sign * calls(value),
                Some(_) => {}
                None => {
                    let Some(cost) = cost(line) else { continue };
                    // The line behind a call is what was called.
                    let (map, other) = match callee.take() {
                        Some(callee) => (&mut self.called, (callee, function)),
                        None => (&mut self.own, (function, file)),
                    };
                    *map.entry((other.0.to_owned(), other.1.to_owned())).or_default() += sign * cost;
                }
            }
        }
    }

    fn print(&self, units: f64) -> String {
        let total = self.own.values().sum::<i64>() as f64;
        let is_much = |cost: i64| cost as f64 >= total / 100.0;
        let mut functions: HashMap<&str, i64> = HashMap::new();
        for ((function, _), cost) in &self.own {
            *functions.entry(function).or_default() += cost;
        }
        let mut text = format!("{:>10.1}  all\n", total / units);
        for (function, cost) in sorted(functions).filter(|(_, cost)| is_much(*cost)) {
            writeln!(text, "{:>10.1}  {function}", cost as f64 / units).expect("a String takes any text");
            for (map, word) in [(&self.own, "in"), (&self.called, "from")] {
                let of_function = map.iter().filter(|((name, _), _)| name == function);
                let parts: HashMap<&str, i64> =
                    of_function.map(|((_, other), cost)| (&**other, *cost)).collect();
                for (other, cost) in sorted(parts).filter(|(_, cost)| is_much(*cost)) {
                    writeln!(text, "{:>18.1}  {word} {other}", cost as f64 / units).expect("as above");
                }
            }
        }
        text
    }
}

/// `10 5`: the line and the cost; the line may be relative.
fn cost(line: &str) -> Option<i64> {
    let is_cost = line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c));
    line.split(' ').nth(1).filter(|_| is_cost)?.parse().ok()
}

/// `calls=3 7`: so many, and where to.
fn calls(value: &str) -> i64 {
    value.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default()
}

/// What numbers stand for: `(12) name` gives number 12 a name, `(12)` is that name again.
#[derive(Default)]
struct Names<'t>(HashMap<(char, &'t str), &'t str>);

impl<'t> Names<'t> {
    fn resolve(&mut self, kind: char, value: &'t str) -> &'t str {
        match value.split_once(' ') {
            Some((number, name)) => {
                self.0.insert((kind, number), name);
                name
            }
            None => self.0.get(&(kind, value)).copied().unwrap_or("?"),
        }
    }
}

/// The largest first.
fn sorted(costs: HashMap<&str, i64>) -> impl Iterator<Item = (&str, i64)> {
    let mut costs: Vec<_> = costs.into_iter().collect();
    costs.sort_by_key(|(name, cost)| (-cost, *name));
    costs.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_calls_are_not_the_callers() {
        let text = "fl=(1) a.rs\nfn=(1) one\n10 5\ncfi=(2) b.rs\ncfn=(2) two\ncalls=1 7\n11 100\n+1 3\nfi=(2)\n4 2\n\n\
            fn=(2)\n9 100\n";
        let mut profile = Profile::default();
        profile.add(text, 1);
        let lines = [
            "      11.0  all",
            "      10.0  two",
            "              10.0  in b.rs",
            "              10.0  from one",
            "       1.0  one",
            "               0.8  in a.rs",
            "               0.2  in b.rs",
        ];
        assert_eq!(profile.calls, 1);
        assert_eq!(profile.print(10.0).lines().collect::<Vec<_>>(), lines);
    }
}
