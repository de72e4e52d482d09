//! Programs that other people wrote: servers on free ports of loopback, and a client.

pub mod curl;
pub mod golang;
pub mod nghttpd;
pub mod nginx;

use crate::alula::Reach;
use crate::certificates::Certificates;
use crate::program::Program;

/// A server that answers in clear text on one port and over TLS on another.
pub struct Origin {
    /// Its name, for messages.
    pub name: &'static str,
    clear: u16,
    tls: u16,
    /// Kept for their end.
    _programs: Vec<Program>,
}

impl Origin {
    /// The URL of a path.
    #[must_use]
    pub fn url(&self, reach: &Reach<'_>, path: &str) -> String {
        match reach {
            Reach::Clear => format!("http://127.0.0.1:{}/{path}", self.clear),
            Reach::Tls(_) => format!("https://localhost:{}/{path}", self.tls),
        }
    }

    /// The two ways to reach it.
    #[must_use]
    pub fn ways(certificates: &Certificates) -> [Reach<'_>; 2] {
        [Reach::Clear, Reach::Tls(certificates)]
    }
}
