//! The interop matrix: what Alula was seen doing with HTTP/2 programs that other people wrote.
//!
//! Rule: the table is code. A cell is either a function, which the tests run in clear text and over TLS, or
//! the reason why the peer has nothing to check there; there is no third kind. `docs/interop.md` is written
//! from the same table (`cargo xtask interop --write`), and each test holds what it has just checked against
//! that page.

pub mod clients;
pub mod fetching;
pub mod matrix;
pub mod own_server;
pub mod page;
pub mod page_row;
pub mod routes;
pub mod servers;
pub mod serving;
pub mod session;
pub mod tools;
pub mod way;
