//! Large files that go from the system's memory to the socket: the same bytes as where they are read,
//! whatever becomes of the peer and of the file meanwhile.
#![cfg(target_os = "linux")]

use std::{fs, io::Write as _, path::PathBuf, time::Duration};

use alula::{Client, Error, Exchange, Identity, Limits, Sent, Server, Status, testing};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::{sleep, timeout},
};

const PATIENCE: Duration = Duration::from_secs(60);
const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// More than the buffers of two sockets hold, with what TCP may add to them.
const LARGE: usize = 24 * MIB;

/// A change that lies so long back cannot be followed by another unnoticed: such files go without a copy.
const SETTLED: Duration = Duration::from_millis(3_100);

/// A folder of its own, gone with the value.
struct Folder(PathBuf);

impl Folder {
    /// Makes files of these lengths, each named by its length, and waits until they are settled.
    async fn new(name: &str, lengths: &[usize]) -> Self {
        let folder = Self::unsettled(name, lengths);
        sleep(SETTLED).await;
        folder
    }

    fn unsettled(name: &str, lengths: &[usize]) -> Self {
        let path = std::env::temp_dir().join(format!("alula-sendfile-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for length in lengths {
            fs::write(path.join(length.to_string()), bytes(*length)).unwrap();
        }
        Self(path)
    }

    fn file(&self, length: usize) -> PathBuf {
        self.0.join(length.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Bytes of which no two pieces of a page are alike.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// A server of a folder, and the outcomes of its handlers.
async fn start(folder: &Folder, limits: Limits) -> (String, UnboundedReceiver<Result<(), Error>>) {
    let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap().to_string();
    let (outcomes, heard) = unbounded_channel();
    let path = folder.0.clone();
    tokio::spawn(server.serve(move |exchange: Exchange| {
        let (path, outcomes) = (path.join(&exchange.request().path()[1..]), outcomes.clone());
        async move {
            let sent: Result<Sent, Error> = exchange.respond(Status::OK).file(path).await;
            let _ = outcomes.send(sent.as_ref().map(|_| ()).map_err(Error::clone));
            sent
        }
    }));
    (address, heard)
}

/// A connection on which a file was asked for.
async fn ask(address: &str, length: usize) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(format!("GET /{length} HTTP/1.1\r\nhost: a.example\r\n\r\n").as_bytes()).await.unwrap();
    socket
}

/// Reads a head, and what of the content came with it.
async fn read_head(socket: &mut TcpStream) -> (String, Vec<u8>) {
    let mut read = Vec::new();
    loop {
        assert!(socket.read_buf(&mut read).await.unwrap() > 0, "the head is whole");
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let content = read.split_off(end + 4);
            return (String::from_utf8(read).unwrap(), content);
        }
    }
}

/// Reads so many bytes of content in all.
async fn read_content(socket: &mut TcpStream, mut content: Vec<u8>, length: usize) -> Vec<u8> {
    let had = content.len();
    content.resize(length, 0);
    timeout(PATIENCE, socket.read_exact(&mut content[had..])).await.expect("in time").unwrap();
    content
}

/// Bytes that system calls of this thread have written to anything, `sendfile` among them; what goes by
/// `send` does not count.
fn written_by_this_thread() -> u64 {
    let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

#[tokio::test]
async fn contents_are_exact_whatever_the_length_the_range_and_the_version() {
    let lengths =
        [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB, 64 * KIB + 1, 100 * KIB, 128 * KIB, 10 * MIB];
    let folder = Folder::new("exact", &lengths).await;
    let (address, _outcomes) = start(&folder, Limits::default()).await;
    for http2 in [false, true] {
        let client = Client::builder().http2_prior_knowledge(http2).build().unwrap();
        for length in lengths {
            let url = format!("http://{address}/{length}");
            let mut response = client.get(&url).send().await.unwrap();
            assert_eq!(response.content_length(), Some(length as u64));
            let content = timeout(PATIENCE, response.bytes_max(LARGE)).await.expect("in time").unwrap();
            assert!(*content == bytes(length), "{length}, HTTP/2: {http2}");
            let head = client.request("HEAD", &url).send().await.unwrap();
            assert_eq!(head.headers().text("content-length"), Some(&*length.to_string()));
        }
        let all = bytes(10 * MIB);
        for (first, last) in [(0, 0), (5, 70_000), (4_095, 4_096), (65_537, 9_999_999), (1, 10 * MIB - 1)] {
            let url = format!("http://{address}/{}", all.len());
            let call = client.get(&url);
            let mut response = call.header("range", format!("bytes={first}-{last}")).send().await.unwrap();
            assert_eq!(response.status(), Status::PARTIAL_CONTENT);
            let content = timeout(PATIENCE, response.bytes_max(LARGE)).await.expect("in time").unwrap();
            assert!(*content == all[first..=last], "{first} to {last}, HTTP/2: {http2}");
        }
        let url = format!("http://{address}/{}", all.len());
        let call = client.get(&url);
        let mut response = call.header("range", "bytes=10-300009,500000-800000").send().await.unwrap();
        let content = timeout(PATIENCE, response.bytes_max(LARGE)).await.expect("in time").unwrap();
        for part in [&all[10..=300_009], &all[500_000..=800_000]] {
            assert!(content.windows(part.len()).any(|bytes| bytes == part), "HTTP/2: {http2}");
        }
    }
}

#[tokio::test]
async fn all_but_the_last_piece_of_a_settled_file_goes_without_a_copy() {
    let lengths = [64 * KIB, 100 * KIB, 10 * MIB];
    let folder = Folder::new("counted", &lengths).await;
    let (address, _outcomes) = start(&folder, Limits::default()).await;
    let mut socket = TcpStream::connect(&address).await.unwrap();
    for (length, uncopied) in lengths.into_iter().zip([0, 64 * KIB, 10 * MIB - 64 * KIB]) {
        let before = written_by_this_thread();
        socket
            .write_all(format!("GET /{length} HTTP/1.1\r\nhost: a.example\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let (head, content) = read_head(&mut socket).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let content = read_content(&mut socket, content, length).await;
        assert!(content == bytes(length), "{length}");
        let counted = written_by_this_thread() - before;
        // Wakers write some bytes as well.
        assert!((uncopied..uncopied + KIB).contains(&(counted as usize)), "{length}: {counted}");
    }
}

#[tokio::test]
async fn a_file_that_was_changed_just_now_is_read() {
    let folder = Folder::unsettled("unsettled", &[MIB]);
    let (address, _outcomes) = start(&folder, Limits::default()).await;
    let mut socket = ask(&address, MIB).await;
    let before = written_by_this_thread();
    let (_, content) = read_head(&mut socket).await;
    let content = read_content(&mut socket, content, MIB).await;
    assert!(content == bytes(MIB));
    assert!(written_by_this_thread() - before < KIB as u64);
}

#[tokio::test]
async fn requests_that_came_together_are_answered_in_order() {
    let folder = Folder::new("together", &[10, 300 * KIB, MIB]).await;
    let (address, _outcomes) = start(&folder, Limits::default()).await;
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let lengths = [300 * KIB, 10, MIB, MIB, 300 * KIB];
    let requests: String =
        lengths.map(|length| format!("GET /{length} HTTP/1.1\r\nhost: a.example\r\n\r\n")).concat();
    socket.write_all(requests.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    for length in lengths {
        while !rest.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            assert!(timeout(PATIENCE, socket.read_buf(&mut rest)).await.expect("in time").unwrap() > 0);
        }
        let end = rest.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        while rest.len() < end + length {
            assert!(timeout(PATIENCE, socket.read_buf(&mut rest)).await.expect("in time").unwrap() > 0);
        }
        assert!(rest[end..end + length] == bytes(length), "{length}");
        rest.drain(..end + length);
    }
    assert!(rest.is_empty());
}

#[tokio::test]
async fn a_slow_reader_gets_all_of_it_and_one_that_goes_away_leaves_nothing() {
    let folder = Folder::new("slow", &[LARGE, 10]).await;
    let (address, mut outcomes) = start(&folder, Limits::default()).await;
    let mut socket = ask(&address, LARGE).await;
    let (_, mut content) = read_head(&mut socket).await;
    let mut piece = vec![0; 256 * KIB];
    while content.len() < LARGE {
        sleep(Duration::from_millis(5)).await;
        let read = timeout(PATIENCE, socket.read(&mut piece)).await.expect("in time").unwrap();
        assert!(read > 0, "the answer is whole");
        content.extend_from_slice(&piece[..read]);
    }
    assert!(content == bytes(LARGE));
    assert!(outcomes.recv().await.unwrap().is_ok());

    let opened = || fs::read_dir("/proc/self/fd").unwrap().filter(is_large).count();
    let mut leaver = ask(&address, LARGE).await;
    let _ = read_head(&mut leaver).await;
    assert_eq!(opened(), 1, "the file is open while it is sent");
    drop(leaver);
    let outcome = timeout(PATIENCE, outcomes.recv()).await.expect("in time").unwrap();
    assert!(outcome.is_err(), "the peer has gone");
    assert_eq!(opened(), 0);

    let mut other = ask(&address, 10).await;
    let (_, content) = read_head(&mut other).await;
    assert!(read_content(&mut other, content, 10).await == bytes(10));
}

fn is_large(entry: &std::io::Result<fs::DirEntry>) -> bool {
    let path = entry.as_ref().ok().and_then(|entry| fs::read_link(entry.path()).ok());
    path.is_some_and(|path| path.ends_with(LARGE.to_string()) && path.to_string_lossy().contains("-slow/"))
}

#[tokio::test]
async fn a_peer_that_takes_nothing_is_given_up() {
    let folder = Folder::new("stalled", &[LARGE]).await;
    let limits = Limits { stall_timeout: Duration::from_millis(300), body_rate_min: 0, ..Limits::default() };
    let (address, mut outcomes) = start(&folder, limits).await;
    let mut socket = ask(&address, LARGE).await;
    let outcome = timeout(PATIENCE, outcomes.recv()).await.expect("in time").unwrap();
    assert!(outcome.is_err(), "the peer is too slow");
    let mut content = Vec::new();
    let _ = timeout(PATIENCE, socket.read_to_end(&mut content)).await.expect("the connection has ended");
    assert!(content.len() < LARGE);
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_sent_is_cut_and_one_that_grows_is_not() {
    type Change = fn(&mut fs::File);
    let changes: [(Change, bool); 3] = [
        (|file| file.set_len(100).unwrap(), false),
        (|file| file.write_all(b"x").unwrap(), false),
        (|file| file.set_len(2 * LARGE as u64).unwrap(), true),
    ];
    let lengths = [LARGE, LARGE + 1, LARGE + 2];
    let folder = Folder::new("changes", &lengths).await;
    let (address, mut outcomes) = start(&folder, Limits::default()).await;
    for ((change, is_whole), length) in changes.into_iter().zip(lengths) {
        let mut socket = ask(&address, length).await;
        let (_, mut content) = read_head(&mut socket).await;
        change(&mut fs::File::options().write(true).open(folder.file(length)).unwrap());
        timeout(PATIENCE, read_what_comes(&mut socket, &mut content, length)).await.expect("in time");
        let outcome = timeout(PATIENCE, outcomes.recv()).await.expect("in time").unwrap();
        assert_eq!((outcome.is_ok(), content.len() >= length), (is_whole, is_whole), "{length}: {outcome:?}");
        assert!(!is_whole || content == bytes(length));
    }
}

/// Reads until the answer is whole, or cut.
async fn read_what_comes(socket: &mut TcpStream, content: &mut Vec<u8>, length: usize) {
    while content.len() < length && socket.read_buf(content).await.is_ok_and(|read| read > 0) {}
}

#[tokio::test]
async fn many_at_once_share_what_there_is() {
    let folder = Folder::new("many", &[MIB]).await;
    let (address, _outcomes) = start(&folder, Limits::default()).await;
    let expected = bytes(MIB);
    let mut sockets = Vec::new();
    for _ in 0..64 {
        sockets.push(ask(&address, MIB).await);
    }
    let mut readers = tokio::task::JoinSet::new();
    for mut socket in sockets {
        readers.spawn(async move {
            let (_, content) = read_head(&mut socket).await;
            read_content(&mut socket, content, MIB).await
        });
    }
    while let Some(content) = readers.join_next().await {
        assert!(content.unwrap() == expected);
    }
}

/// Answers with bytes of a file where they are taken, else with the word `none`, and with a list of how many
/// were taken.
async fn tell_what_is_taken(exchange: Exchange, path: PathBuf) -> Result<Sent, Error> {
    let is_stated = exchange.request().path() == "/stated";
    let reply = exchange.respond(Status::OK);
    let reply = if is_stated { reply.header("content-length", "11") } else { reply };
    let mut writer = reply.stream().await?;
    let file = fs::File::open(path).unwrap();
    // Longer than what was stated, none, behind the end of the file, and four bytes.
    let parts = [0..12, 3..3, 2_000_000..2_000_001, 5..9];
    let taken = parts.map(|part| writer.try_send_file(&file, part).unwrap());
    if taken[3].is_none() {
        assert!(!writer.takes_files());
        writer.write("none").await?;
    }
    writer.drained().await?;
    let digits = taken.map(|bytes| bytes.map_or("-".to_owned(), |bytes| bytes.to_string()));
    writer.finish_content(digits.join(",")).await
}

#[tokio::test]
async fn files_are_taken_in_clear_text_of_http_1_1_and_of_a_stated_length_alone() {
    let folder = Folder::unsettled("ways", &[MIB]);
    let path = folder.file(MIB);
    let handler = move |exchange: Exchange| tell_what_is_taken(exchange, path.clone());
    let serve = async |identity: Option<Identity>| {
        let builder = Server::builder();
        let builder = if let Some(identity) = identity { builder.identity(identity) } else { builder };
        let server = builder.bind("127.0.0.1:0").await.unwrap();
        let port = server.address().unwrap().port();
        tokio::spawn(server.serve(handler.clone()));
        port
    };
    let identity = Identity::self_signed(["localhost"]).unwrap();
    let certificate = identity.certificate_pem().unwrap().to_owned();
    let (clear, tls) = (serve(None).await, serve(Some(identity)).await);
    let http2 = Client::builder().http2_prior_knowledge(true).build().unwrap();
    let secure = || Client::builder().add_roots_pem(certificate.as_bytes()).unwrap();
    let taken = [&bytes(9)[5..], b"-,-,-,4"].concat();
    let none = b"none-,-,-,-";
    for (client, url, expected) in [
        (Client::new().unwrap(), format!("http://localhost:{clear}/stated"), &*taken),
        (Client::new().unwrap(), format!("http://localhost:{clear}/chunked"), none),
        (http2, format!("http://localhost:{clear}/stated"), none),
        (secure().http1_only().build().unwrap(), format!("https://localhost:{tls}/stated"), none),
        (testing::client(handler.clone()), "http://test/stated".to_owned(), none),
    ] {
        let content = client.get(&url).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(*content, *expected, "{url}");
    }
}
