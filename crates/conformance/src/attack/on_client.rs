//! Attacks by a server on a client that asked it for something.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::alula::{Client, Error, Ledger, Limits};
use alula_tally::{Side, set_side};

use super::answer::Answer;
use super::attacker::Attacker;
use super::one_at_a_time;
use super::page::Row;
use super::report::{Bystood, Report};
use super::victim::Victim;
use super::watch::Watch;

/// The time that a request may take; an attack that lasts as long has succeeded.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the requests to the other server are apart.
const PAUSE: Duration = Duration::from_millis(1);

/// One row of the table of attacks on a client.
pub struct AttackOnClient {
    /// Its name, the same as in `docs/limits.md`.
    pub row: &'static str,
    /// Takes the limit away that answers the attack; `None` where it is a rule of the protocol that does.
    pub lift: Option<fn(&mut Limits)>,
    /// What the server sends once it has read a request on stream 1.
    pub play: fn(&mut Attacker),
    /// What the server gets.
    pub answer: Answer,
    /// What the caller is told, among other things; nothing when the request succeeds.
    pub error: Option<&'static str>,
    /// The bytes the client may hold for it, at any time.
    pub memory_max: i64,
}

impl AttackOnClient {
    /// Plays the attack both ways, prints its line of the table and says what is wrong.
    ///
    /// # Panics
    /// When server or caller are not told what they must be, the client holds too much, or other requests
    /// wait.
    pub fn check(&self) {
        let _turn = one_at_a_time();
        let row = Row::checked(self.row, self.answer, self.lift.is_some());
        let mut limits = Limits::client();
        let (report, outcome, ledger) = self.play(limits.clone());
        report.check(self.row, self.answer, self.memory_max);
        row.check_counted(&ledger);
        match (self.error, outcome) {
            (None, Ok(())) => {}
            (Some(part), Err(error)) if format!("{error}; {}", error.retry()).contains(part) => {}
            (expected, outcome) => panic!("{}: {outcome:?} instead of {expected:?}", self.row),
        }
        if let Some(lift) = self.lift {
            lift(&mut limits);
            self.play(limits).0.check_lifted(self.row, self.answer);
        }
    }

    fn play(&self, limits: Limits) -> (Report, Result<(), Error>, Arc<Ledger>) {
        let well = Victim::start(Limits::default());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port can be had");
        let hostile = listener.local_addr().expect("a listener has an address").port();
        let watch = Watch::on(Side::CLIENT);
        let is_over = Arc::new(AtomicBool::new(false));
        let asking = thread::spawn({
            let (well, is_over) = (well.port(), is_over.clone());
            move || ask(limits, true, hostile, well, &is_over)
        });
        let mut attacker = Attacker::accept(listener);
        (self.play)(&mut attacker);
        let answer = attacker.answer();
        let memory_peak = watch.peak();
        is_over.store(true, Ordering::Release);
        drop(attacker);
        let (outcome, bystander, ledger) = asking.join().expect("it only asks and counts");
        (Report { answer, memory_peak, bystander }, outcome, ledger)
    }
}

/// Over HTTP/2, or HTTP/1.1: one request to the hostile server, others to the one that is well, by one client
/// on one thread, which lives until the attack is over: a client that goes away closes its connections.
pub(super) fn ask(
    limits: Limits,
    is_http2: bool,
    hostile: u16,
    well: u16,
    is_over: &AtomicBool,
) -> (Result<(), Error>, Bystood, Arc<Ledger>) {
    set_side(Side::CLIENT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(async {
        let client = Client::builder().http2_prior_knowledge(is_http2).limits(limits).timeout(PATIENCE);
        let client = client.build().expect("a client");
        let attacked = whole(&client, hostile);
        tokio::pin!(attacked);
        let (mut times, mut failed, mut outcome) = (Vec::new(), 0, None);
        while outcome.is_none() || !is_over.load(Ordering::Acquire) {
            tokio::select! {
                ended = &mut attacked, if outcome.is_none() => outcome = Some(ended),
                () = tokio::time::sleep(PAUSE) => {}
            }
            let start = Instant::now();
            match whole(&client, well).await {
                Ok(()) => times.push(start.elapsed()),
                Err(_) => failed += 1,
            }
        }
        (outcome.expect("it ended the loop"), Bystood::of(times, failed), client.ledger())
    })
}

async fn whole(client: &Client, port: u16) -> Result<(), Error> {
    let url = format!("http://127.0.0.1:{port}/small");
    let mut response = client.get(&url).send().await?;
    while response.body().chunk().await?.is_some() {}
    Ok(())
}
