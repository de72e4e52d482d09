//! The ends of connections: TLS that is cut, connections that ended or were written to while nobody read, resets, and GOAWAY
//! as the first frame; and clients that leave a server.

mod answered_whole;
mod dropped_half;
mod early;
mod elsewhere;
mod goaway;
mod gone;
mod last_words;
mod leaving;
mod left;
mod left_out;
mod peer;
mod proxy_cancels;
mod refusals;
mod reset;
mod reused;
mod silent;
mod truncated;
