//! Figures that do not depend on time: instructions, allocations and system calls of a request.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::calls::Calls;
use super::cells::{Cell, cells};
use super::parts::{PARTS, part};
use super::running::Programs;
use crate::costs::figures::{Figures, Row, short};
use crate::costs::measure::Bench;
use crate::costs::profile::{Grouped, grouped};
use crate::costs::table::thousands;

/// The workloads of `crates/bench`, and what they are called in the tables.
const WORKLOADS: [(&str, &str); 5] = [
    ("store-get", "GET, memory"),
    ("store-put", "PUT, memory"),
    ("store-put-alone", "PUT, no engine"),
    ("store-get-fjall", "GET, fjall"),
    ("store-put-fjall", "PUT, fjall"),
];

/// All tables.
pub(super) fn measure(programs: &Programs) -> Result<String> {
    let bench = Bench::build()?;
    let figures = Figures::load()?.context("`cargo xtask costs --write store` records figures first")?;
    let mut profiles = Vec::new();
    for (name, _) in WORKLOADS {
        profiles.push(grouped(&bench, name, part).context(name)?);
    }
    let mut calls = Vec::new();
    for cell in cells() {
        calls.push((cell, Calls::count(programs, &cell)?));
    }
    let row = |name: &str| figures.get(name).with_context(|| format!("no figures of {name}"));
    let rows = WORKLOADS.map(|(name, _)| row(name));
    let rows: Vec<&Row> = rows.into_iter().collect::<Result<_>>()?;
    Ok(by_part(&rows, &profiles) + &system_calls(&calls) + &beside_riak(&rows, &profiles, &calls))
}

fn by_part(rows: &[&Row], profiles: &[Grouped]) -> String {
    let titles = WORKLOADS.map(|(_, title)| title);
    let mut text =
        format!("| per request | {} |\n| --- |{}\n", titles.join(" | "), " ---: |".repeat(titles.len()));
    let mut put = |name: &str, cells: Vec<String>| {
        writeln!(text, "| {name} | {} |", cells.join(" | ")).expect("a String takes any text");
    };
    let of = |figure: &dyn Fn(&Row) -> String| rows.iter().map(|row| figure(row)).collect();
    put("instructions", of(&|row| row.instructions.map_or("–".into(), thousands)));
    for name in PARTS {
        let cells =
            profiles.iter().map(|of| thousands(of.groups.get(name).copied().unwrap_or_default().max(0.0)));
        put(&format!("– {name}"), cells.collect());
    }
    put("calls of functions", profiles.iter().map(|of| thousands(of.calls)).collect());
    put("allocations", of(&|row| short(row.allocations)));
    put("octets allocated", of(&|row| thousands(row.octets)));
    text + "\n"
}

fn system_calls(calls: &[(Cell, Calls)]) -> String {
    let mut text = String::from(
        "| engine, version, connections | system calls per request | by name |\n| --- | ---: | --- |\n",
    );
    for (cell, calls) in calls {
        writeln!(text, "| {} | {:.2} | {} |", cell.label(), calls.sum(), calls.text())
            .expect("a String takes any text");
    }
    text + "\n"
}

/// The table of Riak's profile, per request of the workload: half of them reads and half writes.
fn beside_riak(rows: &[&Row], profiles: &[Grouped], calls: &[(Cell, Calls)]) -> String {
    let half = |of: [f64; 2]| f64::midpoint(of[0], of[1]);
    let instructions = half([0, 1].map(|place| rows[place].instructions.unwrap_or_default()));
    let functions = half([0, 1].map(|place| profiles[place].calls));
    let allocations = half([0, 1].map(|place| rows[place].allocations));
    let own = &calls[0].1;
    let table: [(&str, &str, String, &str); 14] = [
        (
            "function calls",
            "8,324 → 7,685",
            thousands(functions),
            "calls that were not inlined; an interpreter's calls do less each",
        ),
        ("instructions", "–", thousands(instructions), "user space, HTTP and the engine in memory"),
        (
            "characters lower-cased",
            "970 → 630",
            "113".into(),
            "octets of names that are not known, folded in the one copy that they are read by: 226 in a PUT, none in a GET; known names are compared as they came",
        ),
        ("receive function", "83 → 79 µs", format!("{:.2}", own.of("recvfrom")), "reads from the socket"),
        (
            "fields looked at by a function of their own",
            "7.3 → 7.4",
            "0".into(),
            "14 fields of a PUT and 2 of a GET are read in one pass over the head",
        ),
        (
            "socket control calls",
            "13.5 → 13.6",
            format!("{:.2}", own.of("setsockopt") + own.of("epoll_ctl")),
            "options are set when a connection opens, and it is registered once",
        ),
        (
            "system calls in all",
            "–",
            format!("{:.2}", own.sum()),
            "at 12 connections; one wait tells of several connections",
        ),
        (
            "table look-ups",
            "20.7 → 20.0",
            "2".into(),
            "properties by type and by bucket, in a snapshot that is read without a copy",
        ),
        (
            "balanced-tree inserts and look-ups of fields",
            "90 + 135",
            "0".into(),
            "fields lie in an array in the order in which they came; the engine in memory is a tree of its own",
        ),
        ("process-dictionary writes", "151 → 150", "0".into(), "nothing corresponds"),
        (
            "route-table rows tried",
            "41",
            "4".into(),
            "segments of the path, each a step down one trie of all routes",
        ),
        ("resource callbacks", "19", "1".into(), "a handler; three hooks see each request as well"),
        ("zlib calls", "0.8", "0".into(), "content is sent as it was stored"),
        ("statistics messages", "6.1 → 6.0", "0".into(), "counters and a histogram are added to in place"),
    ];
    let mut text = String::from(
        "| per request | Riak, before → after | Alula | unit and reason |\n| --- | ---: | ---: | --- |\n",
    );
    for (what, riak, alula, reason) in table {
        writeln!(text, "| {what} | {riak} | {alula} | {reason} |").expect("a String takes any text");
    }
    writeln!(
        text,
        "| allocations | every term of a list | {} | by the engine in memory; HTTP makes none |",
        short(allocations)
    )
    .expect("as above");
    text
}
