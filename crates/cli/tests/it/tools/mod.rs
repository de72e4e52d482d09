//! Help, the manual, `hpack`, `inspect` and `demo`.

mod demo;
mod help;
mod hpack;
mod inspect;
mod manual;
