//! A client of HTTP/1 that sends what it is told to, right or wrong.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::answer::Answer;
use super::table::{Content, Request, Version};

pub(crate) fn ask(server: SocketAddr, request: &Request, version: Version) -> Answer {
    let mut socket = TcpStream::connect(server).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.set_nodelay(true).unwrap();
    let (head, content) = (head(request, version), content(request));
    let mut reader = Reader { name: &request.name, socket: socket.try_clone().unwrap(), input: Vec::new() };
    let mut answer = Answer::default();
    if request.awaits_continue() {
        let _ = socket.write_all(&head);
        // Who is answered with success sends its content all the same.
        if matches!(reader.head(&mut answer), Some(100 | 200)) {
            let _ = socket.write_all(&content);
        }
    } else {
        // A server that refuses the head may not read the rest.
        let _ = socket.write_all(&[head, content].concat());
    }
    while answer.status().is_none() {
        if reader.head(&mut answer).is_none() {
            return answer.ends("closed");
        }
    }
    reader.content(answer, request)
}

fn head(request: &Request, version: Version) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/{}\r\n", request.method, request.target, version.name());
    let hosts = request.values("host").into_iter().map(|value| ("host", value));
    for (name, value) in hosts.chain(request.others()) {
        head += &format!("{name}: {value}\r\n");
    }
    match &request.content {
        Content::None => {}
        Content::Stated(text) => head += &format!("content-length: {}\r\n", text.len()),
        Content::Pieces(..) => head += "transfer-encoding: chunked\r\n",
    }
    (head + "\r\n").into_bytes()
}

fn content(request: &Request) -> Vec<u8> {
    match &request.content {
        Content::None => Vec::new(),
        Content::Stated(text) => text.clone().into_bytes(),
        Content::Pieces(pieces, trailers) => {
            let mut content: String =
                pieces.iter().map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).collect();
            content += "0\r\n";
            trailers.iter().for_each(|(name, value)| content += &format!("{name}: {value}\r\n"));
            (content + "\r\n").into_bytes()
        }
    }
}

struct Reader<'r> {
    name: &'r str,
    socket: TcpStream,
    input: Vec<u8>,
}

impl Reader<'_> {
    /// Reads once; false at the end.
    fn more(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.socket.read(&mut buffer) {
            Ok(bytes) => {
                self.input.extend_from_slice(&buffer[..bytes]);
                bytes > 0
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{}: {error}", self.name),
        }
    }

    /// Takes what comes before `end`, and drops that.
    fn until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            if let Some(at) = self.input.windows(end.len()).position(|bytes| bytes == end) {
                let taken = self.input.drain(..at + end.len()).collect::<Vec<_>>();
                return Some(taken[..at].escape_ascii().to_string());
            }
            if !self.more() {
                return None;
            }
        }
    }

    fn lines(&mut self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            match self.until(b"\r\n")? {
                last if last.is_empty() => return Some(lines),
                line => lines.push(line),
            }
        }
    }

    /// Reads a head, and returns its status.
    fn head(&mut self, answer: &mut Answer) -> Option<u16> {
        let lines = self.lines()?;
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        answer.head(status, fields(&lines[1..]));
        Some(status)
    }

    fn content(&mut self, mut answer: Answer, request: &Request) -> Answer {
        let has_none = request.method == "HEAD" || matches!(answer.status(), Some(101 | 204 | 304));
        if has_none || (request.method == "CONNECT" && answer.status() == Some(200)) {
            return answer.ends("whole");
        }
        if answer.header("transfer-encoding").is_some() {
            return self.chunks(answer);
        }
        let length = answer.header("content-length").map(|digits| digits.parse::<usize>().unwrap());
        let is_whole = loop {
            let left = length.map_or(usize::MAX, |length| length - answer.bytes());
            let taken = self.input.len().min(left);
            answer.add(&self.input.drain(..taken).collect::<Vec<_>>());
            if taken == left {
                break true;
            }
            if !self.more() {
                break length.is_none();
            }
        };
        answer.ends(if is_whole { "whole" } else { "cut" })
    }

    fn chunks(&mut self, mut answer: Answer) -> Answer {
        loop {
            let Some(size) = self.until(b"\r\n") else { return answer.ends("cut") };
            let size = usize::from_str_radix(&size, 16).unwrap();
            if size == 0 {
                let Some(lines) = self.lines() else { return answer.ends("cut") };
                answer.trailers(fields(&lines));
                return answer.ends("whole");
            }
            while self.input.len() < size + 2 {
                if !self.more() {
                    return answer.ends("cut");
                }
            }
            answer.add(&self.input.drain(..size + 2).collect::<Vec<_>>()[..size]);
        }
    }
}

fn fields(lines: &[String]) -> Vec<(String, String)> {
    let field = |line: &String| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    lines.iter().map(field).collect()
}
