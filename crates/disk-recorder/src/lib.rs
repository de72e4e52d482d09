//! A library that the system loads before a program's own (`LD_PRELOAD`), which records what the program does
//! to the files of one folder, and lets its disk fail when the program says so. `alula-power` starts programs
//! with it and reads recordings.
//!
//! It takes the place of the functions of the C library that change files, calls them, and writes down what
//! they did: one at a time, so that the order is that in which it happened. Flushes are recorded and not
//! done; they take the time that a variable says. What it does not see are calls of the system that a program
//! makes without the C library:
//!
//! - `rustix`, with which `tempfile` renames files, makes such calls. A file that was renamed so is
//!   recognized by its number when it is opened by its new name.
//! - Memory that is mapped and shared is not recorded. Nothing of the store has any.
//!
//! Ways around `write` that would not be recorded, such as `copy_file_range`, are answered as if the system
//! had none. The tests of `alula-store` compare the folder that a recording leads to with the one on the
//! disk, byte by byte.
//!
//! Like `tally`, this crate has unsafe code: functions of the C library have no other form. It is in
//! `symbols.rs` and `real.rs` alone, and what those call is safe.
#![cfg(target_os = "linux")]

mod failures;
mod paths;
mod real;
mod recorder;
mod symbols;
