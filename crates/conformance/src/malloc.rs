//! Counts what a program asks of the C library's allocator, from outside: see `peers/malloc_counter.c`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::folder::Folder;
use crate::outcome;

/// The counter, built, and the file it counts in.
#[derive(Debug)]
pub struct MallocCounter {
    folder: Folder,
    library: PathBuf,
}

impl MallocCounter {
    /// Builds the counter.
    ///
    /// # Panics
    /// When there is no C compiler or it refuses.
    #[must_use]
    pub fn build() -> Self {
        let folder = Folder::new();
        let library = folder.join("malloc_counter.so");
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-fPIC", "-shared", "-Wall", "-Werror", "-o"]).arg(&library);
        cc.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/malloc_counter.c"));
        let _ = outcome::run(&mut cc, Duration::from_secs(60)).expect_success();
        let counter = Self { folder, library };
        fs::write(counter.file(), [0; 8]).expect("a file can be written");
        counter
    }

    /// Has the program's allocations counted when it is started.
    pub fn watch(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("MALLOC_COUNT", self.file());
    }

    /// Allocating calls so far, of all threads of the program.
    ///
    /// # Panics
    /// When the file is gone.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let bytes = fs::read(self.file()).expect("the counter's file is there");
        u64::from_ne_bytes(bytes.try_into().expect("it has eight bytes"))
    }

    fn file(&self) -> PathBuf {
        self.folder.join("calls")
    }
}
