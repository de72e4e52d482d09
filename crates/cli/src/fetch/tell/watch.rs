//! The steps of an exchange while it goes on: `-v` shows them at once, and `-w` asks for them in the end.

use std::{
    cell::RefCell,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use alula::{ConnectionFacts, ExchangeEvent, FieldSection, Follow, Redirect, Setback, Version};

use super::{trace::Trace, verbose::Verbose};
use crate::fetch::{plan::Plan, send::tries, show::Head};
use crate::{
    args::{Options, Protocols},
    failure::sentence,
};

/// Is told of every step, and keeps what is asked for later.
#[derive(Clone)]
pub(in crate::fetch) struct Watch {
    /// The way in which steps are shown, if they are.
    verbose: Option<Verbose>,
    trace: Option<Arc<Trace>>,
    following: Following,
    /// Requests that --retry has sent again are told of.
    tells_retries: bool,
}

/// The method and content that go along with redirects beyond what RFC 9110 §15.4 says, as with curl.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fetch) struct Following {
    /// The method was named by -X, and is that of all requests.
    has_method: bool,
    content: SentContent,
    /// Content that was posted is posted again after these statuses.
    reposts: [Option<u16>; 3],
    /// Redirects are errors.
    are_refused: bool,
    /// Redirects to other protocols than these are errors.
    protocols: [Option<Protocols>; 2],
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum SentContent {
    #[default]
    None,
    Posted,
    /// The content was given by -T.
    Uploaded,
}

impl Following {
    pub(in crate::fetch) fn of(options: &Options, plan: &Plan) -> Self {
        let args = &options.connection;
        let content = match () {
            () if !options.content.upload_file.is_empty() => SentContent::Uploaded,
            () if plan.posts() => SentContent::Posted,
            () => SentContent::None,
        };
        let reposts = [(args.post301, 301), (args.post302, 302), (args.post303, 303)];
        let reposts = reposts.map(|(is_given, status)| is_given.then_some(status));
        Self {
            has_method: options.request.method.is_some(),
            content,
            reposts,
            are_refused: args.max_redirs == 0,
            protocols: [args.proto, args.proto_redir],
        }
    }

    fn forbids(self, to: &str) -> bool {
        let scheme = to.split(':').next().unwrap_or_default();
        self.protocols.into_iter().flatten().any(|protocols| !protocols.have(scheme))
    }

    fn after(self, status: u16) -> Follow {
        match self.content {
            _ if matches!(status, 307 | 308) => Follow::Yes,
            SentContent::Posted if self.reposts.contains(&Some(status)) => Follow::WithContent,
            SentContent::Uploaded if self.has_method && status != 303 => Follow::WithContent,
            _ if self.has_method => Follow::WithMethod,
            _ => Follow::Yes,
        }
    }
}

/// The facts of one exchange, all of its redirects and tries taken together.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Seen {
    /// The method and the URL that was asked for, as they are shown.
    asked: String,
    /// The peer's address on the last connection.
    pub(in crate::fetch) remote: Option<SocketAddr>,
    pub(in crate::fetch) local: Option<SocketAddr>,
    pub(in crate::fetch) certificates: Vec<Vec<u8>>,
    /// Connections that were opened.
    pub(in crate::fetch) connects: u32,
    /// The last connection, by its number among those of this process.
    pub(in crate::fetch) connection: Option<usize>,
    /// The last request went through a proxy.
    pub(in crate::fetch) is_proxied: bool,
    /// The status of the last answer to CONNECT.
    pub(in crate::fetch) tunnel_status: Option<u16>,
    /// Requests that were sent again with credentials.
    challenged: u64,
    /// Tries that were made before, each with its requests.
    retried: u64,
    /// Heads of requests that were sent, and their bytes as HTTP/1.1 writes them.
    pub(in crate::fetch) requests: u32,
    pub(in crate::fetch) request_bytes: u64,
    /// The value of `referer` in the last one.
    pub(in crate::fetch) referer: Vec<u8>,
    /// The URL of a redirect that --proto or --proto-redir forbids.
    pub(in crate::fetch) forbidden: Option<String>,
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

tokio::task_local! {
    /// The facts of the exchange that runs in this task.
    static SEEN: RefCell<Seen>;
}

/// Runs an exchange, shown by this method and URL, and keeps the facts of it.
pub(in crate::fetch) async fn seeing<T>(asked: String, exchange: impl Future<Output = T>) -> T {
    SEEN.scope(RefCell::new(Seen { asked, ..Seen::default() }), exchange).await
}

/// Returns the facts so far of the exchange that asks.
pub(in crate::fetch) fn seen() -> Seen {
    SEEN.try_with(|seen| seen.borrow().clone()).unwrap_or_default()
}

/// Returns true once a request of the exchange that asks was sent.
pub(in crate::fetch) fn is_request_sent() -> bool {
    SEEN.try_with(|seen| seen.borrow().requests > 0).unwrap_or_default()
}

/// Notes that the exchange that asks sends its request again with credentials.
pub(in crate::fetch) fn answer_challenge() {
    note(|seen| seen.challenged += 1);
}

/// Notes that the exchange that asks has failed, maybe by its proxy: a tunnel that came of it was its own.
pub(in crate::fetch) fn fail(is_of_proxy: bool) {
    note(|seen| {
        let is_tunnelled = (is_of_proxy || seen.connection.is_none()) && seen.take_tunnel();
        seen.is_proxied |= is_of_proxy || is_tunnelled;
    });
}

/// Forgets the last try of the exchange that asks, but that there was one.
pub(in crate::fetch) fn begin_again() {
    note(|seen| {
        let retries = seen.retries() + 1;
        let asked = std::mem::take(&mut seen.asked);
        *seen = Seen { asked, retried: retries, sent_again: Some(Instant::now()), ..Seen::default() };
    });
}

/// Notes something, unless it is of no exchange: connections are opened for whoever comes first.
fn note(note: impl FnOnce(&mut Seen)) {
    let _ = SEEN.try_with(|seen| note(&mut seen.borrow_mut()));
}

impl Watch {
    pub(in crate::fetch) const fn new(
        verbose: Option<Verbose>,
        trace: Option<Arc<Trace>>,
        following: Following,
        tells_retries: bool,
    ) -> Self {
        Self { verbose, trace, following, tells_retries }
    }

    /// The trace that is written, if one is.
    pub(in crate::fetch) fn trace(&self) -> Option<Arc<Trace>> {
        self.trace.clone()
    }

    /// Notes a step, and shows it.
    pub(in crate::fetch) fn see(&self, event: &ExchangeEvent<'_>) {
        if let ExchangeEvent::Tunnelled(_, status) = event {
            let status = status.map(|status| status.as_u16());
            TUNNELS.lock().unwrap_or_else(PoisonError::into_inner).push(status);
        }
        note(|seen| seen.note(event));
        if let Some(verbose) = &self.verbose {
            verbose.print(event);
        }
        if let Some(trace) = &self.trace {
            trace.see(event);
        }
        if let ExchangeEvent::Retrying(setback, wait) = event
            && self.tells_retries
            && !wait.is_zero()
        {
            tell_retry(*setback, *wait);
        }
    }

    /// Notes trailers that were read to the end of a response, and shows them.
    pub(in crate::fetch) fn see_trailers(&self, version: Version, trailers: &FieldSection) {
        self.see(&ExchangeEvent::Trailers(version, trailers));
    }

    /// Notes a redirect, shows it, and follows it, if that is allowed.
    pub(in crate::fetch) fn follow(&self, redirect: &Redirect<'_>) -> Follow {
        if self.following.are_refused {
            return Follow::Error;
        }
        if self.following.forbids(redirect.to()) {
            note(|seen| seen.forbidden = Some(redirect.to().to_owned()));
            return Follow::Error;
        }
        note(Seen::follow);
        if let Some(verbose) = &self.verbose {
            verbose.print_redirect(redirect);
        }
        if let Some(trace) = &self.trace {
            trace.follow(redirect);
        }
        self.following.after(redirect.status().as_u16())
    }
}

/// Says that --retry sends the request of the exchange that is polled again.
fn tell_retry(setback: Setback<'_>, wait: Duration) {
    let happened = match setback {
        Setback::Answered(status) => {
            let reason = status.reason().map(|reason| format!(" {reason}"));
            setback.to_string() + &reason.unwrap_or_default()
        }
        Setback::Failed(error) => sentence::of(error),
        other => other.to_string(),
    };
    let asked = SEEN.try_with(|seen| seen.borrow().asked.clone()).unwrap_or_default();
    // Most failures are named after this only.
    let sentence = if happened.starts_with(&asked) { happened } else { format!("{asked}: {happened}") };
    tries::tell(&sentence, wait);
}

impl Seen {
    /// Requests that were sent again, which is no redirect.
    pub(in crate::fetch) fn retries(&self) -> u64 {
        let others = 1 + self.hops.len() as u64 + self.challenged;
        self.retried + u64::from(self.requests).saturating_sub(others)
    }

    fn note(&mut self, event: &ExchangeEvent<'_>) {
        match event {
            ExchangeEvent::Connected(to) => self.connected(to),
            ExchangeEvent::Retrying(_, wait) => {
                self.sent_again = Some(Instant::now() + *wait);
                if !wait.is_zero() {
                    // As with curl what is counted is that of the last try.
                    (self.head_bytes, self.request_bytes) = (0, 0);
                }
            }
            ExchangeEvent::Request(head) => {
                self.requests += 1;
                self.is_proxied |= head.lines().next().is_some_and(is_for_proxy);
                let lines = head.lines().map(|line| line.len() as u64 + 2);
                self.request_bytes += lines.sum::<u64>() + 2;
                self.referer = head.lines().find_map(referer).unwrap_or_default().to_vec();
            }
            ExchangeEvent::Interim(head) | ExchangeEvent::Response(head) => {
                let (version, status, fields) = (head.version(), head.status(), head.fields());
                let as_written = || bytes_of(version.to_string().len(), fields);
                self.head_bytes += head.bytes().map_or_else(as_written, u64::from);
                self.last = Some(Head { version, status, fields: fields.clone(), trailers: None });
            }
            ExchangeEvent::Trailers(_, trailers) => self.note_trailers(trailers),
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

    /// Takes a tunnel that was made or refused lately for this exchange; returns true if there is one.
    fn take_tunnel(&mut self) -> bool {
        let mut all = TUNNELS.lock().unwrap_or_else(PoisonError::into_inner);
        let tunnel = all.pop();
        // Others that were refused are those of tries before.
        all.retain(|status| status.is_none_or(|status| (200..300).contains(&status)));
        self.tunnel_status = tunnel.flatten().or(self.tunnel_status);
        tunnel.is_some()
    }

    fn follow(&mut self) {
        self.redirected = Some(Instant::now());
        self.hops.extend(self.last.take());
    }

    fn connected(&mut self, to: &ConnectionFacts<'_>) {
        self.remote = to.remote_address();
        self.local = to.local_address();
        self.connects += u32::from(!to.is_reused());
        let is_tunnelled = !to.is_reused() && self.take_tunnel();
        let (number, is_proxied) = numbered(self.local, to.is_reused(), is_tunnelled);
        (self.connection, self.is_proxied) = (Some(number), is_proxied);
        let tls = to.tls();
        self.certificates = tls.iter().flat_map(|tls| tls.certificates()).map(<[u8]>::to_vec).collect();
    }
}

/// The statuses of tunnels that no exchange has taken: connections are opened for whichever comes first.
static TUNNELS: Mutex<Vec<Option<u16>>> = Mutex::new(Vec::new());

/// The connections of this process in the order in which they were opened: the address of this end, and true
/// if it leads through a proxy.
static CONNECTIONS: Mutex<Vec<(Option<SocketAddr>, bool)>> = Mutex::new(Vec::new());

/// The number of a connection, and whether it leads through a proxy.
fn numbered(local: Option<SocketAddr>, is_reused: bool, is_tunnelled: bool) -> (usize, bool) {
    let mut all = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // An address may come again: the last connection with it is meant.
    let known = all.iter().rposition(|(known, _)| *known == local).filter(|_| is_reused);
    let number = known.unwrap_or_else(|| {
        all.push((local, is_tunnelled));
        all.len() - 1
    });
    (number, all[number].1)
}

/// Returns true for the first line of a request that a proxy sends on: its target has a scheme (RFC 9112
/// §3.2.2).
fn is_for_proxy(line: &[u8]) -> bool {
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    target.starts_with(b"http://")
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
        let (first, is_proxied) = numbered(local(1), false, true);
        assert!(is_proxied);
        assert_eq!(numbered(local(1), true, false), (first, true));
        let (second, is_proxied) = numbered(local(1), false, false);
        assert!(second > first && !is_proxied);
        assert_eq!(numbered(local(1), true, false), (second, false));
    }

    #[test]
    fn targets_of_proxies_have_a_scheme() {
        assert!(is_for_proxy(b"GET http://a.example/ HTTP/1.1"));
        assert!(!is_for_proxy(b"GET /http://a HTTP/1.1") && !is_for_proxy(b":method: GET"));
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
