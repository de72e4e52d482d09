//! An origin (RFC 9110 §4.3.1) and its open connections: one or a few of HTTP/2 that all requests share, or
//! as many of HTTP/1.1 as there are requests under way.

use std::sync::Arc;

use alula_machine::{OutBuf, StreamKey};
use alula_net::{Cause, Conn, Error, Machine, Noted, Phase, Refusal, Speaks, Stream};
use url::Url;

use crate::{
    connecting::{Route, RouteSettings, Tls},
    observe::observer::Watcher,
    pool::queue_deadlines::QueueDeadlines,
    pool::{caller::Caller, opener::Opener, pools::Pools},
    url::{location::Location, zone::Zone},
};

/// The number of connections that a request may meet that take no more, before that is told; and how many
/// runtimes that end.
const GONE_MAX: u32 = 8;

pub(crate) struct Origin {
    pub(crate) scheme: &'static str,
    /// Scheme and authority as they begin a URL, with the zone of an address: it is part of the origin here.
    pub(crate) prefix: Arc<str>,
    /// The same without the zone, which nobody is sent; the same text where there is none.
    sent_prefix: Arc<str>,
    route: Arc<Route>,
    pools: Arc<Pools>,
}

impl Origin {
    pub(crate) fn new(location: &Location, settings: Arc<RouteSettings>, tls: Option<Tls>) -> Self {
        let prefix: Arc<str> = location.prefix().into();
        let sent_prefix = match &location.zone {
            Some(_) => location.sent_prefix().into(),
            None => prefix.clone(),
        };
        let route = Arc::new(Route::new(location, prefix.clone(), settings, tls));
        let pools = Pools::new(Opener::new(route.clone()));
        Self { scheme: location.scheme, prefix, sent_prefix, route, pools }
    }

    /// Returns the host and the port, unless that is the default, as they go on the wire.
    pub(crate) fn authority(&self) -> &str {
        &self.sent_prefix[self.scheme.len() + "://".len()..]
    }

    /// Returns scheme and authority as they begin a URL that others may see.
    pub(crate) fn sent_prefix(&self) -> &str {
        &self.sent_prefix
    }

    /// Returns the zone of its address if this is the host of that URL: a peer that leads to another path or
    /// port of its own host means itself, and knows no zones of this machine.
    pub(crate) fn zone_for(&self, url: &Url) -> Option<&Zone> {
        self.route.zone_for(url)
    }

    /// Returns a URL on this origin's host for the caller, who can call it: with the zone of the address.
    #[cold]
    pub(crate) fn url_for_caller(&self, url: Url) -> String {
        match self.zone_for(&url) {
            Some(zone) => zone.put_into(url.as_str()),
            None => url.into(),
        }
    }

    /// Returns the versions that connections to it may speak.
    pub(crate) fn speaks(&self) -> Speaks {
        self.route.speaks()
    }

    /// Asks the origin over HTTP/1.1 from now on, since it wants that (RFC 9113 §7, HTTP_1_1_REQUIRED), as
    /// Apache does to ask for a client certificate. Returns false, and changes nothing, if the client does
    /// not speak it.
    #[cold]
    pub(crate) fn require_http1(&self) -> bool {
        let is_spoken = self.route.require_http1();
        if is_spoken {
            self.pools.leave_http2();
        }
        is_spoken
    }

    /// Returns true if its connections lead to a proxy.
    pub(crate) fn is_proxied(&self) -> bool {
        self.route.is_proxied()
    }

    /// Returns true if requests are sent to a proxy, with the authority in their target (RFC 9112 §3.2.2).
    pub(crate) fn asks_proxy(&self) -> bool {
        self.route.asks_proxy()
    }

    /// Returns true if this is that origin (RFC 9110 §4.3.1).
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.prefix == other.prefix
    }

    /// Opens a stream as `send` says, if there is a connection that takes it at once; else there is the one
    /// that does not, if there is any, to [`open`](Self::open) it with. Allocates nothing.
    #[inline]
    pub(crate) fn try_open<F>(&self, noted: Noted<'_>, send: F) -> Result<Stream, Option<Arc<Conn>>>
    where
        F: FnOnce(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let conn = self.pools.at_hand().ok_or(None)?;
        conn.try_open(noted, send).map_err(Some)
    }

    /// Opens a stream as `send` says, on a connection that takes it: on `conn`, if that is one. Allocates
    /// nothing when there is one.
    ///
    /// A call whose runtime ends while it waits, and which is polled on another one then, begins anew there.
    ///
    /// # Errors
    /// There is no connection in time, or one after the other takes no more requests; nothing was sent. Or
    /// what `send` says.
    pub(crate) async fn open<F>(
        &self,
        mut conn: Option<Arc<Conn>>,
        mut deadlines: QueueDeadlines,
        watcher: Option<&Watcher>,
        noted: Noted<'_>,
        mut send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut left = 0;
        loop {
            let mut caller = Caller::of(self.pools.enter()?, watcher);
            match self.open_for(&mut caller, conn.take(), &mut deadlines, noted, &mut send).await {
                Err(error) if matches!(error.cause(), Cause::Timeout) => return Err(caller.explained(error)),
                Err(_) if !caller.is_here() && left < GONE_MAX => left += 1,
                outcome => return outcome,
            }
        }
    }

    async fn open_for<F>(
        &self,
        caller: &mut Caller<'_>,
        mut conn: Option<Arc<Conn>>,
        deadlines: &mut QueueDeadlines,
        noted: Noted<'_>,
        mut send: F,
    ) -> Result<Stream, Error>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        let mut gone = 0;
        loop {
            let conn = match conn.take() {
                Some(conn) => conn,
                None => caller.conn(deadlines).await?,
            };
            match deadlines.in_queue(conn.open(noted, &mut send)).await {
                Ok(stream) => return Ok(stream),
                Err(error) if is_full(&error) => {}
                Err(error) if !conn.is_open() || error.phase() == Phase::Send => {
                    caller.forget(&conn);
                    if conn.asks_for_http1() {
                        self.pools.leave_http2();
                    }
                    // Where others were answered, this one gets its turn: a server may end each connection
                    // after a few requests.
                    gone += u32::from(!conn.has_taken_requests());
                    if gone == GONE_MAX {
                        return Err(error);
                    }
                }
                Err(error) => {
                    conn.give_back();
                    return Err(error);
                }
            }
        }
    }

    /// Returns a connection that takes a request, to [`open`](Self::open) a stream with later; it is to be
    /// [given back](Conn::give_back) if it is not used.
    ///
    /// # Errors
    /// There is none in time.
    pub(crate) async fn connection(
        &self,
        mut deadlines: QueueDeadlines,
        watcher: Option<&Watcher>,
    ) -> Result<Arc<Conn>, Error> {
        if let Some(conn) = self.pools.at_hand() {
            return Ok(conn);
        }
        let mut caller = Caller::of(self.pools.enter()?, watcher);
        caller.conn(&mut deadlines).await.map_err(|error| match error.cause() {
            Cause::Timeout => caller.explained(error),
            _ => error,
        })
    }

    /// Has its connections notice what came while nobody drove them.
    #[cfg(feature = "blocking")]
    pub(crate) fn look_in(&self) {
        self.pools.look_in();
    }

    /// Returns true if nothing would be lost with it: no connection is open, or being opened.
    pub(crate) fn is_without_connections(&self) -> bool {
        self.pools.are_without_connections()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.pools.close();
    }
}

/// Returns true if the connection has no room, and another is to be looked for.
fn is_full(error: &Error) -> bool {
    error.phase() == Phase::Queue && matches!(error.cause(), Cause::Refused(_))
}
