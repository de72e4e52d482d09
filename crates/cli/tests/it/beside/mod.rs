//! The words of curl, row by row, on this program and on the curl that is installed: the same requests,
//! output, files and exit code, or the difference that the row states.
//!
//! The table is `curl.txt`. Where there is no curl each row is run all the same, and has to end with the code
//! it names.
#![cfg(unix)]

mod compare;
mod server;
mod table;

use std::{
    sync::{Mutex, atomic::AtomicUsize, atomic::Ordering::Relaxed},
    thread,
};

use compare::Runs;
use table::Row;

/// Rows that are tried at once.
const AT_ONCE: usize = 4;

#[test]
fn each_row_is_the_same_on_curl_or_differs_as_it_says() {
    let rows = table::rows(include_str!("curl.txt"));
    assert!(rows.len() >= 200, "{} rows", rows.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Relaxed)) {
                    if let Err(why) = judge(row) {
                        wrong.lock().unwrap().push(format!("line {}: {}\n{why}", row.line, row.words));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows:\n\n{}", wrong.len(), rows.len(), wrong.join("\n\n"));
}

fn judge(row: &Row) -> Result<(), String> {
    let runs = Runs::of(row);
    if runs.ours.code != Some(row.code) {
        return Err(format!("it ended with {:?} and not {}: {}", runs.ours.code, row.code, runs.ours.stderr));
    }
    let Some(found) = runs.differences() else { return Ok(()) };
    let parts: Vec<&str> = found.iter().map(|(part, _)| *part).collect();
    match parts == row.differs {
        true => Ok(()),
        false => {
            let shown: Vec<String> = found.iter().map(|(part, shown)| format!("  {part}: {shown}")).collect();
            Err(format!("it differs in {parts:?} and not in {:?}:\n{}", row.differs, shown.join("\n")))
        }
    }
}

#[test]
fn a_row_that_differs_says_in_what_and_why() {
    for row in table::rows(include_str!("curl.txt")) {
        assert_eq!(row.differs.is_empty(), row.why.is_empty(), "line {}", row.line);
        assert!(row.differs.iter().all(|part| compare::PARTS.contains(part)), "line {}", row.line);
    }
}
