//! What a server sends over HTTP/1.1, read as far as the attacker has to know: statuses of answers that are
//! whole.
//!
//! This reader is no part of Alula, so that a mistake of Alula's is not made twice.

use std::io::{self, BufRead, Read as _};

/// Reads the next final answer: its status once all of it is here, interim ones before it passed over.
///
/// # Errors
/// The connection has ended, within an answer or between two.
pub(super) fn next(from: &mut impl BufRead) -> io::Result<u16> {
    loop {
        let (status, length) = head(from)?;
        if status >= 200 {
            content(length, from)?;
            return Ok(status);
        }
    }
}

/// How long content is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Length {
    Bytes(u64),
    Chunks,
}

fn head(from: &mut impl BufRead) -> io::Result<(u16, Length)> {
    let first = line(from)?;
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|s| s.parse().ok());
    let status = status.ok_or_else(|| odd(&first))?;
    let mut length = Length::Bytes(0);
    loop {
        let field = line(from)?.to_ascii_lowercase();
        match field.split_once(": ") {
            None if field.is_empty() => return Ok((status, length)),
            None => return Err(odd(&field)),
            Some(("content-length", bytes)) => {
                length = Length::Bytes(bytes.parse().map_err(|_| odd(&field))?);
            }
            Some(("transfer-encoding", "chunked")) => length = Length::Chunks,
            Some(_) => {}
        }
    }
}

fn content(length: Length, from: &mut impl BufRead) -> io::Result<()> {
    match length {
        Length::Bytes(bytes) => skip(bytes, from),
        Length::Chunks => loop {
            let size = line(from)?;
            let size = u64::from_str_radix(&size, 16).map_err(|_| odd(&size))?;
            skip(size, from)?;
            let end = line(from)?;
            if !end.is_empty() {
                return Err(odd(&end));
            }
            if size == 0 {
                return Ok(());
            }
        },
    }
}

fn skip(bytes: u64, from: &mut impl BufRead) -> io::Result<()> {
    match io::copy(&mut from.take(bytes), &mut io::sink())? {
        here if here == bytes => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(whole) => Ok(whole.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(mut text: &[u8]) -> Vec<u16> {
        std::iter::from_fn(|| next(&mut text).ok()).collect()
    }

    #[test]
    fn whole_answers_are_read() {
        let two = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 404 x\r\n\r\n";
        assert_eq!(statuses(two), [200, 404]);
        assert_eq!(
            statuses(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
            [200]
        );
    }

    #[test]
    fn cut_answers_are_none() {
        for cut in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
            b"",
        ] {
            assert_eq!(statuses(cut), [0; 0]);
        }
    }
}
