//! A case: requests, and the answers that must come back.

use std::fmt;

use crate::wire::check::Check;
use crate::wire::play::Version;
use crate::wire::stores::Kind;

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The section of the rules, such as `5.2`.
    pub(crate) section: String,
    /// A name that no other case has.
    pub(crate) name: String,
    /// The file that has it.
    pub(crate) file: &'static str,
    /// Its line there.
    pub(crate) line: usize,
    /// The store that is asked.
    pub(crate) store: Kind,
    /// True if HTTP/2 has no such request.
    pub(crate) is_http1_only: bool,
    /// The steps, in their order.
    pub(crate) steps: Vec<Step>,
}

/// One step of a case.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sends a request and takes its answer.
    Ask(Request),
    /// Sends bytes over HTTP/1.1.
    Send(String),
    /// The next answer must be like this.
    Expect(Expected),
}

/// A request. All its texts may have variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) content: Option<String>,
}

/// The expectations of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) line: usize,
    pub(crate) status: u16,
    /// The request is repeated until the answer is like this.
    pub(crate) is_awaited: bool,
    pub(crate) checks: Vec<Check>,
}

impl Case {
    /// Returns true if the case can be played over this version.
    pub(crate) fn is_for(&self, version: Version) -> bool {
        version == Version::Http1 || !self.is_http1_only
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: §{}: {}", self.file, self.line, self.section, self.name)
    }
}
