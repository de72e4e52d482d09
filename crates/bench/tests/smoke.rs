//! Every workload runs, if only for one unit: one that no longer does is found before its figure is wanted.

use std::collections::HashMap;
use std::process::{Command, Stdio};

const PEERS: &str = include_str!("../figures/peers.txt");

#[test]
fn every_workload_runs() {
    let list = bench(&["list"]).expect("a list");
    let names: Vec<&str> = list.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(names.contains(&"client-0") && names.contains(&"tls-2b-rustls"), "{names:?}");
    let broken: Vec<&str> = names.into_iter().filter(|name| bench(&["run", name, "1"]).is_none()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn an_unknown_workload_is_refused() {
    assert_eq!(bench(&["run", "no-such-workload", "1"]), None);
}

/// A ratio in the table has the same load and the same work on both sides.
#[test]
fn peers_stand_beside_workloads_of_their_own_load() {
    let list = bench(&["list"]).expect("a list");
    let loads: HashMap<&str, &str> =
        list.lines().map(|line| (column(line, '\t', 0), column(line, '\t', 5))).collect();
    let lines = PEERS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for line in lines.filter(|line| [3, 6].iter().any(|name| column(line, '|', *name) != "-")) {
        assert_eq!(loads.get(column(line, '|', 0)), Some(&column(line, '|', 1)), "{line}");
    }
}

fn column(line: &str, between: char, number: usize) -> &str {
    line.split(between).nth(number).expect("a column").trim()
}

/// What the program prints, unless it fails; what it has to say about that is this test's output.
fn bench(args: &[&str]) -> Option<String> {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_alula-bench"));
    let output = bench.args(args).stderr(Stdio::inherit()).output().expect("the program starts");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}
