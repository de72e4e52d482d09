//! The sending of a call with an observer: it takes the path of calls that wait for a connection, and reports
//! each step.

use std::sync::Arc;

use alula_net::{Conn, Error, Stream};
use tokio::time::Instant;

use crate::{
    observe::{
        event::{ConnectionFacts, ExchangeEvent, SentHead},
        observer::Watcher,
    },
    request::call::Call,
};

impl Call<'_> {
    /// Returns the observer of each step, if there is one: that of the call tells that of the client.
    #[inline]
    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        let of_client = || self.client.settings().policy.watcher.as_ref();
        if self.parts.is_watched { self.parts.watcher().or_else(of_client) } else { None }
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
            machine.keep_sent_head();
            let sent = self.request.send(self.bare_fields(), machine, end, out);
            bytes = machine.take_sent_head(out.since(mark));
            sent
        });
        let stream = opened.await?;
        let opened = stream.opened().and_then(|opened| opened.secured.or(opened.connected));
        let is_reused = opened.is_none_or(|opened| opened <= began);
        let is_proxied = self.request.origin().is_ok_and(|origin| origin.is_proxied());
        watcher.event(&ExchangeEvent::Connected(&ConnectionFacts::new(&stream, is_reused, is_proxied)));
        watcher.event(&ExchangeEvent::Request(&SentHead::new(stream.version(), bytes)));
        Ok(stream)
    }
}
