//! The output of the command, the files that it writes, and its end.

mod failures;
mod files;
mod hashes;
mod last_words;
mod password;
mod secrets;
mod sentences;
mod shown;
mod silence;
mod terminal;
mod verbose;
