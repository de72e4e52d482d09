//! The settings of the protocol: HTTP versions, and the limits on peers.

use std::{sync::Arc, time::Duration};

use alula_machine::Limits;
use alula_net::{
    FrameObserver, Speaks, h1,
    h2::{self, Config, FrameSummary},
};

use super::ClientBuilder;

/// The default limit on gathered content of a response: more than nearly every page, picture or document, and
/// a sixteenth of what all connections may hold (`Limits::process_memory_bytes`). Longer content is read
/// piece by piece.
const CONTENT_MAX: usize = 64 << 20;

/// The settings of both machines.
#[derive(Clone)]
pub(crate) struct Protocol {
    pub(crate) speaks: Speaks,
    pub(crate) prior_knowledge: bool,
    pub(crate) http1: h1::Config,
    pub(crate) config: Config,
    pub(crate) content_max: usize,
    pub(crate) observer: Option<FrameObserver>,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            speaks: Speaks::default(),
            prior_knowledge: false,
            http1: h1::Config::default(),
            config: Config { limits: Limits::client(), ..Config::default() },
            content_max: CONTENT_MAX,
            observer: None,
        }
    }
}

impl ClientBuilder {
    /// Sends a PING after this long without a frame from the peer while calls are in progress, and ends the
    /// connection if it is not answered within `answer_within`. Off unless set.
    ///
    /// A connection without calls is left in peace; when it turns out to be dead, the next call opens
    /// another.
    ///
    /// Over TCP, of either version, the system ends the connection when the peer takes nothing of what was
    /// sent for both times together (TCP_USER_TIMEOUT, on Linux alone). Otherwise a call without a deadline
    /// waits for a server that reads nothing for as long as the connection lasts.
    #[must_use]
    pub fn keep_alive(mut self, after: Duration, answer_within: Duration) -> Self {
        self.settings.protocol.config.keep_alive = Some(after);
        self.settings.protocol.config.ping_timeout = answer_within;
        self
    }

    /// Sets whether `http://` origins are contacted in HTTP/2 without negotiation (RFC 9113 §3.3); otherwise
    /// in HTTP/1.1.
    #[must_use]
    pub fn http2_prior_knowledge(mut self, on: bool) -> Self {
        self.settings.protocol.prior_knowledge = on;
        self
    }

    /// Speaks HTTP/1.1 only.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.settings.protocol.speaks = Speaks::HTTP1;
        self.settings.protocol.prior_knowledge = false;
        self
    }

    /// Speaks HTTP/2 only, over TLS and, with [prior knowledge](Self::http2_prior_knowledge), in clear text.
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.settings.protocol.speaks = Speaks::HTTP2;
        self.settings.protocol.prior_knowledge = true;
        self
    }

    /// Forgives servers of HTTP/1.1 these mistakes; none unless set. Each leniency that is named there has
    /// been used to make two readers of one message see two different ones: allow what a server needs that
    /// you know.
    #[must_use]
    pub fn http1_leniency(mut self, leniency: h1::Leniency) -> Self {
        self.settings.protocol.http1.leniency = leniency;
        self
    }

    /// Forgives servers of HTTP/2 these mistakes in their responses; none unless set. Nothing can be smuggled
    /// by them to a client, but to whom it passes responses on.
    ///
    /// ```
    /// use alula::{Client, h2::Leniency};
    ///
    /// let client = Client::builder().http2_leniency(Leniency { spaced_values: true }).build()?;
    /// # Ok::<(), alula::Error>(())
    /// ```
    #[must_use]
    pub fn http2_leniency(mut self, leniency: h2::Leniency) -> Self {
        self.settings.protocol.config.leniency = leniency;
        self
    }

    /// Sets the spelling of field names in HTTP/1.1 requests: the usual one (`Content-Type`) unless set,
    /// except for names given with [`Call::header_spelled`](crate::Call::header_spelled). They mean the same
    /// in any case (RFC 9110 §5.1).
    #[must_use]
    pub fn http1_spelling(mut self, spelling: h1::Spelling) -> Self {
        self.settings.protocol.http1.spelling = spelling;
        self
    }

    /// Sets whether fields of HTTP/1.1 responses keep their received spelling, beside the lower-case names
    /// for lookups, for [`Field::spelling`](alula_fields::Field::spelling); costs the bytes of the names. Off
    /// unless switched on.
    #[must_use]
    pub fn http1_keep_spelling(mut self, on: bool) -> Self {
        self.settings.protocol.http1.keep_spelling = on;
        self
    }

    /// Accepts a response of HTTP/1.1 without a stated length, and the end of a tunnel, as whole when TLS
    /// ends without close_notify (RFC 9112 §9.8). Off unless switched on: such an end is an error then, after
    /// every byte that came, since anyone on the path can cause it.
    ///
    /// It changes nothing for content whose end the server states: by a length, the last chunk or END_STREAM.
    #[must_use]
    pub fn accept_truncated_tls(mut self, on: bool) -> Self {
        self.settings.protocol.http1.accept_truncated_tls = on;
        self
    }

    /// Sets the limits of the memory and work that a peer may cause; [`Limits::client`] unless set.
    ///
    /// ```
    /// use alula::Limits;
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let limits = Limits { field_section_bytes: 64 * 1024, ..Limits::client() };
    /// let client = alula::Client::builder().limits(limits).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.protocol.config.limits = limits;
        self
    }

    /// Sets the bytes of a response's content that [`Response::bytes`](crate::Response::bytes),
    /// [`text`](crate::Response::text) and `json` gather; longer content is an error. Default 64 MiB.
    ///
    /// More than 4 GiB count as 4 GiB. It is the default of each [`Body`](crate::Body), which
    /// [`set_content_max`](crate::Body::set_content_max) changes; `bytes_max`, `text_max` and `json_max` take
    /// a limit of their own. Content that is read piece by piece is not bounded: what is not read stays with
    /// the server.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().content_max(1 << 20).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn content_max(mut self, bytes: usize) -> Self {
        self.settings.protocol.content_max = bytes;
        self
    }

    /// Sets an observer of every received and sent frame; costs memory and time.
    #[must_use]
    pub fn on_frame(mut self, observer: impl Fn(&FrameSummary) + Send + Sync + 'static) -> Self {
        self.settings.protocol.config.trace = true;
        self.settings.protocol.observer = Some(Arc::new(observer));
        self
    }
}
