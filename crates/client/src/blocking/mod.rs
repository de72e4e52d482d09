//! The client for programs without a runtime: the same names, and every call waits.
//!
//! A [`Client`] has a runtime for one thread inside, and no thread: whoever calls drives it, for as long as
//! the call waits. Any number of threads may share a client. One of those that wait drives for all, and when
//! it has what it waited for, another goes on; calls of several threads over HTTP/2 share a connection as
//! tasks would.
//!
//! While nobody calls, nothing happens. That means for the connections that are kept:
//!
//! - A PING or SETTINGS that comes meanwhile is answered with the next call. A server that gives up on a
//!   silent client closes the connection, as it would for any client that was suspended.
//! - A GOAWAY, or an end of the connection, is noticed by the next call *before* it sends: it first looks at
//!   what has come in, unless somebody has just done so, and opens another connection then. It does not fail
//!   for that.
//! - Time passes nonetheless: what was due is done with the next call, and deadlines end what reads after
//!   them.
//! - What is given up, a response dropped before its end for one, is told to the server at once. Over
//!   HTTP/1.1 that closes the connection, unless all has come already: nobody would read the rest.
//!
//! Inside of a tokio runtime, `spawn_blocking` included, nobody may wait this way: each call answers an error
//! of the cause
//! [`Cause::Usage`] there, and the async [`Client`](crate::Client) is at hand. Dropping is allowed anywhere.
//!
//! Names of hosts are looked up by the system's resolver on the thread of the caller that drives: the others
//! wait for it, and no deadline cuts it short. [`resolver(SystemResolver)`](crate::ClientBuilder::resolver)
//! asks on a thread of its own, as the async client does.
//!
//! ```no_run
//! use std::io::Read;
//!
//! let client = alula::blocking::Client::new()?;
//! let mut response = client.get("https://example.com/").send()?;
//! let mut text = String::new();
//! response.body().read_to_string(&mut text)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod call;
mod client;
mod driver;
mod resolver;
mod response;
mod writer;

pub use body::Body;
pub use call::Call;
pub use client::Client;
pub use response::{PendingResponse, Response};
pub use writer::BodyWriter;

use std::io;

use alula_net::{Cause, Error};

/// Converts the failure into an error of [`std::io`], which contains it.
fn to_io(error: Error) -> io::Error {
    let kind = match error.cause() {
        Cause::Io(kind, _) | Cause::Sink(kind, _) => *kind,
        _ if error.is_timeout() => io::ErrorKind::TimedOut,
        Cause::Closed | Cause::Unanswered | Cause::Http1(_) => io::ErrorKind::UnexpectedEof,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
