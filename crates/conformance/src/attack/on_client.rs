//! Attacks by a server on a client that asked it for something.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::alula::{Client, Error, Ledger, Limits};
use alula_tally::{Side, set_side};

use super::Attacks as _;
use super::answer::Answer;
use super::attacker::Attacker;
use super::one_at_a_time;
use super::page::Row;
use super::report::{Bystood, Report};
use super::victim::Victim;
use super::watch::Watch;

/// The time that a request may take; an attack that lasts as long has succeeded.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long nothing may come over HTTP/1.1, for the connection to be taken for one that goes on.
const HTTP1_PATIENCE: Duration = Duration::from_secs(1);

/// How long the requests to the other server are apart.
const PAUSE: Duration = Duration::from_millis(1);

/// One row of the table of attacks on a client.
pub struct AttackOnClient {
    /// Its name, the same as in `docs/limits.md`.
    pub row: &'static str,
    /// Takes the limit away that answers the attack; `None` where it is a rule of the protocol that does.
    pub lift: Option<fn(&mut Limits)>,
    /// The server's part once it has read a request.
    pub play: Play,
    /// What the server gets.
    pub answer: Answer,
    /// What the caller is told, among other things; nothing when the request succeeds.
    pub error: Option<&'static str>,
    /// The bytes the client may hold for it, at any time.
    pub memory_max: i64,
}

/// A hostile server.
pub enum Play {
    /// Over HTTP/2, where the request is on stream 1.
    Http2(fn(&mut Attacker)),
    /// Over HTTP/1.1: bytes, and true if the server closes its side after that. Without its limit such an
    /// attack succeeds.
    Http1(Vec<u8>, bool),
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
            let (report, outcome, _) = self.play(limits);
            let through = matches!(self.play, Play::Http1(..)).then_some(Answer::Served);
            assert!(through.is_none() || outcome.is_ok(), "{}: without its limit {outcome:?}", self.row);
            report.check_lifted(self.row, self.answer, through);
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
            let is_http2 = matches!(self.play, Play::Http2(_));
            move || ask(limits, is_http2, hostile, well, &is_over)
        });
        let (answer, memory_peak) = match &self.play {
            Play::Http2(play) => {
                let mut attacker = Attacker::accept(listener);
                play(&mut attacker);
                (attacker.answer(), watch.peak())
            }
            Play::Http1(bytes, closes) => {
                let (socket, _) = listener.accept().expect("a client comes");
                let has_ended = answer_http1(socket, bytes, *closes).expect("a client asks");
                (if has_ended { Answer::Closed } else { Answer::Served }, watch.peak())
            }
        };
        is_over.store(true, Ordering::Release);
        let (outcome, bystander, ledger) = asking.join().expect("it only asks and counts");
        (Report { answer, memory_peak, bystander }, outcome, ledger)
    }
}

/// Reads a request and answers it with these bytes; returns true if the client has closed the connection
/// then.
fn answer_http1(mut socket: TcpStream, bytes: &[u8], closes: bool) -> io::Result<bool> {
    socket.set_read_timeout(Some(HTTP1_PATIENCE))?;
    socket.set_write_timeout(Some(HTTP1_PATIENCE))?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    // The client may be gone at any point of it.
    let _ = socket.write_all(bytes);
    if closes {
        let _ = socket.shutdown(Shutdown::Write);
    }
    Ok(match socket.read(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    })
}

/// Over HTTP/2, or HTTP/1.1: one request to the hostile server, others to the one that is well, by one client
/// on one thread, which lives until the attack is over: a client that goes away closes its connections.
fn ask(
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
