//! `alula demo`.

use crate::support::{alula, run, wait};
use serde_json::Value;

#[test]
fn the_figures_are_there_and_clear_text_allocates_nothing() {
    let ended = run(&["demo", "--json", "--seconds", "3"]).expect(0);
    let figures: Value = serde_json::from_str(ended.text()).expect("one JSON object");
    for transport in ["clear", "tls"] {
        for in_flight in ["1", "10", "100"] {
            let run = &figures[transport][in_flight];
            for key in ["requests_per_second", "p50_us", "p99_us", "wire_bytes_out", "wire_bytes_in"] {
                assert!(
                    run[key].as_f64().is_some_and(|figure| figure > 0.0),
                    "{transport} {in_flight} {key}: {run}"
                );
            }
            assert!(run["p50_us"].as_f64() <= run["p99_us"].as_f64());
            assert!(run["wire_bytes_out"].as_f64() < run["field_bytes_out"].as_f64(), "{run}");
            for side in ["client", "server", "process"] {
                let allocations = &run[format!("{side}_allocations")];
                assert!(allocations.is_number(), "{run}");
                assert!(transport == "tls" || allocations == 0, "{transport} {in_flight} {side}: {run}");
            }
        }
    }
}

#[test]
fn it_fits_into_80_columns() {
    let demo = alula(&["demo", "--seconds", "1"]).env("COLUMNS", "80").spawn().unwrap();
    let ended = wait(demo).expect(0);
    // Commands to paste have the program's path in them.
    let (figures, next) = ended.text().split_once("Next:").unwrap();
    for line in figures.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let program = env!("CARGO_BIN_EXE_alula");
    for line in next.lines() {
        assert!(line.replace(program, "target/release/alula").chars().count() <= 80, "{line}");
    }
}

#[test]
fn without_a_terminal_it_is_a_plain_table() {
    let ended = run(&["demo", "--seconds", "1"]).expect(0);
    let rows = |start: &str| ended.text().lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((rows("clear text"), rows("TLS")), (3, 3), "{}", ended.text());
    assert!(ended.text().contains("Next:"), "{}", ended.text());
    assert!(!ended.text().contains(['\r', '\x1b']), "{:?}", ended.text());
    assert_eq!(ended.stderr, "");
}
