//! The facts of an exchange, noted step by step.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use alula::{ConnectionFacts, ExchangeEvent, FieldSection, Follow, SentHead};

use crate::fetch::show::Head;

/// The facts of one exchange, which its observer notes and its reports read.
#[derive(Clone)]
pub(in crate::fetch) struct Facts(Arc<Mutex<Seen>>);

/// The facts of one exchange, all of its redirects and tries taken together.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Seen {
    /// The method and the URL that was asked for, as they are shown.
    asked: String,
    pub(in crate::fetch) way: Way,
    pub(in crate::fetch) sent: Sent,
    /// Requests that were sent again with credentials.
    challenged: u64,
    /// Tries that were made before, each with its requests.
    retried: u64,
    /// The URL of the last redirect, if it was refused.
    pub(in crate::fetch) refused: Option<String>,
    /// Bytes of the heads that came, over HTTP/2 as curl would write them.
    pub(in crate::fetch) head_bytes: u64,
    /// The time at which the last redirect was followed.
    pub(in crate::fetch) redirected: Option<Instant>,
    /// The time at which the request was last sent again.
    pub(in crate::fetch) sent_again: Option<Instant>,
    /// The heads of the responses that redirects were followed from.
    pub(in crate::fetch) hops: Vec<Head>,
    /// The head that came last.
    last: Option<Head>,
}

/// The last connection.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Way {
    pub(in crate::fetch) remote: Option<SocketAddr>,
    pub(in crate::fetch) local: Option<SocketAddr>,
    pub(in crate::fetch) certificates: Vec<Vec<u8>>,
    /// The number of connections that were opened.
    pub(in crate::fetch) connects: u32,
    /// Its number among those of this process.
    pub(in crate::fetch) number: Option<usize>,
    /// It leads through a proxy.
    pub(in crate::fetch) is_proxied: bool,
    /// The status of the last answer to CONNECT.
    pub(in crate::fetch) tunnel_status: Option<u16>,
    /// A proxy led somewhere, or refused to, and no connection has come of it yet.
    is_tunnelled: bool,
}

/// The heads of requests that were sent.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Sent {
    pub(in crate::fetch) requests: u32,
    /// Their bytes as HTTP/1.1 writes them.
    pub(in crate::fetch) bytes: u64,
    /// The value of `referer` in the last one.
    pub(in crate::fetch) referer: Vec<u8>,
}

impl Facts {
    /// Begins an exchange that is shown by this method and URL.
    pub(in crate::fetch) fn new(asked: String) -> Self {
        Self(Arc::new(Mutex::new(Seen { asked, ..Seen::default() })))
    }

    /// Returns the facts so far.
    pub(in crate::fetch) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    pub(super) fn asked(&self) -> String {
        self.lock().asked.clone()
    }

    /// Returns true once a request was sent.
    pub(in crate::fetch) fn is_request_sent(&self) -> bool {
        self.lock().sent.requests > 0
    }

    /// Notes that the request is sent again with credentials.
    pub(in crate::fetch) fn answer_challenge(&self) {
        self.lock().challenged += 1;
    }

    /// Notes that the exchange has failed, maybe by its proxy.
    pub(in crate::fetch) fn fail(&self, is_of_proxy: bool) {
        let way = &mut self.lock().way;
        way.is_proxied |= is_of_proxy || way.is_tunnelled;
    }

    /// Forgets the last try, but that there was one.
    pub(in crate::fetch) fn begin_again(&self) {
        let mut seen = self.lock();
        let (asked, retried) = (std::mem::take(&mut seen.asked), seen.retries() + 1);
        *seen = Seen { asked, retried, sent_again: Some(Instant::now()), ..Seen::default() };
    }

    /// Notes a step.
    pub(super) fn note(&self, event: &ExchangeEvent<'_>) {
        self.lock().note(event);
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Requests that were sent again, which is no redirect.
    pub(in crate::fetch) fn retries(&self) -> u64 {
        let others = 1 + self.hops.len() as u64 + self.challenged;
        self.retried + u64::from(self.sent.requests).saturating_sub(others)
    }

    fn note(&mut self, event: &ExchangeEvent<'_>) {
        match event {
            ExchangeEvent::Tunnelled(_, status) => {
                self.way.is_tunnelled = true;
                self.way.tunnel_status = status.map(|status| status.as_u16()).or(self.way.tunnel_status);
            }
            ExchangeEvent::Connected(to) => self.way.connected(to),
            ExchangeEvent::Retrying(_, wait) => {
                self.sent_again = Some(Instant::now() + *wait);
                if !wait.is_zero() {
                    // As with curl what is counted is that of the last try.
                    (self.head_bytes, self.sent.bytes) = (0, 0);
                }
            }
            ExchangeEvent::Request(head) => self.sent.note(head),
            ExchangeEvent::Interim(head) | ExchangeEvent::Response(head) => {
                let (version, status, fields) = (head.version(), head.status(), head.fields());
                let as_written = || bytes_of(version.to_string().len(), fields);
                self.head_bytes += head.bytes().map_or_else(as_written, u64::from);
                self.last = Some(Head { version, status, fields: fields.clone(), trailers: None });
            }
            ExchangeEvent::Trailers(_, trailers) => self.note_trailers(trailers),
            ExchangeEvent::Redirected(redirect, Follow::Error) => {
                self.refused = Some(redirect.to().to_owned());
            }
            ExchangeEvent::Redirected(_, follow) if *follow != Follow::Stop => {
                self.redirected = Some(Instant::now());
                self.hops.extend(self.last.take());
            }
            _ => {}
        }
    }

    /// Adds trailers to the head before them, which is that of a redirect once it was followed. As with curl
    /// their lines count as those of heads do.
    fn note_trailers(&mut self, trailers: &FieldSection) {
        self.head_bytes += bytes_of_fields(trailers);
        if let Some(head) = self.last.as_mut().or(self.hops.last_mut()) {
            head.trailers = Some(trailers.clone());
        }
    }
}

impl Way {
    fn connected(&mut self, to: &ConnectionFacts<'_>) {
        self.remote = to.remote_address();
        self.local = to.local_address();
        self.connects += u32::from(!to.is_reused());
        self.number = Some(numbered(self.local, to.is_reused()));
        (self.is_proxied, self.is_tunnelled) = (to.is_proxied(), false);
        let tls = to.tls();
        self.certificates = tls.iter().flat_map(|tls| tls.certificates()).map(<[u8]>::to_vec).collect();
    }
}

impl Sent {
    fn note(&mut self, head: &SentHead) {
        self.requests += 1;
        let lines = head.lines().map(|line| line.len() as u64 + 2);
        self.bytes += lines.sum::<u64>() + 2;
        self.referer = head.lines().find_map(referer).unwrap_or_default().to_vec();
    }
}

/// The connections of this process in the order in which they were opened, by the address of this end.
static CONNECTIONS: Mutex<Vec<Option<SocketAddr>>> = Mutex::new(Vec::new());

/// Returns the number of a connection.
fn numbered(local: Option<SocketAddr>, is_reused: bool) -> usize {
    let mut all = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // An address may come again: the last connection with it is meant.
    let known = all.iter().rposition(|known| *known == local).filter(|_| is_reused);
    known.unwrap_or_else(|| {
        all.push(local);
        all.len() - 1
    })
}

/// The value of a line of the field `referer`.
fn referer(line: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"referer:";
    let (name, value) = line.split_at_checked(NAME.len())?;
    name.eq_ignore_ascii_case(NAME).then(|| value.trim_ascii())
}

/// A status line with a version of so many bytes, lines of fields, and an empty line.
fn bytes_of(version: usize, fields: &FieldSection) -> u64 {
    const BESIDE_VERSION: usize = " 200 \r\n\r\n".len();
    (version + BESIDE_VERSION) as u64 + bytes_of_fields(fields)
}

/// The bytes of fields in lines as HTTP/1.1 writes them.
fn bytes_of_fields(fields: &FieldSection) -> u64 {
    fields.iter().map(|field| (field.name_bytes().len() + field.value().len() + 4) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_numbered_as_they_are_opened() {
        let local = |port| Some(SocketAddr::from(([192, 0, 2, 1], port)));
        let first = numbered(local(1), false);
        assert_eq!(numbered(local(1), true), first);
        let second = numbered(local(1), false);
        assert!(second > first);
        assert_eq!(numbered(local(1), true), second);
    }

    #[test]
    fn a_head_of_http_2_is_counted_as_curl_writes_it() {
        let mut fields = FieldSection::new();
        fields.append("content-length", "0").unwrap();
        assert_eq!(
            bytes_of("HTTP/2".len(), &fields),
            "HTTP/2 200 \r\ncontent-length: 0\r\n\r\n".len() as u64
        );
    }
}
