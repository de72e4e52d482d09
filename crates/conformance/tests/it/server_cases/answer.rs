//! Answers as they come over the socket, read by `httparse`, which shares nothing with what is tested.

use std::io::{self, Read};

/// An answer, read to its end.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) content: Vec<u8>,
    /// Fields behind the content.
    pub(crate) trailers: Vec<(String, String)>,
}

/// The reading side of a connection.
pub(crate) struct Reader<R> {
    socket: R,
    /// Bytes that were read and belong to what follows.
    ahead: Vec<u8>,
}

impl<R: Read> Reader<R> {
    pub(crate) const fn new(socket: R) -> Self {
        Self { socket, ahead: Vec::new() }
    }

    /// Reads one answer.
    ///
    /// # Errors
    /// The connection ends too early, the server is silent for too long, or the answer is malformed.
    pub(crate) fn answer(&mut self, to_head: bool) -> Result<Answer, String> {
        let mut answer = loop {
            if let Some((length, answer)) = head(&self.ahead)? {
                self.ahead.drain(..length);
                break answer;
            }
            self.fill("within a head")?;
        };
        self.read_content(&mut answer, to_head)?;
        Ok(answer)
    }

    /// Returns true if the connection ends without another byte.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.ahead.is_empty() && matches!(self.socket.read(&mut [0]), Ok(0))
    }

    /// Reads the content by the rules of RFC 9112 §6.3.
    fn read_content(&mut self, answer: &mut Answer, to_head: bool) -> Result<(), String> {
        if to_head || matches!(answer.status, 100..200 | 204 | 304) {
            return Ok(());
        }
        answer.content = match (answer.value("content-length"), answer.value("transfer-encoding")) {
            (None, Some(coding)) if coding == "chunked" => self.chunks(&mut answer.trailers)?,
            (Some(length), None) => self.take(length.parse().map_err(|_| "a length that is no number")?)?,
            (None, None) => self.rest()?,
            (length, coding) => {
                return Err(format!("content framed by length {length:?} and coding {coding:?}"));
            }
        };
        Ok(())
    }

    fn chunks(&mut self, trailers: &mut Vec<(String, String)>) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        loop {
            let line = self.line()?;
            let size = usize::from_str_radix(line.split(';').next().unwrap_or_default(), 16);
            match size.map_err(|_| format!("a chunk size of {line:?}"))? {
                0 => break,
                size => content.extend(self.take(size)?),
            }
            if !self.line()?.is_empty() {
                return Err("a chunk longer than its size".into());
            }
        }
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            trailers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(content)
    }

    fn line(&mut self) -> Result<String, String> {
        let end = loop {
            match self.ahead.windows(2).position(|pair| pair == b"\r\n") {
                Some(end) => break end,
                None => self.fill("within a line")?,
            }
        };
        let line = self.take(end + 2)?;
        Ok(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    fn take(&mut self, bytes: usize) -> Result<Vec<u8>, String> {
        while self.ahead.len() < bytes {
            self.fill("within content")?;
        }
        Ok(self.ahead.drain(..bytes).collect())
    }

    fn rest(&mut self) -> Result<Vec<u8>, String> {
        let mut content = std::mem::take(&mut self.ahead);
        self.socket.read_to_end(&mut content).map_err(|error| format!("within content: {error}"))?;
        Ok(content)
    }

    fn fill(&mut self, place: &str) -> Result<(), String> {
        let mut buffer = [0; 16 * 1024];
        let read = match self.socket.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read,
        };
        let bytes = read.map_err(|error| format!("{place}: {error}"))?;
        self.ahead.extend_from_slice(&buffer[..bytes]);
        Ok(())
    }
}

/// Reads a head, if it is whole, and how long it is.
fn head(bytes: &[u8]) -> Result<Option<(usize, Answer)>, String> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = response.parse(bytes).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    if response.version != Some(1) {
        return Err("an answer of another version than HTTP/1.1 (RFC 9112 §2.3)".into());
    }
    let field = |it: &httparse::Header<'_>| {
        (it.name.to_ascii_lowercase(), String::from_utf8_lossy(it.value).into_owned())
    };
    let status = response.code.unwrap_or_default();
    let fields = response.headers.iter().map(field).collect();
    Ok(Some((length, Answer { status, fields, ..Answer::default() })))
}

impl Answer {
    /// The value of a field; several are joined by commas (RFC 9110 §5.2).
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        let values: Vec<_> = self.fields.iter().filter(|(own, _)| own == name).map(|(_, it)| &**it).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}
