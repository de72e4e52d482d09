//! A server that notes what it was asked and answers by the path.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

/// Bytes of content that come compressed: `packed` in gzip.
const GZIP: &[u8] =
    &[31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 43, 72, 76, 206, 78, 77, 1, 0, 16, 180, 246, 33, 6, 0, 0, 0];

/// A request as it came: fields by lower-case names and in order, without those that say which program asks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Request {
    line: String,
    fields: Vec<String>,
    content: String,
}

pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, seen) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<Request>>>::default());
        let notes = seen.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let notes = notes.clone();
                thread::spawn(move || serve(&socket, &notes));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Another program begins.
    pub(crate) fn begin(&self) {
        self.seen.lock().unwrap().clear();
    }

    /// The requests since then.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(socket: &TcpStream, notes: &Mutex<Vec<Request>>) -> Option<()> {
    socket.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let mut reader = BufReader::new(socket);
    loop {
        let request = read(&mut reader, socket)?;
        let number = {
            let mut seen = notes.lock().unwrap();
            seen.push(request.clone());
            seen.iter().filter(|one| one.line == request.line).count()
        };
        answer(socket, &request, number).ok()??;
    }
}

fn read(reader: &mut BufReader<&TcpStream>, mut socket: &TcpStream) -> Option<Request> {
    // TLS that is spoken to a server without it is no request.
    let mut request =
        Request { line: line(reader).filter(|line| line.contains(" HTTP/1."))?, ..Request::default() };
    loop {
        let field = line(reader)?;
        let Some((name, value)) = field.split_once(':') else { break };
        request.fields.push(format!("{}: {}", name.to_ascii_lowercase(), value.trim()));
    }
    if request.field("expect").is_some() {
        socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let length = request.field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut content = vec![0; length];
    reader.read_exact(&mut content).ok()?;
    if request.field("transfer-encoding").is_some() {
        loop {
            let length = usize::from_str_radix(&line(reader)?, 16).ok()?;
            let mut chunk = vec![0; length];
            reader.read_exact(&mut chunk).ok()?;
            line(reader)?;
            content.extend(chunk);
            if length == 0 {
                break;
            }
        }
    }
    request.content = String::from_utf8_lossy(&content).into_owned();
    request.without_boundary();
    // `expect` is sent for content of some size, and not of the same one.
    let is_programs = |field: &str| {
        ["expect:", "user-agent: curl/", "user-agent: alula/"].iter().any(|name| field.starts_with(name))
    };
    request.fields.retain(|field| !is_programs(field));
    request.fields.sort_unstable();
    Some(request)
}

fn line(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes).ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
}

impl Request {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix(": "))
    }

    /// A boundary is made up each time, and its length shows in that of the content.
    fn without_boundary(&mut self) {
        let Some(boundary) = self.field("content-type").and_then(|value| value.split_once("boundary="))
        else {
            return;
        };
        let boundary = boundary.1.trim_matches('"').to_owned();
        self.content = self.content.replace(&boundary, "BOUNDARY");
        // A part that is several files has one of its own.
        while let Some((_, within)) =
            self.content.split_once("mixed; boundary=").filter(|(_, rest)| !rest.starts_with("WITHIN"))
        {
            let within = within.lines().next().unwrap_or_default().to_owned();
            self.content = self.content.replace(&within, "WITHIN");
        }
        self.fields.retain(|field| !field.starts_with("content-length:"));
        self.fields
            .iter_mut()
            .for_each(|field| *field = field.replace(&boundary, "BOUNDARY").replace('"', ""));
    }

    fn path(&self) -> &str {
        let target = self.line.split(' ').nth(1).unwrap_or_default();
        let target = target
            .strip_prefix("http://")
            .map_or(target, |rest| rest.find('/').map_or("/", |at| &rest[at..]));
        target.split('?').next().unwrap_or_default()
    }

    fn is_head(&self) -> bool {
        self.line.starts_with("HEAD ")
    }
}

/// Answers, as the path says; nothing when the connection is over.
fn answer(mut socket: &TcpStream, request: &Request, number: usize) -> io::Result<Option<()>> {
    let parts: Vec<&str> = request.path().trim_matches('/').split('/').collect();
    let reply = match parts[..] {
        ["status", status] => reply(status, &[], b"of a status"),
        ["redirect", status, ..] => {
            let to = format!("/{}", parts[2..].join("/"));
            reply(status, &[("Location", &to)], b"elsewhere")
        }
        ["busy"] if number == 1 => reply("503", &[], b"busy"),
        ["gzip"] if request.field("accept-encoding").is_some() => {
            reply("200", &[("Content-Encoding", "gzip")], GZIP)
        }
        ["gzip"] => reply("200", &[], b"packed"),
        ["digits"] => digits(request),
        ["tagged"] if request.field("if-none-match") == Some("\"tag\"") => {
            reply("304", &[("ETag", "\"tag\"")], b"")
        }
        ["tagged"] => reply("200", &[("ETag", "\"tag\"")], b"tagged"),
        ["dated"] => {
            let is_old = request.field("if-modified-since").is_some();
            let status = if is_old { "304" } else { "200" };
            reply(
                status,
                &[("Last-Modified", "Wed, 01 Jan 2020 00:00:00 GMT")],
                if is_old { b"" } else { b"dated" },
            )
        }
        ["cookies"] => {
            reply("200", &[("Set-Cookie", "made=here; Path=/"), ("Set-Cookie", "other=two")], b"cookies")
        }
        ["named"] => {
            let named = ("Content-Disposition", "attachment; filename=\"its name.txt\"");
            reply("200", &[named], b"named")
        }
        ["trailing"] => {
            let head = "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n";
            format!("{head}4\r\nhere\r\n0\r\nX-Sum: 7\r\nX-Two: 2\r\n\r\n").into_bytes()
        }
        ["closed", name] => reply("401", &[("WWW-Authenticate", &format!("{name} realm=\"here\""))], b"who?"),
        ["slow"] => {
            // Nothing comes until the other end goes.
            let _ = socket.read(&mut [0])?;
            return Ok(None);
        }
        ["large", bytes] => {
            let bytes = bytes.parse().unwrap_or(0);
            reply("200", &[], &vec![b'x'; bytes])
        }
        ["json"] => reply("200", &[("Content-Type", "application/json")], b"{\"a\":[1,2]}"),
        ["cut"] => {
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")?;
            socket.shutdown(Shutdown::Both)?;
            return Ok(None);
        }
        ["nothing"] => {
            socket.shutdown(Shutdown::Both)?;
            return Ok(None);
        }
        ["reset"] => return reset(socket),
        ["coded", coding] => reply("200", &[("Content-Encoding", coding)], b"in no such coding"),
        ["status-line"] => b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ["length", length] => format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").into_bytes(),
        ["garbage"] => {
            socket.write_all(b"\x01\x02 this is no answer\r\n\r\n")?;
            socket.shutdown(Shutdown::Both)?;
            return Ok(None);
        }
        _ => reply("200", &[("X-Odd", "Yes")], format!("{}\n{}", request.line, request.content).as_bytes()),
    };
    let length = if request.is_head() { end_of_head(&reply) } else { reply.len() };
    socket.write_all(&reply[..length]).map(Some)
}

/// Ends the connection so that the other end has an error.
fn reset(socket: &TcpStream) -> io::Result<Option<()>> {
    SockRef::from(socket).set_linger(Some(Duration::ZERO))?;
    Ok(None)
}

/// The first ten digits, or a range of them.
fn digits(request: &Request) -> Vec<u8> {
    const ALL: &[u8] = b"0123456789";
    let range = request.field("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((first, last)) = range else { return reply("200", &[("Accept-Ranges", "bytes")], ALL) };
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(9)),
        (Ok(first), Err(_)) => (first, 9),
        (Err(_), Ok(length)) => (10 - length, 9),
        (Err(_), Err(_)) => (0, 9),
    };
    if first > 9 {
        return reply("416", &[("Content-Range", "bytes */10")], b"");
    }
    reply("206", &[("Content-Range", &format!("bytes {first}-{last}/10"))], &ALL[first..=last])
}

fn reply(status: &str, fields: &[(&str, &str)], content: &[u8]) -> Vec<u8> {
    let reason = match status {
        "200" => "OK",
        "302" => "Found",
        "404" => "Not Found",
        _ => "Reason",
    };
    let mut bytes = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in fields {
        bytes += &format!("{name}: {value}\r\n");
    }
    let has_content = !matches!(status, "204" | "304");
    if has_content {
        bytes += &format!("Content-Length: {}\r\n", content.len());
    }
    bytes += "\r\n";
    let mut bytes = bytes.into_bytes();
    bytes.extend(if has_content { content } else { b"" });
    bytes
}

fn end_of_head(reply: &[u8]) -> usize {
    reply.windows(4).position(|four| four == b"\r\n\r\n").map_or(reply.len(), |at| at + 4)
}
