//! The server against peers that are written out by hand, over sockets.

mod given_up;
mod idle;
mod last_answer;
mod late_waker;
mod linger;
mod panics;
mod peers;
mod starting;
mod stopping;
