//! Alula as its users have it: client and server through the whole stack, over loopback or in memory.

#[path = "../support/access_log.rs"]
mod access_log;
mod adapters;
mod answers;
mod as_written;
mod beyond;
mod calls;
mod connections;
mod content;
mod ends;
mod leaving;
mod limits;
mod protocol;
mod ready;
mod routing;
mod sentences;
mod support;
mod testing;
