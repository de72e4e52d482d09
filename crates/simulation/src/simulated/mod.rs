//! Runs on simulated time, each decided by its seed: of HTTP/1.1 or of HTTP/2, through the pools that users
//! have.
//!
//! What has to hold, whatever happens:
//!
//! 1. An answer is the answer to its request, whole and once; no request is handled twice, but one that is
//!    idempotent of a client whose connections were hurt, or of a server that broke its answer off over
//!    HTTP/1.1.
//! 2. A request that fails does so for a reason: a blow to the network, a deadline, a server that stops or
//!    answers so, or one that ended an idle connection before it heard of the request. One that may safely be
//!    sent again was not handled.
//! 3. Every future ends.
//! 4. Once all is answered, both ends of a connection agree on its windows, which are whole again but for
//!    what is not worth an update; nothing is held, no caller counts as woken, and the connection's own task
//!    reads.
//! 5. Once clients and servers are gone, so are their tasks, connections and memory: to the byte, from the
//!    second run of a thread on. The first one leaves behind what threads keep for themselves: tokio's
//!    context, tables made once.
//! 6. Nothing panics.
//! 7. Whenever nothing is left to do before the clock goes on, the pool of a client of HTTP/1.1 counts its
//!    connections right, lists those that are free once each, and has nobody wait while one is free or may be
//!    opened.
//!
//! Two runs of a seed take the same course, which [`Outcome::course`] sums up.

mod answer;
mod cable;
mod call;
mod giving_up;
mod log;
mod network;
mod panics;
mod pool;
mod post;
mod run;
mod script;
mod weather;
mod world;

pub use run::{Outcome, run};
