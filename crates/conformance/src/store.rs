//! `alula store` beside the test.

use std::path::Path;

use crate::alula::{command, listening_port};
use crate::program::Program;

/// `alula store` on a port of its own choosing, in clear text.
pub struct Store {
    _program: Program,
    port: u16,
}

impl Store {
    /// Starts it with these bucket types, with its objects in this folder (every write flushed before its
    /// answer), or in memory.
    ///
    /// # Panics
    /// When it does not say where it listens.
    #[must_use]
    pub fn start(folder: Option<&Path>, types: &[&str]) -> Self {
        Self::start_with(folder, types, &[])
    }

    /// As [`start`](Self::start), with more options.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with(folder: Option<&Path>, types: &[&str], options: &[&str]) -> Self {
        let mut store = command(["store", "--listen", "127.0.0.1:0"]);
        match folder {
            Some(folder) => store.arg("--data").arg(folder),
            None => store.args(["--engine", "memory"]),
        };
        store.args(types.iter().flat_map(|it| ["--type", it]));
        store.args(options);
        let mut program = Program::start(&mut store);
        let port = program.wait_for_line("says where it listens", listening_port);
        Self { _program: program, port }
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}
