//! The results of a list or a query on their way to the client, in Riak's forms (Riak §10.1, §11.4).
//!
//! Rule: a client that reads results has all of them, or sees that it has not. An object that breaks off is
//! never closed.

use alula::{Error, Reply, Sent};

use super::json::put_string;
use super::output::Output;
use crate::budget::{Budget, Share};
use crate::http::answer::fail::Fail;
use crate::model::VtagText;

/// The form of the content.
pub(crate) enum Framing {
    /// A single JSON object.
    Object,
    /// A run of JSON objects, each with a batch of results. The last one has none.
    Objects,
    /// Parts of `multipart/mixed` between lines of this boundary, each an object with a batch of results.
    Parts(VtagText),
}

/// Results that are sent in an array of this name.
pub(crate) struct Results {
    output: Output,
    framing: Framing,
    name: &'static str,
    batch: Batch,
}

/// The state of the object that results are added to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Batch {
    Closed,
    Empty,
    Filled,
}

impl Results {
    pub(crate) fn new(reply: Reply, framing: Framing, name: &'static str) -> Self {
        Self { output: Output::new(reply), framing, name, batch: Batch::Closed }
    }

    /// Sends properties in JSON before the results: as a member of their object, or as an object of its own,
    /// which is empty without properties.
    pub(crate) async fn put_properties(&mut self, properties: Option<&[u8]>) -> Result<(), Error> {
        let is_member = matches!(self.framing, Framing::Object);
        let text = self.output.text();
        match properties {
            Some(properties) => {
                text.extend_from_slice(b"{\"props\":");
                text.extend_from_slice(properties);
            }
            None if is_member => return Ok(()),
            None => text.push(b'{'),
        }
        if is_member {
            text.push(b',');
            self.put_name();
            return Ok(());
        }
        text.push(b'}');
        self.output.flush().await
    }

    /// Adds a key or a bucket.
    pub(crate) async fn add(&mut self, key: &[u8]) -> Result<(), Error> {
        self.begin_result();
        put_string(key, self.output.text());
        self.end_result().await
    }

    /// Adds a key with its term.
    pub(crate) async fn add_pair(&mut self, term: &[u8], key: &[u8]) -> Result<(), Error> {
        self.begin_result();
        let text = self.output.text();
        text.push(b'{');
        put_string(term, text);
        text.push(b':');
        put_string(key, text);
        text.push(b'}');
        self.end_result().await
    }

    /// Ends a batch, if results were added to it, and sends it.
    pub(crate) async fn end_batch(&mut self) -> Result<(), Error> {
        match self.framing {
            Framing::Object if self.output.is_full() => self.output.flush().await,
            Framing::Object => Ok(()),
            _ if self.batch == Batch::Closed => Ok(()),
            _ => {
                self.output.text().extend_from_slice(b"]}");
                self.batch = Batch::Closed;
                self.output.flush().await
            }
        }
    }

    /// Returns true if the status was sent.
    pub(crate) const fn is_begun(&self) -> bool {
        self.output.is_begun()
    }

    /// Returns true if results are not sent because the request is HEAD.
    pub(crate) fn is_muted(&self) -> bool {
        self.output.is_muted()
    }

    /// Ends the results, with a token for the next page.
    pub(crate) async fn finish(mut self, continuation: Option<&[u8]>) -> Result<Sent, Error> {
        self.end_batch().await?;
        match self.framing {
            Framing::Object => self.end_object(continuation),
            Framing::Objects => {
                self.open();
                self.output.text().extend_from_slice(b"]}");
            }
            Framing::Parts(_) => {
                if let Some(continuation) = continuation {
                    self.put_boundary();
                    self.output.text().push(b'{');
                    self.put_member("continuation", continuation);
                    self.output.text().push(b'}');
                }
                self.put_last_boundary();
            }
        }
        self.output.finish().await
    }

    /// Ends the results as [`finish`](Self::finish) does, and shrinks the share to what the last piece needs.
    pub(crate) async fn finish_on(
        self,
        budget: &Budget,
        share: &mut Share,
        continuation: Option<&[u8]>,
    ) -> Result<Sent, Fail> {
        let bytes = self.output.capacity_bytes() as u64;
        share.shrink(bytes);
        let has_room = share.has_room();
        Ok(budget.paced(has_room, bytes, self.finish(continuation)).await??)
    }

    /// Ends the results with the reason for the failure.
    pub(crate) async fn fail(mut self, reason: &str) -> Result<Sent, Error> {
        if !(matches!(self.framing, Framing::Object) && self.is_begun()) {
            self.output.text().clear();
        }
        self.put_boundary();
        self.output.text().push(b'{');
        self.put_member("error", reason.as_bytes());
        self.output.text().push(b'}');
        self.put_last_boundary();
        self.output.finish().await
    }

    fn begin_result(&mut self) {
        match self.batch {
            Batch::Closed => self.open(),
            Batch::Empty => {}
            Batch::Filled => self.output.text().push(b','),
        }
        self.batch = Batch::Filled;
    }

    async fn end_result(&mut self) -> Result<(), Error> {
        if self.output.is_full() { self.end_batch().await } else { Ok(()) }
    }

    fn open(&mut self) {
        self.put_boundary();
        self.output.text().push(b'{');
        self.put_name();
    }

    fn put_name(&mut self) {
        let text = self.output.text();
        put_string(self.name.as_bytes(), text);
        text.extend_from_slice(b":[");
        self.batch = Batch::Empty;
    }

    fn end_object(&mut self, continuation: Option<&[u8]>) {
        if self.batch == Batch::Closed {
            self.open();
        }
        self.output.text().push(b']');
        if let Some(continuation) = continuation {
            self.output.text().push(b',');
            self.put_member("continuation", continuation);
        }
        self.output.text().push(b'}');
    }

    fn put_member(&mut self, name: &str, value: &[u8]) {
        let text = self.output.text();
        put_string(name.as_bytes(), text);
        text.push(b':');
        put_string(value, text);
    }

    /// Begins a part, if the answer has parts.
    fn put_boundary(&mut self) {
        let Framing::Parts(boundary) = self.framing else { return };
        let text = self.output.text();
        text.extend_from_slice(b"\r\n--");
        text.extend_from_slice(boundary.as_bytes());
        text.extend_from_slice(b"\r\nContent-Type: application/json\r\n\r\n");
    }

    /// Ends the last part, if the answer has parts.
    fn put_last_boundary(&mut self) {
        let Framing::Parts(boundary) = self.framing else { return };
        let text = self.output.text();
        text.extend_from_slice(b"\r\n--");
        text.extend_from_slice(boundary.as_bytes());
        text.extend_from_slice(b"--\r\n");
    }
}
