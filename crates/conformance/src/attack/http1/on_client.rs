//! Attacks by a server of HTTP/1.1 on a client that asked it for something.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ::alula::{Error, Ledger, Limits};
use alula_tally::Side;

use crate::attack::answer::Answer;
use crate::attack::on_client::ask;
use crate::attack::one_at_a_time;
use crate::attack::page::Row;
use crate::attack::report::Report;
use crate::attack::victim::Victim;
use crate::attack::watch::Watch;

/// How long nothing may come, for the connection to be taken for one that goes on.
const PATIENCE: Duration = Duration::from_secs(1);

/// One row of the table of attacks on a client of HTTP/1.1.
pub struct AttackOnClientOverHttp1 {
    /// Its name, the same as in `docs/limits.md`.
    pub row: &'static str,
    /// Takes the limit away that answers the attack, which must succeed then; `None` where it is a rule of
    /// the protocol.
    pub lift: Option<fn(&mut Limits)>,
    /// What the server sends once it has read a request.
    pub bytes: Vec<u8>,
    /// True if the server closes its side after that.
    pub closes: bool,
    /// What the caller is told, among other things; nothing when the request succeeds.
    pub error: Option<&'static str>,
    /// The bytes the client may hold for it, at any time.
    pub memory_max: i64,
}

impl AttackOnClientOverHttp1 {
    /// Plays the attack both ways, prints its line of the table and says what is wrong: the client must close
    /// the connection.
    ///
    /// # Panics
    /// When server or caller are not told what they must be, the client holds too much, or other requests
    /// wait.
    pub fn check(&self) {
        let _turn = one_at_a_time();
        let row = Row::checked(self.row, Answer::Closed, self.lift.is_some());
        let mut limits = Limits::client();
        let (report, outcome, ledger) = self.play(limits.clone());
        report.check(self.row, Answer::Closed, self.memory_max);
        row.check_counted(&ledger);
        match (self.error, outcome) {
            (None, Ok(())) => {}
            (Some(part), Err(error)) if format!("{error}; {}", error.retry()).contains(part) => {}
            (expected, outcome) => panic!("{}: {outcome:?} instead of {expected:?}", self.row),
        }
        if let Some(lift) = self.lift {
            lift(&mut limits);
            let (report, outcome, _) = self.play(limits);
            assert!(outcome.is_ok(), "{}: without its limit {outcome:?}", self.row);
            assert_eq!(report.answer, Answer::Served, "{}: without its limit", self.row);
        }
    }

    fn play(&self, limits: Limits) -> (Report, Result<(), Error>, Arc<Ledger>) {
        let well = Victim::start(Limits::default());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port can be had");
        let hostile = listener.local_addr().expect("a listener has an address").port();
        let watch = Watch::on(Side::CLIENT);
        let is_over = Arc::new(AtomicBool::new(false));
        let asking = thread::spawn({
            let (well, is_over) = (well.port(), Arc::clone(&is_over));
            move || ask(limits, false, hostile, well, &is_over)
        });
        let (socket, _) = listener.accept().expect("a client comes");
        let has_ended = self.answer(socket).expect("a client asks");
        let memory_peak = watch.peak();
        is_over.store(true, Ordering::Release);
        drop(listener);
        let (outcome, bystander, ledger) = asking.join().expect("it only asks and counts");
        let answer = if has_ended { Answer::Closed } else { Answer::Served };
        (Report { answer, memory_peak, bystander }, outcome, ledger)
    }

    /// Reads the request and answers it; says whether the client has closed the connection then.
    fn answer(&self, mut socket: TcpStream) -> io::Result<bool> {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte)?;
            request.push(byte[0]);
        }
        // The client may be gone at any point of it.
        let _ = socket.write_all(&self.bytes);
        if self.closes {
            let _ = socket.shutdown(Shutdown::Write);
        }
        Ok(match socket.read(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
        })
    }
}
