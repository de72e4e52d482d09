//! A connection of HTTP/1.1, with nothing of ours on this side of it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::wire::answer::Answer;

/// A server that says nothing for so long will say nothing.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// A connection, opened when it is needed.
#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    socket: Option<TcpStream>,
    /// Bytes that were read and belong to what follows.
    ahead: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, socket: None, ahead: Vec::new() }
    }

    /// Sends bytes. A server that has closed its side reads no more; its answer tells.
    ///
    /// # Errors
    /// No connection can be opened.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(open(self.address).map_err(|error| error.to_string())?),
        };
        let _ = socket.write_all(bytes);
        Ok(())
    }

    /// Reads one answer, which may be an interim one.
    ///
    /// # Errors
    /// The connection ends too early, the server is silent for too long, or the answer is malformed.
    pub(crate) fn answer(&mut self, is_to_head: bool) -> Result<Answer, String> {
        let head = self.until(b"\r\n\r\n")?;
        let mut answer = head_of(&String::from_utf8_lossy(&head))?;
        self.read_content(&mut answer, is_to_head)?;
        if answer.value("connection").is_some_and(|it| it.eq_ignore_ascii_case("close")) {
            self.socket = None;
            self.ahead.clear();
        }
        Ok(answer)
    }

    /// Reads the content by the rules of RFC 9112 §6.3.
    fn read_content(&mut self, answer: &mut Answer, is_to_head: bool) -> Result<(), String> {
        if is_to_head || matches!(answer.status, 100..200 | 204 | 304) {
            return Ok(());
        }
        answer.content = match (answer.value("content-length"), answer.value("transfer-encoding")) {
            (None, Some(coding)) if coding == "chunked" => self.chunks()?,
            (Some(length), None) => self.take(length.parse().map_err(|_| "a length that is no number")?)?,
            (length, coding) => return Err(format!("content framed by {length:?} and {coding:?}")),
        };
        Ok(())
    }

    fn chunks(&mut self) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        loop {
            let line = self.until(b"\r\n")?;
            let line = String::from_utf8_lossy(&line);
            let size =
                usize::from_str_radix(line.trim(), 16).map_err(|_| format!("a chunk size of {line:?}"))?;
            content.extend(self.take(size)?);
            if self.until(b"\r\n")? != b"\r\n" {
                return Err("a chunk longer than its size".into());
            }
            if size == 0 {
                return Ok(content);
            }
        }
    }

    fn until(&mut self, end: &[u8]) -> Result<Vec<u8>, String> {
        loop {
            match self.ahead.windows(end.len()).position(|window| window == end) {
                Some(at) => return self.take(at + end.len()),
                None => self.fill()?,
            }
        }
    }

    fn take(&mut self, bytes: usize) -> Result<Vec<u8>, String> {
        while self.ahead.len() < bytes {
            self.fill()?;
        }
        Ok(self.ahead.drain(..bytes).collect())
    }

    fn fill(&mut self) -> Result<(), String> {
        let mut buffer = [0; 16 * 1024];
        let socket = self.socket.as_mut().ok_or("there is no connection")?;
        match socket.read(&mut buffer).map_err(|error| format!("no answer: {error}"))? {
            0 => Err(format!("the connection ended after {:?}", String::from_utf8_lossy(&self.ahead))),
            bytes => {
                self.ahead.extend_from_slice(&buffer[..bytes]);
                Ok(())
            }
        }
    }
}

/// The bytes of a request.
pub(crate) fn request(
    (method, path): (&str, &[u8]),
    host: &str,
    fields: &[(String, Vec<u8>)],
    content: Option<&[u8]>,
) -> Vec<u8> {
    let mut bytes = format!("{method} ").into_bytes();
    bytes.extend(path);
    bytes.extend(format!(" HTTP/1.1\r\nHost: {host}\r\n").bytes());
    for (name, value) in fields {
        bytes.extend(format!("{name}: ").bytes());
        bytes.extend(value);
        bytes.extend(b"\r\n");
    }
    if content.is_some() || matches!(method, "PUT" | "POST") {
        bytes.extend(format!("Content-Length: {}\r\n", content.map_or(0, <[u8]>::len)).bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(content.unwrap_or_default());
    bytes
}

fn open(address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(SILENCE_MAX))?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

fn head_of(head: &str) -> Result<Answer, String> {
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap_or_default();
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| format!("{line:?} is no status line"))?;
    let field = |line: &str| {
        let (name, value) = line.split_once(':').ok_or_else(|| format!("{line:?} is no field"))?;
        Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let fields = lines.map(field).collect::<Result<_, String>>()?;
    Ok(Answer { status, fields, content: Vec::new() })
}
