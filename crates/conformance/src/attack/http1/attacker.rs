//! A client that writes bytes to a server of HTTP/1.1 and reads, or does not read, what it gets.

use std::io::{BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use super::answers;
use crate::attack::Attacks;
use crate::attack::answer::Answer;
use crate::attack::received::{PATIENCE, PATIENCE_LOST, Patient, Received, State};

/// The time that the server may take nothing before one stops sending.
const WRITE_PATIENCE: Duration = Duration::from_millis(500);

/// The last request of an attack, and its status, which no other request of an attack has.
const STILL_THERE: &[u8] = b"GET /there HTTP/1.1\r\nHost: a\r\n\r\n";
const STILL_THERE_STATUS: u16 = 202;
/// What a request is answered that is hidden in another.
const SMUGGLED_STATUS: u16 = 204;

/// A hostile client with one connection.
pub struct Http1Attacker {
    port: u16,
    socket: TcpStream,
    got: Arc<Received<Statuses>>,
    gone: bool,
    others: Vec<Self>,
    patience: Duration,
}

impl Http1Attacker {
    /// A request to be hidden in another: nobody may answer it.
    pub const SMUGGLED: &str = "GET /read HTTP/1.1\r\nHost: a\r\n\r\n";

    /// So many more connections to the same server, gone through as the attack itself.
    ///
    /// # Panics
    /// When the server does not accept.
    pub fn with_others(&mut self, count: usize, mut play: impl FnMut(&mut Self)) {
        for _ in 0..count {
            let mut other = Self::connect(self.port);
            play(&mut other);
            self.others.push(other);
        }
    }

    /// Sends bytes; false once the connection is gone or the server takes no more.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.gone = self.gone || self.socket.write_all(bytes.as_ref()).is_err();
        !self.gone
    }

    /// Sends the same, so often or until the connection is gone.
    pub fn flood(&mut self, times: usize, bytes: impl AsRef<[u8]>) {
        for _ in 0..times {
            if !self.send(bytes.as_ref()) || self.got.state().has_ended {
                return;
            }
        }
    }

    /// Sends the same once in so long, until the connection has ended or long enough; returns how often.
    pub fn dribble(&mut self, every: Duration, bytes: impl AsRef<[u8]>) -> usize {
        let times = (self.patience.as_nanos() / every.as_nanos()) as usize;
        let is_over = |it: &mut Self| {
            !it.send(bytes.as_ref()) || it.got.wait_for(every, |state| state.has_ended).has_ended
        };
        (0..times).find(|_| is_over(self)).map_or(times, |before| before + 1)
    }

    /// Waits until something was answered, or the connection has ended, or long enough.
    pub fn wait_for_answer(&self) {
        drop(self.got.wait_for(self.patience, |state| state.has_ended || !state.0.is_empty()));
    }

    /// Waits until the connection has ended, or long enough.
    pub fn wait_for_the_end(&self) {
        drop(self.got.wait_for(self.patience, |state| state.has_ended));
    }

    /// Stops reading, so that what the server sends stays with it.
    pub fn stop_reading(&mut self) {
        self.got.stop(true);
    }
}

impl Attacks for Http1Attacker {
    const THROUGH: Option<Answer> = Some(Answer::Served);

    /// Connects and says nothing.
    fn connect(port: u16) -> Self {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server accepts");
        socket.set_nodelay(true).expect("a socket takes its options");
        socket.set_write_timeout(Some(WRITE_PATIENCE)).expect("a socket takes its options");
        let got = Received::by(&socket, read);
        Self { port, socket, got, gone: false, others: Vec::new(), patience: PATIENCE }
    }

    fn lose_patience(&mut self) {
        self.patience = PATIENCE_LOST;
    }

    /// Panics when a request was answered that was none, or another's content.
    fn answer(&mut self) -> Answer {
        self.got.stop(false);
        self.send(STILL_THERE);
        let is_over = |state: &State<Statuses>| state.has_ended || state.0.contains(&STILL_THERE_STATUS);
        let state = self.got.wait_for(self.patience, is_over);
        let (statuses, has_ended) = (state.0.clone(), state.has_ended);
        drop(state);
        let is_smuggled = statuses.iter().skip(1).any(|status| *status == SMUGGLED_STATUS);
        assert!(!is_smuggled, "the smuggled request was answered: {statuses:?}");
        match statuses[..] {
            [status] if has_ended => Answer::Last(status),
            _ if has_ended => Answer::Closed,
            [first, .., STILL_THERE_STATUS] if !matches!(first, 200 | SMUGGLED_STATUS) => {
                Answer::Status(first)
            }
            [.., STILL_THERE_STATUS] => Answer::Served,
            _ => Answer::Silence,
        }
    }
}

impl Drop for Http1Attacker {
    fn drop(&mut self) {
        self.got.stop(false);
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Statuses of the answers that are whole, in their order.
#[derive(Default)]
struct Statuses(Vec<u16>);

fn read(got: &Received<Statuses>, socket: Patient<'_, Statuses>) {
    let mut from = BufReader::new(socket);
    while let Ok(status) = answers::next(&mut from) {
        got.change(|state| state.0.push(status));
    }
}
