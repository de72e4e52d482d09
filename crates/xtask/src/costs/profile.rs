//! Where the instructions of a unit go: two profiles of callgrind, subtracted function by function.

use std::collections::HashMap;
use std::fmt::Write;

use anyhow::{Context, Result};

use super::measure::Bench;

/// Instructions by function and by the file of the code that was inlined into it.
type Profile = HashMap<(String, String), i64>;

/// One line per function with at least a hundredth of the unit, and below it the files its code comes from.
pub(crate) fn of(bench: &Bench, workload: &str) -> Result<String> {
    let workload = bench.list()?.into_iter().find(|own| own.name == workload).context("no such workload")?;
    let file = std::env::temp_dir().join(format!("alula-profile-{}", std::process::id()));
    let mut profile = Profile::new();
    for (units, sign) in [(2 * workload.units, 1), (workload.units, -1)] {
        bench.callgrind(&workload.name, units, &file)?;
        add(&mut profile, &std::fs::read_to_string(&file)?, sign);
    }
    std::fs::remove_file(&file)?;
    Ok(print(&profile, workload.units as f64))
}

/// Adds what a profile says of each function itself, without what it calls.
fn add(profile: &mut Profile, text: &str, sign: i64) {
    let mut names: HashMap<(char, &str), &str> = HashMap::new();
    let (mut function, mut file) = ("", "");
    let mut is_call = false;
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=') {
            let name = |names: &mut HashMap<_, _>, kind| named(names, kind, value);
            match key {
                "fn" => function = name(&mut names, 'n'),
                "fl" | "fi" | "fe" => file = name(&mut names, 'l'),
                // Others may name a function or a file for the first time.
                "cfn" => drop(name(&mut names, 'n')),
                "cfi" | "cfl" => drop(name(&mut names, 'l')),
                "calls" => is_call = true,
                _ => {}
            }
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<i64>().ok());
            // The line behind a call is what was called.
            if let Some(cost) = cost.filter(|_| !is_call) {
                *profile.entry((function.to_owned(), file.to_owned())).or_default() += sign * cost;
            }
            is_call = false;
        }
    }
}

/// `(12) name` gives number 12 a name, `(12)` is that name again.
fn named<'t>(names: &mut HashMap<(char, &'t str), &'t str>, kind: char, value: &'t str) -> &'t str {
    let (number, name) = value.split_once(' ').unwrap_or((value, ""));
    if name.is_empty() {
        names.get(&(kind, number)).copied().unwrap_or("?")
    } else {
        names.entry((kind, number)).or_insert(name)
    }
}

fn print(profile: &Profile, units: f64) -> String {
    let mut functions: HashMap<&str, Vec<(f64, &str)>> = HashMap::new();
    for ((function, file), cost) in profile {
        functions.entry(function).or_default().push((*cost as f64 / units, file));
    }
    let sum = |files: &[(f64, &str)]| files.iter().map(|(cost, _)| cost).sum::<f64>();
    let total: f64 = functions.values().map(|files| sum(files)).sum();
    let mut functions: Vec<_> =
        functions.into_iter().map(|(function, files)| (sum(&files), function, files)).collect();
    functions.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = format!("{total:>10.1}  all\n");
    for (cost, function, mut files) in functions.into_iter().filter(|(cost, ..)| *cost >= total / 100.0) {
        writeln!(text, "{cost:>10.1}  {function}").expect("a String takes any text");
        files.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (cost, file) in files.into_iter().filter(|(cost, _)| *cost >= total / 100.0) {
            writeln!(text, "{cost:>16.1}  {file}").expect("as above");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_calls_are_not_the_callers() {
        let text = "fl=(1) a.rs\nfn=(1) one\n10 5\ncfi=(2) b.rs\ncfn=(2) two\ncalls=1 7\n11 100\n+1 3\nfi=(2)\n4 2\n\nfn=(2)\n9 100\n";
        let mut profile = Profile::new();
        add(&mut profile, text, 1);
        let cost = |function: &str, file: &str| profile.get(&(function.into(), file.into())).copied();
        assert_eq!(
            (cost("one", "a.rs"), cost("one", "b.rs"), cost("two", "b.rs")),
            (Some(8), Some(2), Some(100))
        );
        assert_eq!(print(&profile, 10.0).lines().next(), Some("      11.0  all"));
    }
}
