//! Addresses that accept a connection and break it off before it is usable, and the addresses that are tried
//! next.
//!
//! Rule 1: a peer that breaks off, falls silent or speaks something else says nothing about the host's other
//! addresses. One that is not trusted, or does not take us, has judged or was judged: the next address would
//! hide that.
//! Rule 2: a silent peer is waited for as long as before. The next address is tried beside it, so that a slow
//! handshake is not given up for one that is no faster.

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use alula_net::{Attempt, Cause, Error, Phase};
use tokio::time::{Instant, Sleep, sleep_until};

/// The longest time that a connection is set up alone before the next address is tried beside it. Handshakes
/// over a bad path take a second or two, with a lost packet three more.
const ALONE_MAX: Duration = Duration::from_secs(5);

/// A connection to one of several addresses, and the failed ones before it.
pub(super) struct Reached<S> {
    pub(super) address: SocketAddr,
    pub(super) stream: S,
    pub(super) failed: Vec<Attempt>,
}

/// The failure of one address.
pub(super) enum Setback {
    /// Another address may succeed.
    Elsewhere(Error),
    /// The failure would be the same at every address, or must not be hidden.
    Final(Error),
}

impl Setback {
    /// Classifies the failure of setting up a connection.
    pub(super) fn of(error: Error) -> Self {
        let is_early = matches!(error.phase(), Phase::Handshake | Phase::Proxy);
        if is_early && may_differ(error.cause()) { Self::Elsewhere(error) } else { Self::Final(error) }
    }
}

/// Returns true for failures that say nothing about other addresses: an end, silence, another protocol, and
/// alerts about the peer's own failures.
fn may_differ(cause: &Cause) -> bool {
    match cause {
        Cause::Io(..) | Cause::Timeout | Cause::Closed | Cause::Http1(_) => true,
        #[cfg(feature = "tls")]
        Cause::Tls(error) => {
            use rustls::AlertDescription as Alert;
            let is_own_fault = |alert| matches!(alert, Alert::InternalError | Alert::UserCanceled);
            match &**error {
                // A captive portal or a wrong service at one address answers in something that is not TLS.
                rustls::Error::InvalidMessage(_) => true,
                rustls::Error::AlertReceived(alert) => is_own_fault(*alert) || *alert == Alert::CloseNotify,
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the kind under which the failure is listed beside those of connecting.
pub(super) fn kind_of(error: &Error) -> io::ErrorKind {
    match error.cause() {
        Cause::Io(kind, _) => *kind,
        Cause::Timeout => io::ErrorKind::TimedOut,
        Cause::Closed => io::ErrorKind::UnexpectedEof,
        _ => io::ErrorKind::InvalidData,
    }
}

/// Connects to one of these addresses and sets up the connection; goes on to the next address if that fails
/// for a reason that says nothing about others, or takes its share of the time.
///
/// # Errors
/// The first failure, with every address that was tried if there were several; or the failure that ended it.
pub(super) async fn use_first<S, T, C, U>(
    addresses: Vec<SocketAddr>,
    ends_at: Instant,
    connect: impl Fn(Vec<SocketAddr>) -> C,
    make_use: impl Fn(SocketAddr, S) -> U,
) -> Result<T, Error>
where
    C: Future<Output = Result<Reached<S>, Error>>,
    U: Future<Output = Result<T, Setback>>,
{
    let mut ways = Ways {
        connecting: Some(Box::pin(connect(addresses.clone()))),
        rest: addresses,
        ends_at,
        connect,
        make_use,
        running: Vec::new(),
        tried: Vec::new(),
        failure: None,
    };
    let mut timer = pin!(sleep_until(ends_at));
    poll_fn(|cx| ways.poll(timer.as_mut(), cx)).await
}

struct Ways<C, U, FC, FU> {
    /// The addresses that were not tried yet.
    rest: Vec<SocketAddr>,
    ends_at: Instant,
    connect: FC,
    make_use: FU,
    connecting: Option<Pin<Box<C>>>,
    running: Vec<(SocketAddr, Pin<Box<U>>)>,
    /// The attempts that were begun, in order; a running one counts as timed out until its result is known.
    tried: Vec<Attempt>,
    /// The first failure.
    failure: Option<Error>,
}

impl<S, T, C, U, FC, FU> Ways<C, U, FC, FU>
where
    FC: Fn(Vec<SocketAddr>) -> C,
    FU: Fn(SocketAddr, S) -> U,
    C: Future<Output = Result<Reached<S>, Error>>,
    U: Future<Output = Result<T, Setback>>,
{
    fn poll(&mut self, mut timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<Result<T, Error>> {
        loop {
            if let Poll::Ready(outcome) = self.poll_running(cx) {
                return Poll::Ready(outcome);
            }
            if self.connecting.is_some() {
                ready!(self.poll_connecting(timer.as_mut(), cx));
            } else if self.rest.is_empty() && self.running.is_empty() {
                return Poll::Ready(Err(self.failed()));
            } else if self.is_next_due(timer.as_mut(), cx) {
                self.connecting = Some(Box::pin((self.connect)(self.rest.clone())));
            } else {
                return Poll::Pending;
            }
        }
    }

    /// Returns true if the next address should be tried now.
    fn is_next_due(&self, timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> bool {
        !self.rest.is_empty() && (self.running.is_empty() || timer.poll(cx).is_ready())
    }

    fn poll_running(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, Error>> {
        let mut place = 0;
        while place < self.running.len() {
            let (address, running) = &mut self.running[place];
            let address = *address;
            match running.as_mut().poll(cx) {
                Poll::Pending => {
                    place += 1;
                    continue;
                }
                Poll::Ready(Ok(used)) => return Poll::Ready(Ok(used)),
                Poll::Ready(Err(Setback::Final(error))) => {
                    return Poll::Ready(Err(self.ended_by(address, error)));
                }
                Poll::Ready(Err(Setback::Elsewhere(error))) => self.note(address, error),
            }
            drop(self.running.remove(place));
        }
        Poll::Pending
    }

    /// Polls the connection attempt.
    fn poll_connecting(&mut self, timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(connecting) = &mut self.connecting else { return Poll::Ready(()) };
        let outcome = ready!(connecting.as_mut().poll(cx));
        self.connecting = None;
        match outcome {
            Ok(Reached { address, stream, failed }) => {
                self.rest.retain(|other| {
                    *other != address && failed.iter().all(|failed| failed.address != *other)
                });
                self.tried.extend(failed);
                self.tried.push(Attempt { address, failure: io::ErrorKind::TimedOut });
                self.running.push((address, Box::pin((self.make_use)(address, stream))));
                timer.reset(self.next_at());
            }
            // No address answers at all; those that are in use may still do so.
            Err(error) => {
                self.rest.clear();
                self.tried.extend_from_slice(error.tried());
                self.failure.get_or_insert(error);
            }
        }
        Poll::Ready(())
    }

    /// Returns the time at which the next address is tried: each has an equal share of the time that is left.
    fn next_at(&self) -> Instant {
        let now = Instant::now();
        let parts = u32::try_from(self.rest.len()).unwrap_or(u32::MAX).saturating_add(1);
        now + (self.ends_at.saturating_duration_since(now) / parts).min(ALONE_MAX)
    }

    fn note(&mut self, address: SocketAddr, error: Error) {
        self.list(address, &error);
        self.failure.get_or_insert(error);
    }

    fn list(&mut self, address: SocketAddr, error: &Error) {
        if let Some(tried) = self.tried.iter_mut().find(|tried| tried.address == address) {
            tried.failure = kind_of(error);
        }
    }

    /// Ends with a failure after which no other address is tried.
    fn ended_by(&mut self, address: SocketAddr, error: Error) -> Error {
        self.list(address, &error);
        self.having_tried(error)
    }

    fn failed(&mut self) -> Error {
        let failure = self.failure.take();
        let failure = failure.unwrap_or_else(|| Error::io(Phase::Connect, io::ErrorKind::NotFound.into()));
        self.having_tried(failure)
    }

    /// Adds the list of attempts to an error, unless there was only one, which the call names already.
    fn having_tried(&mut self, error: Error) -> Error {
        if self.tried.len() < 2 { error } else { error.with_tried(std::mem::take(&mut self.tried)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of an address, and the seconds after which it comes.
    #[derive(Clone, Copy)]
    enum Fate {
        Works(u64),
        BreaksOff(u64),
        IsNotTrusted(u64),
        IsSilent,
        IsRefused,
    }

    use Fate::{BreaksOff, IsNotTrusted, IsRefused, IsSilent, Works};

    fn address(number: usize) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, number as u8], 443))
    }

    fn number(address: SocketAddr) -> usize {
        usize::from(address.to_string().split(['.', ':']).nth(3).unwrap().parse::<u8>().unwrap())
    }

    fn failure(phase: Phase) -> Error {
        Error::io(phase, io::ErrorKind::UnexpectedEof.into())
    }

    async fn make_use(fate: Fate, number: usize) -> Result<usize, Setback> {
        let wait = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        match fate {
            Works(seconds) => wait(seconds).await,
            BreaksOff(seconds) => {
                wait(seconds).await;
                return Err(Setback::of(failure(Phase::Handshake)));
            }
            IsNotTrusted(seconds) => {
                wait(seconds).await;
                return Err(Setback::of(Error::usage("it is not trusted")));
            }
            IsSilent | IsRefused => std::future::pending().await,
        }
        Ok(number)
    }

    /// Returns the number of the address that was used, or those that were tried, and the seconds that it
    /// took.
    async fn course(fates: &[Fate]) -> (Result<usize, Vec<usize>>, u64) {
        let began = Instant::now();
        let ends_at = began + Duration::from_secs(12);
        let addresses = (0..fates.len()).map(address).collect();
        let connect = async |rest: Vec<SocketAddr>| {
            let mut failed = Vec::new();
            for address in rest {
                match fates[number(address)] {
                    IsRefused => failed.push(Attempt { address, failure: io::ErrorKind::ConnectionRefused }),
                    _ => return Ok(Reached { address, stream: (), failed }),
                }
            }
            Err(failure(Phase::Connect).with_tried(failed))
        };
        let using = async |address, ()| {
            let used = make_use(fates[number(address)], number(address));
            let late = Err(Setback::of(Error::new(Phase::Handshake, Cause::Timeout, alula_net::Retry::Safe)));
            tokio::time::timeout_at(ends_at, used).await.unwrap_or(late)
        };
        let outcome = use_first(addresses, ends_at, connect, using).await;
        let tried = |error: Error| error.tried().iter().map(|tried| number(tried.address)).collect();
        (outcome.map_err(tried), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_address_follows_one_that_breaks_off_and_none_that_is_judged() {
        for (fates, outcome, seconds) in [
            (&[Works(1)][..], Ok(0), 1),
            (&[BreaksOff(1), Works(1)], Ok(1), 2),
            (&[IsRefused, BreaksOff(1), IsRefused, Works(1)], Ok(3), 2),
            (&[BreaksOff(1)], Err(vec![]), 1),
            (&[BreaksOff(1), BreaksOff(2)], Err(vec![0, 1]), 3),
            (&[BreaksOff(1), IsRefused], Err(vec![0, 1]), 1),
            (&[IsNotTrusted(1), Works(1)], Err(vec![]), 1),
            (&[BreaksOff(1), IsNotTrusted(1), Works(1)], Err(vec![0, 1]), 2),
        ] {
            assert_eq!(course(fates).await, (outcome, seconds));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_slow_is_waited_for_while_the_next_is_tried() {
        for (fates, outcome, seconds) in [
            // Twelve seconds in three parts; five are the most.
            (&[IsSilent, Works(1), Works(1)][..], Ok(1), 5),
            (&[IsSilent, IsSilent, Works(1)], Ok(2), 9),
            (&[IsSilent, Works(1)], Ok(1), 6),
            // It is no faster at the next one, and the first has its answer when it would have had it alone.
            (&[Works(8), Works(8)], Ok(0), 8),
            (&[IsSilent, IsSilent], Err(vec![0, 1]), 12),
            (&[IsSilent], Err(vec![]), 12),
        ] {
            assert_eq!(course(fates).await, (outcome, seconds));
        }
    }
}
