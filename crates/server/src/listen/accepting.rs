//! Accepting connections: as many as there is room for, a few at a time, from accepted peers.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use alula_net::{Ledger, Listener, Overrun, Socket};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    connection::table::Connections,
    observe::reporting::{OnError, tell_accept},
};

/// The connections that are accepted before the tasks of earlier ones run.
const TURN_MAX: u32 = 32;

/// The pause of the listener after a transient error.
const BACKOFF: Duration = Duration::from_millis(10);

/// Decides by the address whether a peer is accepted.
pub(crate) type Judge = Arc<dyn Fn(SocketAddr) -> bool + Send + Sync>;

/// An accepted connection, and its peer's address.
pub(crate) type Accepted = (Socket, SocketAddr);

pub(crate) struct Accepting {
    listener: Listener,
    connections: Arc<Connections>,
    judge: Option<Judge>,
    ledger: Arc<Ledger>,
    on_error: Option<OnError>,
    /// A connection that was accepted and waits for room.
    next: Option<Accepted>,
    /// The connections that were accepted since the other tasks have run.
    taken: u32,
}

impl Accepting {
    pub(crate) const fn new(
        listener: Listener,
        connections: Arc<Connections>,
        judge: Option<Judge>,
        ledger: Arc<Ledger>,
        on_error: Option<OnError>,
    ) -> Self {
        Self { listener, connections, judge, ledger, on_error, next: None, taken: 0 }
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for room and for the next connection.
    ///
    /// Dropping the future before it is ready loses no connection.
    ///
    /// # Errors
    /// The listener broke.
    pub(crate) async fn next(&mut self) -> io::Result<Accepted> {
        self.let_others_run().await;
        loop {
            if self.next.is_none() {
                match self.listener.accept().await {
                    Ok(accepted) => self.next = Some(accepted).filter(|(_, peer)| self.is_welcome(*peer)),
                    failed => self.receive(failed.map(Some)).await?,
                }
            }
            if self.next.is_some() && !self.connections.make_room() {
                self.connections.room_for_one().await;
            }
            if let Some(accepted) = self.next.take() {
                self.taken += 1;
                return Ok(accepted);
            }
        }
    }

    /// Accepts the next connection that waits in the backlog; `None` when there is none, the listener broke,
    /// or it is `ends_at`.
    pub(crate) async fn next_in_backlog(&mut self, ends_at: Instant) -> Option<Accepted> {
        self.let_others_run().await;
        while Instant::now() < ends_at {
            if self.next.is_none() {
                let accepted = self.listener.accept_now();
                if let Ok(None) = accepted {
                    return None;
                }
                timeout_at(ends_at, self.receive(accepted)).await.ok()?.ok()?;
                continue;
            }
            timeout_at(ends_at, self.connections.room_for_one()).await.ok()?;
            self.taken += 1;
            return self.next.take();
        }
        None
    }

    /// Lets the tasks of accepted connections read before more connections are accepted.
    async fn let_others_run(&mut self) {
        if self.taken >= TURN_MAX {
            self.taken = 0;
            tokio::task::yield_now().await;
        }
    }

    /// Receives an accepted connection if its peer is welcome; pauses after an error.
    async fn receive(&mut self, accepted: io::Result<Option<Accepted>>) -> io::Result<()> {
        match accepted {
            Ok(accepted) => self.next = accepted.filter(|(_, peer)| self.is_welcome(*peer)),
            Err(error) if is_fatal(&error) => return Err(error),
            // It was gone before it was taken.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tell_accept(self.on_error.as_ref(), &error);
                match is_out_of_descriptors(&error) {
                    // The listener stays ready: accepting again would fail at once, until a connection has
                    // ended.
                    true => self.connections.fewer().await,
                    false => sleep(BACKOFF).await,
                }
            }
        }
        Ok(())
    }

    fn is_welcome(&self, peer: SocketAddr) -> bool {
        let is_welcome = self.judge.as_ref().is_none_or(|judge| judge(peer));
        if !is_welcome {
            self.ledger.note_overrun(Overrun::PEER_REFUSED);
        }
        is_welcome
    }
}

/// Returns true if the listener itself is broken, not one connection on its way.
fn is_fatal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected)
}

/// Returns true if the process (EMFILE) or the system (ENFILE) has no descriptors left.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}
