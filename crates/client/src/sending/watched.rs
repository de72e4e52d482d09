//! Sending a call that somebody watches: it goes the way of those that wait for a connection, and each step is told.

use alula_net::{Error, Stream};
use tokio::time::Instant;

use crate::{
    Call,
    watching::{self, Watcher},
};

impl Call<'_> {
    /// Returns the observer of each step, if there is one.
    #[inline]
    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        if self.parts.is_watched { self.client.settings().policy.watcher.as_ref() } else { None }
    }

    /// Sends the head of the request, which is complete, and tells of it.
    pub(super) async fn start_watched(
        &self,
        watcher: &Watcher,
        end: bool,
        ends_at: Option<Instant>,
    ) -> Result<Stream, Error> {
        let began = Instant::now();
        let mut octets = Vec::new();
        let opened = self.open_with(None, end, ends_at, |machine, out| {
            let mark = out.end();
            let stream = self.request.send(self.bare_fields(), machine, end, out)?;
            octets = machine.sent_head(out.since(mark));
            Ok(stream)
        });
        let stream = opened.await?;
        let opened = stream.opened().and_then(|opened| opened.secured.or(opened.connected));
        let is_reused = opened.is_none_or(|opened| opened <= began);
        watching::connected(watcher, &stream, is_reused);
        watching::sent(watcher, stream.version(), octets);
        Ok(stream)
    }
}
