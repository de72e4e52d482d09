//! What is printed and written, and how the program ends.

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
