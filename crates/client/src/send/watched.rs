//! The sending of a call with an observer: it takes the path of calls that wait for a connection, and reports
//! each step.

use std::sync::Arc;

use alula_net::{Conn, Error, Stream};
use tokio::time::Instant;

use crate::{
    observe::event::{self, Watcher},
    request::call::Call,
};

impl Call<'_> {
    /// Returns the observer of each step, if there is one.
    #[inline]
    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        if self.parts.is_watched { self.client.settings().policy.watcher.as_ref() } else { None }
    }

    /// Sends the head of the request, which is complete, on this connection or another, and tells of it. A
    /// connection that was opened since the call `began` is told of as a new one.
    pub(super) async fn start_watched(
        &self,
        watcher: &Watcher,
        conn: Option<Arc<Conn>>,
        end: bool,
        (began, ends_at): (Instant, Option<Instant>),
    ) -> Result<Stream, Error> {
        let mut bytes = Vec::new();
        let opened = self.open_with(conn, end, ends_at, |machine, out| {
            let mark = out.end();
            let stream = self.request.send(self.bare_fields(), machine, end, out)?;
            bytes = machine.sent_head(out.since(mark));
            Ok(stream)
        });
        let stream = opened.await?;
        let opened = stream.opened().and_then(|opened| opened.secured.or(opened.connected));
        let is_reused = opened.is_none_or(|opened| opened <= began);
        event::connected(watcher, &stream, is_reused);
        event::sent(watcher, stream.version(), bytes);
        Ok(stream)
    }
}
