//! Clients and servers of Alula, with the loops that users run, on simulated time over a network that is
//! simulated.
//!
//! One seed decides everything that happens in a [`run`](simulated::run): what the network delays, cuts and
//! loses, what callers ask for and when they give up, how servers answer and when they stop. What has to hold
//! whatever happens is checked at the end; see [`simulated`].
//!
//! Not published. The program `alula-simulate` makes many runs; `alula-soak` is a long run over real sockets.
#![forbid(unsafe_code)]

pub mod content;
#[cfg(feature = "simulated")]
pub mod simulated;
