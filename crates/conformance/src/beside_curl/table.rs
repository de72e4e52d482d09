//! Running a row.

use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};

use super::cells::{Cell, Row};
use super::page;

impl Row {
    /// Runs every cell in every way, says so line by line, and holds what was checked against the page.
    ///
    /// # Panics
    /// When a cell does not hold, or the page says something else about this server.
    pub fn run(&self) {
        let server = (self.start)();
        let mut failed = Vec::new();
        for (check, cell) in self.cells.iter() {
            let Cell::Checked(run, _) = cell else { continue };
            for way in self.ways {
                let result = panic::catch_unwind(AssertUnwindSafe(|| run(&server, *way)));
                let word = if result.is_ok() { "as curl" } else { "FAILED" };
                // Past the capture of the test runner, so that the table is seen whenever the tests run.
                let _ = writeln!(io::stdout(), "beside curl: {:<8} {check:<9} {way:?}: {word}", self.server);
                failed.extend(result.is_err().then_some((check, *way)));
            }
        }
        assert!(failed.is_empty(), "{}: these do not hold: {failed:?}", self.server);
        page::assert_shows(self);
    }
}
