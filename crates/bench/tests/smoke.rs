//! Every workload runs, if only for one unit: one that no longer does is found before its figure is wanted.

use std::process::{Command, Stdio};

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

/// What the program prints, unless it fails; what it has to say about that is this test's output.
fn bench(args: &[&str]) -> Option<String> {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_alula-bench"));
    let output = bench.args(args).stderr(Stdio::inherit()).output().expect("the program starts");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}
