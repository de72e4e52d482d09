//! The ends of connections: TLS that is cut, connections that ended or were written to while nobody read,
//! resets, and GOAWAY as the first frame; and clients that leave a server.

mod answered_whole;
mod dropped_half;
mod elsewhere;
mod goaway;
mod gone;
mod last_words;
mod left_out;
pub(crate) mod peer;
mod reset;
mod reused;
mod silent;
mod truncated;
