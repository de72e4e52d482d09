//! How a client is made.

use std::{sync::Arc, time::Duration};

use alula_fields::Limits;
use alula_net::{
    FrameObserver, Speaks, h1,
    h2::{Config, FrameSummary},
};

#[cfg(feature = "tls")]
use crate::trust::Trust;
use crate::{Client, Error};

/// Settings of a [`Client`]; every one has a default that is safe to use.
#[derive(Clone)]
pub struct ClientBuilder {
    pub(crate) settings: Settings,
}

/// What every connection and call of a client is given.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) connect_deadline: Duration,
    pub(crate) head_deadline: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) prior_knowledge: bool,
    pub(crate) speaks: Speaks,
    pub(crate) connections_max: usize,
    pub(crate) http1: h1::Config,
    pub(crate) config: Config,
    pub(crate) observer: Option<FrameObserver>,
    #[cfg(feature = "tls")]
    pub(crate) trust: Trust,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            settings: Settings {
                connect_deadline: Duration::from_secs(10),
                head_deadline: None,
                deadline: None,
                prior_knowledge: false,
                speaks: Speaks::default(),
                connections_max: 100,
                http1: h1::Config::default(),
                config: Config::default(),
                observer: None,
                #[cfg(feature = "tls")]
                trust: Trust::default(),
            },
        }
    }
}

impl ClientBuilder {
    /// How long opening a connection may take, TLS included; 10 seconds unless set.
    #[must_use]
    pub fn connect_deadline(mut self, after: Duration) -> Self {
        self.settings.connect_deadline = after;
        self
    }

    /// How long a call may wait for the head of its response; without bound unless set.
    #[must_use]
    pub fn head_deadline(mut self, after: Duration) -> Self {
        self.settings.head_deadline = Some(after);
        self
    }

    /// How long a call may take from its start to the end of its content; without bound unless set.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.settings.deadline = Some(after);
        self
    }

    /// Sends a PING after this long without a frame from the peer while calls are under way, and gives up on the
    /// connection when it is not answered within `answer_within`. Off unless set.
    ///
    /// A connection without calls is left in peace; when it turns out to be dead, the next call opens another.
    #[must_use]
    pub fn keep_alive(mut self, after: Duration, answer_within: Duration) -> Self {
        self.settings.config.keep_alive = Some(after);
        self.settings.config.ping_timeout = answer_within;
        self
    }

    /// Whether `http://` origins are spoken to in HTTP/2 at once (RFC 9113 §3.3); they are not unless switched on, but in
    /// HTTP/1.1.
    #[must_use]
    pub fn http2_prior_knowledge(mut self, on: bool) -> Self {
        self.settings.prior_knowledge = on;
        self
    }

    /// Speaks HTTP/1.1 only: over TLS nothing else is offered.
    #[must_use]
    pub fn http1_only(mut self) -> Self {
        self.settings.speaks = Speaks::HTTP1;
        self.settings.prior_knowledge = false;
        self
    }

    /// Speaks HTTP/2 only: over TLS nothing else is offered, and in clear text it is
    /// [prior knowledge](Self::http2_prior_knowledge).
    #[must_use]
    pub fn http2_only(mut self) -> Self {
        self.settings.speaks = Speaks::HTTP2;
        self.settings.prior_knowledge = true;
        self
    }

    /// How many connections of HTTP/1.1 to one origin may be open, each of which takes one request at a time; 100 unless set,
    /// and one at least. Calls beyond that wait in the order in which they came.
    #[must_use]
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.settings.connections_max = connections.max(1);
        self
    }

    /// What a peer may make this client hold or do.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.config.limits = limits;
        self
    }

    /// Tells `observer` of every frame that comes or goes; costs memory and time.
    #[must_use]
    pub fn on_frame(mut self, observer: impl Fn(&FrameSummary) + Send + Sync + 'static) -> Self {
        self.settings.config.trace = true;
        self.settings.observer = Some(Arc::new(observer));
        self
    }

    /// The client.
    ///
    /// # Errors
    /// None at present; that there is no root to trust is told by the first call over TLS.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client::with(self.settings))
    }
}

#[cfg(feature = "tls")]
impl ClientBuilder {
    /// Trusts these certificates (PEM) beside the platform's.
    ///
    /// # Errors
    /// The text holds no certificate, or one that cannot be read.
    pub fn add_roots_pem(mut self, pem: &[u8]) -> Result<Self, Error> {
        self.settings.trust.add_pem(pem)?;
        Ok(self)
    }

    /// Trusts any certificate: what is sent can be read and changed by anyone on the way. For tests only.
    #[must_use]
    pub fn trust_anything(mut self) -> Self {
        self.settings.trust.trust_anything();
        self
    }
}
