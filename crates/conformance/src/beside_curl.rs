//! `alula get` beside curl: the same words on the command line of both, with servers that other people wrote.
//!
//! Rule: a cell is a function, run in every way in which its server can be reached, or the reason why the
//! server has nothing to check there. Whatever comes is compared byte by byte with what was to come, from
//! either program. `docs/interop.md` has the table (`cargo xtask interop --write`), and each test holds what
//! it has just checked against that page.

pub mod cells;
pub mod check;
pub mod packed;
pub mod page;
pub mod rows;
pub mod server;
pub mod table;
