//! The addresses of a host, tried in parallel with a delay (RFC 8305, "Happy Eyeballs").

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use alula_net::{Attempt, Cause, Error, Phase, Retry};
use tokio::time::{Instant, Sleep, sleep_until};

/// The delay before the next address is tried (RFC 8305 §5).
pub(crate) const DELAY: Duration = Duration::from_millis(250);

/// The least delay between two attempts (RFC 8305 §5).
pub(crate) const DELAY_MIN: Duration = Duration::from_millis(10);

/// Connects to the first of these addresses that answers; the other attempts are then dropped. They are in
/// order of preference, and every other one is of the other family, as far as there are such.
///
/// # Errors
/// All failed, or it is too late: with every address tried and why.
pub(crate) async fn connect_first<S, D>(
    addresses: Vec<SocketAddr>,
    delay: Duration,
    ends_at: Instant,
    dial: impl Fn(SocketAddr) -> D,
) -> Result<S, Error>
where
    D: Future<Output = io::Result<S>> + Send,
{
    let mut timer = pin!(sleep_until(ends_at));
    let mut late = pin!(sleep_until(ends_at));
    let mut attempts = Attempts::new(interleaved(addresses), delay, dial);
    poll_fn(|cx| {
        if let Poll::Ready(result) = attempts.poll(timer.as_mut(), cx) {
            return Poll::Ready(result);
        }
        late.as_mut().poll(cx).map(|()| Err(attempts.late()))
    })
    .await
}

/// Orders addresses by alternating between the families, starting with the first one's (RFC 8305 §4).
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (mut one, mut other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == is_v6);
    let both = one.len().min(other.len());
    let rest = [one.split_off(both), other.split_off(both)].concat();
    one.into_iter().zip(other).flat_map(<[_; 2]>::from).chain(rest).collect()
}

struct Attempts<F, D> {
    waiting: std::vec::IntoIter<SocketAddr>,
    delay: Duration,
    dial: F,
    /// The running attempts, each with its index in `tried`.
    running: Vec<(usize, Pin<Box<D>>)>,
    /// The attempts that were begun; a running one counts as timed out until its result is known.
    tried: Vec<Attempt>,
    /// The failure of the first attempt.
    failure: Option<io::Error>,
}

impl<S, F, D> Attempts<F, D>
where
    F: Fn(SocketAddr) -> D,
    D: Future<Output = io::Result<S>>,
{
    fn new(addresses: Vec<SocketAddr>, delay: Duration, dial: F) -> Self {
        let waiting = addresses.into_iter();
        Self { waiting, delay, dial, running: Vec::new(), tried: Vec::new(), failure: None }
    }

    /// Starts attempts and polls the timer for the next one.
    fn poll(&mut self, mut timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<Result<S, Error>> {
        loop {
            match self.poll_running(cx) {
                Poll::Ready(Ok(socket)) => return Poll::Ready(Ok(socket)),
                // One that failed holds up nobody, and those after it were not asked yet.
                Poll::Ready(Err(())) => {}
                Poll::Pending if !self.is_next_due(timer.as_mut(), cx) => return Poll::Pending,
                Poll::Pending => {}
            }
            if self.begin_next() {
                if self.is_one_left() {
                    timer.as_mut().reset(Instant::now() + self.delay);
                }
            } else if self.running.is_empty() {
                return Poll::Ready(Err(self.failed()));
            }
        }
    }

    /// Returns true if the next address should be tried now. The first one waits for nothing: a timer, even
    /// one set to now, would hold it up for a millisecond. Where no address is left there is no timer.
    fn is_next_due(&self, timer: Pin<&mut Sleep>, cx: &mut Context<'_>) -> bool {
        self.running.is_empty() || self.is_one_left() && timer.poll(cx).is_ready()
    }

    fn is_one_left(&self) -> bool {
        !self.waiting.as_slice().is_empty()
    }

    /// Returns the failure of a running attempt, if one fails.
    fn poll_running(&mut self, cx: &mut Context<'_>) -> Poll<Result<S, ()>> {
        for place in 0..self.running.len() {
            let (at, attempt) = &mut self.running[place];
            let Poll::Ready(result) = attempt.as_mut().poll(cx) else { continue };
            let at = *at;
            drop(self.running.remove(place));
            return Poll::Ready(result.map_err(|error| self.note(at, error)));
        }
        Poll::Pending
    }

    fn note(&mut self, at: usize, error: io::Error) {
        self.tried[at].failure = error.kind();
        // The failure of the preferred address explains most; a later one stands in until that is known.
        if at == 0 || self.failure.is_none() {
            self.failure = Some(error);
        }
    }

    fn begin_next(&mut self) -> bool {
        let Some(address) = self.waiting.next() else { return false };
        self.running.push((self.tried.len(), Box::pin((self.dial)(address))));
        self.tried.push(Attempt { address, failure: io::ErrorKind::TimedOut });
        true
    }

    fn failed(&mut self) -> Error {
        // A resolver may return no address at all without calling that an error.
        let failure = self.failure.take().unwrap_or_else(|| io::ErrorKind::NotFound.into());
        self.having_tried(Error::io(Phase::Connect, failure))
    }

    fn late(&mut self) -> Error {
        self.having_tried(Error::new(Phase::Connect, Cause::Timeout, Retry::Safe))
    }

    fn having_tried(&mut self, error: Error) -> Error {
        error.with_tried(std::mem::take(&mut self.tried))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, task::Waker};

    use super::*;

    const V6: [&str; 3] = ["[2001:db8::1]:80", "[2001:db8::2]:80", "[2001:db8::3]:80"];
    const V4: [&str; 2] = ["192.0.2.1:80", "192.0.2.2:80"];

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_beginning_with_the_preferred_one() {
        let all = |texts: &[&[&str]]| interleaved(addresses(&texts.concat()));
        assert_eq!(all(&[&V6, &V4]), addresses(&[V6[0], V4[0], V6[1], V4[1], V6[2]]));
        assert_eq!(all(&[&V4, &V6]), addresses(&[V4[0], V6[0], V4[1], V6[1], V6[2]]));
        assert_eq!(all(&[&V4]), addresses(&V4));
        assert_eq!(all(&[]), []);
    }

    /// The outcome of an attempt, and the milliseconds after which it comes.
    #[derive(Clone, Copy)]
    enum Fate {
        Connects(u64),
        IsRefused(u64),
        IsNotHeard,
    }

    #[derive(Debug, Eq, PartialEq)]
    struct Course {
        result: Result<SocketAddr, Vec<Attempt>>,
        /// The times at which the attempts were begun, in milliseconds.
        begun: Vec<u64>,
        took: u64,
    }

    /// Counts attempts that are neither over nor dropped.
    struct Running<'a>(&'a Mutex<usize>);

    impl Drop for Running<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() -= 1;
        }
    }

    async fn course(fates: &[(&str, Fate)]) -> Course {
        let began = Instant::now();
        let (begun, running) = (Mutex::new(Vec::new()), Mutex::new(0));
        let dial = |address: SocketAddr| {
            let fate = fates.iter().find(|(text, _)| text.parse() == Ok(address)).unwrap().1;
            begun.lock().unwrap().push(began.elapsed().as_millis() as u64);
            *running.lock().unwrap() += 1;
            let running = Running(&running);
            async move {
                let _running = running;
                let wait = |after| tokio::time::sleep(Duration::from_millis(after));
                match fate {
                    Fate::Connects(after) => wait(after).await,
                    Fate::IsRefused(after) => {
                        wait(after).await;
                        return Err(io::ErrorKind::ConnectionRefused.into());
                    }
                    Fate::IsNotHeard => std::future::pending().await,
                }
                Ok(address)
            }
        };
        let texts: Vec<_> = fates.iter().map(|(text, _)| *text).collect();
        let ends_at = began + Duration::from_secs(10);
        let result = connect_first(addresses(&texts), DELAY, ends_at, dial).await;
        let result = result.map_err(|error| error.tried().to_vec());
        assert_eq!(*running.lock().unwrap(), 0, "the others are dropped");
        Course { result, begun: begun.into_inner().unwrap(), took: began.elapsed().as_millis() as u64 }
    }

    /// A timer that is set to now fires with the runtime's next millisecond: no attempt may wait for one.
    #[tokio::test(start_paused = true)]
    async fn the_first_address_is_tried_before_any_time_passes() {
        tokio::time::advance(Duration::from_micros(500)).await;
        let ends_at = Instant::now() + DELAY;
        for texts in [&V4[..1], &V4, &V6] {
            let dial = |address| async move { Ok(address) };
            let connected = pin!(connect_first(addresses(texts), DELAY, ends_at, dial));
            let polled = connected.poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(polled.map(Result::ok), Poll::Ready(texts[0].parse().ok()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_answers_in_time_is_the_only_one_tried() {
        let course = course(&[(V6[0], Fate::Connects(200)), (V4[0], Fate::Connects(1))]).await;
        assert_eq!((course.begun, course.took), (vec![0], 200));
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_address_does_not_wait_for_one_that_is_silent() {
        let course = course(&[
            (V6[0], Fate::IsNotHeard),
            (V6[1], Fate::IsNotHeard),
            (V4[0], Fate::IsNotHeard),
            (V4[1], Fate::Connects(20)),
        ]);
        let course = course.await;
        assert_eq!(course.result, Ok(V4[1].parse().unwrap()));
        assert_eq!((course.begun, course.took), (vec![0, 250, 500, 750], 770));
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_to_connect_wins_though_it_was_not_the_first_to_try() {
        let course = course(&[(V6[0], Fate::Connects(400)), (V4[0], Fate::Connects(100))]).await;
        assert_eq!((course.result, course.took), (Ok(V4[0].parse().unwrap()), 350));
        assert_eq!(course.begun, [0, 250]);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_failure_the_next_is_tried_at_once_and_all_failures_are_told() {
        let course = course(&[(V6[0], Fate::IsRefused(10)), (V4[0], Fate::IsRefused(30))]).await;
        let attempt = |text: &str| Attempt {
            address: text.parse().unwrap(),
            failure: io::ErrorKind::ConnectionRefused,
        };
        assert_eq!(course.result, Err(vec![attempt(V6[0]), attempt(V4[0])]));
        assert_eq!((course.begun, course.took), (vec![0, 10], 40));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_not_heard_by_the_deadline_has_timed_out() {
        let course = course(&[(V6[0], Fate::IsNotHeard), (V4[0], Fate::IsRefused(30))]).await;
        let failures: Vec<_> = course.result.unwrap_err().iter().map(|attempt| attempt.failure).collect();
        assert_eq!(failures, [io::ErrorKind::TimedOut, io::ErrorKind::ConnectionRefused]);
        assert_eq!(course.took, 10_000);
    }
}
