//! Cases being played, and answers held against what they must be.

use std::{
    io::Write as _,
    net::{Ipv4Addr, Shutdown, TcpStream},
    time::Duration,
};

use super::{
    answer::{Answer, Reader},
    case::{Case, End, Expected, Step},
};

/// A server that says nothing for so long will say nothing.
const PATIENCE: Duration = Duration::from_secs(10);
const PROBE: &[u8] = b"GET /probe HTTP/1.1\r\nHost: a\r\n\r\n";

impl Case {
    /// Plays the case on a connection of its own.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub(crate) fn play(&self, port: u16) -> Result<(), String> {
        let mut socket = connect(port).map_err(|error| error.to_string())?;
        let mut reader = Reader::new(socket.try_clone().map_err(|error| error.to_string())?);
        let mut last = Answer::default();
        for step in &self.steps {
            match step {
                // A server that has closed reads no more: its answer tells.
                Step::Send(bytes) => drop(socket.write_all(bytes)),
                Step::HalfClose => drop(socket.shutdown(Shutdown::Write)),
                Step::Expect(expected) => {
                    last = reader.answer(expected.to_head)?;
                    expected.check(&last).and_then(|()| check_always(&last))?;
                }
            }
        }
        let says_close = last.value("connection").is_some_and(|it| it.eq_ignore_ascii_case("close"));
        match self.end {
            End::Open if says_close => Err("the last answer says that the connection closes".into()),
            End::Open => still_answers(&mut socket, &mut reader),
            End::Closed if !says_close => {
                Err("the last answer does not say that the connection closes".into())
            }
            _ if !reader.is_at_end() => Err("the connection was not closed, or more bytes came".into()),
            _ => Ok(()),
        }
    }
}

fn connect(port: u16) -> std::io::Result<TcpStream> {
    let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

fn still_answers(socket: &mut TcpStream, reader: &mut Reader<TcpStream>) -> Result<(), String> {
    socket.write_all(PROBE).map_err(|error| format!("the next request: {error}"))?;
    let next = reader.answer(false).map_err(|error| format!("the next answer: {error}"))?;
    match (next.status, &*next.content) {
        (200, b"still here") => Ok(()),
        _ => Err(format!("the next answer is another: {next:?}")),
    }
}

/// The rules for every answer.
pub(crate) fn check_always(answer: &Answer) -> Result<(), String> {
    let is_interim = answer.status < 200;
    let rules = [
        (is_interim || answer.value("date").is_some(), "no date (RFC 9110 §6.6.1)"),
        (
            !(is_interim || answer.status == 204) || answer.value("content-length").is_none(),
            "a length in 1xx or 204 (RFC 9110 §8.6)",
        ),
        (
            !(is_interim || answer.status == 204) || answer.value("transfer-encoding").is_none(),
            "a transfer coding in 1xx or 204 (RFC 9112 §6.1)",
        ),
        (answer.status != 405 || answer.value("allow").is_some(), "405 without allow (RFC 9110 §15.5.6)"),
        (answer.status != 401 || answer.value("www-authenticate").is_some(), "401 without a challenge"),
    ];
    match rules.iter().find(|(holds, _)| !holds) {
        Some((_, rule)) => Err(format!("{rule}: {answer:?}")),
        None => Ok(()),
    }
}

impl Expected {
    /// Holds an answer against this.
    ///
    /// # Errors
    /// The first difference.
    pub(crate) fn check(&self, answer: &Answer) -> Result<(), String> {
        let difference = self.difference(answer);
        difference.map_or(Ok(()), |difference| Err(format!("{difference} in {answer:?}")))
    }

    fn difference(&self, answer: &Answer) -> Option<String> {
        if answer.status != self.status {
            return Some(format!("status {} instead of {}", answer.status, self.status));
        }
        let value = |name: &str| answer.value(name);
        let other = self.has.iter().find(|(name, wanted)| value(name).as_deref() != Some(*wanted));
        let without = self.holds.iter().find(|(name, part)| !value(name).is_some_and(|it| it.contains(part)));
        if let Some((name, wanted)) = other.or(without) {
            return Some(format!("{name}: {:?} instead of {wanted:?}", value(name)));
        }
        if let Some(name) = self.lacks.iter().find(|name| value(name).is_some()) {
            return Some(format!("{name}: {:?} instead of none", value(name)));
        }
        let has_trailer = |(name, value): &(&str, &str)| {
            answer.trailers.iter().any(|(own, it)| (&**own, &**it) == (*name, *value))
        };
        if let Some((name, _)) = self.trailer.filter(|trailer| !has_trailer(trailer)) {
            return Some(format!("no trailer {name}"));
        }
        let content = String::from_utf8_lossy(&answer.content);
        let other = self.content.filter(|wanted| content != *wanted);
        let missing = self.within.iter().copied().find(|part| !content.contains(part));
        other.or(missing).map(|wanted| format!("content {content:?} instead of {wanted:?}"))
    }
}
