//! Every attack of the tables in `docs/limits.md`, played over real sockets against a server or a client of
//! this process.
//!
//! Attacks take turns, since the memory of a side of this process is counted.

mod client;
mod http1;
mod http1_client;
mod memory;
mod page;
mod policy;
mod server;
mod slow;

use alula_tally::Tally;

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();
