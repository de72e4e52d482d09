//! What reaches a terminal: nothing that a peer can make it obey. The terminals are real ones, as a pair of
//! pseudo-terminals has them.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::support::{Ended, Folder, PATIENCE, alula, answering, run, wait};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// Orders to a terminal: a colour and a title by ESC, the same by C1 in UTF-8 and in single bytes, and a
/// carriage return that would hide what stands before it.
const ORDERS: &[u8] = b"\x1b[31m\x1b]0;t\x07\xc2\x9b31m\xc2\x9d0;t\xc2\x9c\x9b31m\x9d0;t\x9c\x08\x7f\x0e\rx";
const SHOWN: &str = r"\x1b[31m\x1b]0;t\x07\u{9b}31m\u{9d}0;t\u{9c}\x9b31m\x9d0;t\x9c\x08\x7f\x0e\x0dx";

/// What of this a field may have.
const IN_FIELDS: &[u8] = b"a\xc2\x9b31m\x9b31m\x85b";
const SHOWN_IN_FIELDS: &str = r"a\u{9b}31m\x9b31m\x85b";

/// Which of its streams a program has on a terminal.
#[derive(Clone, Copy)]
enum On {
    Both,
    Stdout,
    Stderr,
}

/// A program with a terminal, and what the terminal is given, piece by piece.
struct Running {
    child: Child,
    shown: Receiver<Vec<u8>>,
    before: Vec<u8>,
}

impl Running {
    fn start(args: &[&str], on: On) -> Self {
        Self::start_in(args, on, None)
    }

    /// The same on a terminal of so many columns.
    fn start_in(args: &[&str], on: On, columns: Option<u16>) -> Self {
        let size = columns.map(|columns| Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 });
        let OpenptyResult { master, slave } = openpty(&size, None).expect("a terminal");
        let mut mode = tcgetattr(&slave).expect("a mode");
        // Line ends stay what they are.
        cfmakeraw(&mut mode);
        tcsetattr(&slave, SetArg::TCSANOW, &mode).expect("a mode");
        let mut command = alula(args);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        if matches!(on, On::Both | On::Stdout) {
            command.stdout(slave.try_clone().expect("another"));
        }
        if matches!(on, On::Both | On::Stderr) {
            command.stderr(slave);
        }
        let child = command.spawn().expect("the program starts");
        // The terminal ends when nobody has it.
        drop(command);
        let (send, shown) = mpsc::channel();
        thread::spawn(move || {
            let (mut master, mut piece) = (File::from(master), [0; 4096]);
            while let Ok(bytes @ 1..) = master.read(&mut piece) {
                let _ = send.send(piece[..bytes].to_vec());
            }
        });
        Self { child, shown, before: Vec::new() }
    }

    /// Waits until this has been shown.
    fn until(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.before).contains(text) {
            let piece = self.shown.recv_timeout(PATIENCE);
            self.before.extend(piece.unwrap_or_else(|_| panic!("{text:?} after {:?}", self.text())));
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.before).into_owned()
    }

    /// What the terminal was given in all, without our own colours, and how the program ended.
    fn end(mut self) -> (String, Ended) {
        let ended = wait(self.child);
        self.before.extend(self.shown.iter().flatten());
        let shown = String::from_utf8(self.before).expect("it is UTF-8");
        let text = without_styles(&shown);
        let odd = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(odd, None, "{text:?}");
        (text, ended)
    }
}

/// What is left without `ESC [ digits m`, which the program paints with itself.
fn without_styles(shown: &str) -> String {
    let mut parts = shown.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') => {
                text.push_str(rest);
            }
            _ => panic!("an order: {part:?}"),
        }
    }
    text
}

/// What a terminal is given when the program runs to its end.
fn shown(args: &[&str], on: On, code: i32) -> (String, Ended) {
    let (text, ended) = Running::start(args, on).end();
    assert_eq!(ended.code, Some(code), "{text}{}", ended.stderr);
    (text, ended)
}

fn answer(fields: &[u8], content: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}\r\n\r\n", content.len());
    [b"HTTP/1.1 200 OK\r\n", fields, length.as_bytes(), content].concat()
}

fn text(content: &[u8]) -> String {
    answering(answer(b"", content))
}

#[test]
fn a_request_that_is_not_sent_is_laid_out() {
    let args = ["--offline", "a.example/x", "a=\u{9b}31m", "X-A:b"];
    let (shown, _) = Running::start(&args, On::Stdout).end();
    assert!(
        shown.starts_with("POST /x HTTP/1.1\nHost: a.example\n") && shown.contains("\nX-A: b\n"),
        "{shown}"
    );
    assert!(shown.ends_with("\n\n{\n    \"a\": \"\\u009b31m\"\n}\n"), "{shown}");
}

#[test]
fn content_in_another_coding_is_read_as_text() {
    let answer = |media_type: &str, content: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
            content.len()
        );
        answering([head.as_bytes(), content].concat())
    };
    let shown = |flags: &[&str], media_type: &str, content: &[u8]| {
        let url = answer(media_type, content);
        Running::start(&[&["get", "-p", "b", &*url], flags].concat(), On::Stdout).end().0
    };
    assert_eq!(shown(&[], "text/html; charset=iso-8859-1", b"caf\xe9\x90"), "café\\u{90}\n");
    assert_eq!(shown(&[], "text/plain; charset=utf-16", b"a\0b\0"), "ab\n");
    assert_eq!(shown(&["--response-charset=koi8-r"], "text/plain", b"\xc4\xc1"), "да\n");
    assert_eq!(shown(&[], "text/plain; charset=utf-8", b"\xc4"), "\\xc4\n");
    // Content that is kept, or asked for as it is, is not changed.
    assert_eq!(shown(&["-o", "-"], "text/plain; charset=iso-8859-1", b"plain"), "plain\n");
    let piped = run(&["get", &answer("text/plain; charset=iso-8859-1", b"caf\xe9")]).expect(0);
    assert_eq!(piped.stdout, b"caf\xe9");
}

#[test]
fn content_is_escaped_on_a_terminal_and_nowhere_else() {
    for args in [&[][..], &["--pretty=none"], &["--color=always"], &["--pretty=colors", "-p", "b"]] {
        let (seen, _) = shown(&[&["get", &text(ORDERS)], args].concat(), On::Both, 0);
        assert!(seen.ends_with(&format!("{SHOWN}\n")), "{args:?}: {seen:?}");
    }
    assert_eq!(run(&["get", &text(ORDERS)]).expect(0).stdout, ORDERS);
    assert_eq!(shown(&["get", &text(ORDERS)], On::Stderr, 0).1.stdout, ORDERS);
    let folder = Folder::new("terminal-file");
    shown(&["get", &text(ORDERS), "-o", &folder.path("out")], On::Both, 0);
    assert_eq!(folder.read("out"), ORDERS);
    let (lines, _) = shown(&["get", "-p", "b", &text("one\r\ntwo\tü€\n".as_bytes())], On::Both, 0);
    assert_eq!(lines, "one\ntwo\tü€\n");
}

/// A server that sends the head and the first piece, and each further one when it is told to.
fn in_pieces<const N: usize>(pieces: [&'static [u8]; N]) -> (String, mpsc::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let (go_on, told) = mpsc::channel();
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a client");
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        for piece in pieces {
            let _ = socket.write_all(piece);
            let _ = told.recv();
        }
    });
    (url, go_on)
}

#[test]
fn orders_that_are_cut_are_none_and_text_comes_at_once() {
    let pieces: [&[u8]; 5] =
        [b"one\xc2", b"\x9b31m two\xe2\x82", b"\xac three\x1b", b"[31m four\r", b"\nfive\r"];
    let (url, go_on) = in_pieces(pieces);
    let mut running = Running::start(&["get", &url], On::Both);
    for word in ["one", " two", "€ three", " four", "\nfive"] {
        running.until(word);
        let _ = go_on.send(());
    }
    let (text, ended) = running.end();
    ended.expect(0);
    assert!(text.ends_with("\n\none\\u{9b}31m two€ three\\x1b[31m four\nfive\\x0d\n"), "{text:?}");
}

#[test]
fn at_the_first_binary_byte_the_display_stops_and_says_so() {
    let (url, go_on) = in_pieces([b"text\n", b"more\0\x1b[31mrest"]);
    let mut running = Running::start(&["get", "-p", "b", &url], On::Both);
    running.until("text\n");
    let _ = go_on.send(());
    let (seen, ended) = running.end();
    ended.expect(1);
    let says = "alula: the content is binary from byte 9 on, and is shown no further: \
                -o FILE keeps it, and -o - writes it still\n";
    assert_eq!(seen, format!("text\nmore\n{says}"));
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\x0d";
    let (seen, ended) = shown(&["get", "-p", "b", &text(image)], On::Stdout, 1);
    assert_eq!(seen, "");
    assert!(
        ended.stderr.starts_with("alula: the content is binary, and is not shown: -o FILE"),
        "{}",
        ended.stderr
    );
    assert_eq!(run(&["get", &text(image)]).expect(0).stdout, image);
}

#[test]
fn what_is_asked_for_outright_comes_as_it_is() {
    let running = Running::start(&["get", "-o", "-", "-p", "b", &text(b"\0\x1b[31mx")], On::Stdout);
    let bytes: Vec<u8> = running.shown.iter().flatten().collect();
    wait(running.child).expect(0);
    assert_eq!(bytes, b"\0\x1b[31mx\n");
}

#[test]
fn fields_are_escaped_wherever_they_are_shown() {
    let fields = [b"x-odd: ", IN_FIELDS, b"\r\nset-cookie: a=\xc2\x9b31m\r\n"].concat();
    let url = || answering(answer(&fields, b"content"));
    let line = format!("x-odd: {SHOWN_IN_FIELDS}\n");
    let folder = Folder::new("terminal-fields");
    let out = folder.path("out");
    for (args, on) in [
        (&["get"][..], On::Both),
        (&["head"], On::Both),
        (&["get", "-i", "--color=never"], On::Stdout),
        (&["get", "--color=always"], On::Stdout),
        (&["get", "-o", "-", "-i"], On::Stdout),
        (&["get", "-o", &out, "-D", "-"], On::Stdout),
        (&["get", "-o", &out, "-v"], On::Stderr),
        (&["get", "-v"], On::Stderr),
    ] {
        let (seen, _) = shown(&[args, &[&url()]].concat(), on, 0);
        assert!(seen.contains(&line), "{args:?}: {seen:?}");
    }
    let (seen, _) = shown(&["get", "-o", &out, &url(), "-w", "%header{x-odd}\n"], On::Stdout, 0);
    assert_eq!(seen, format!("{SHOWN_IN_FIELDS}\n"));
    let (seen, _) = shown(&["get", "-o", &out, "-c", "-", &url()], On::Stdout, 0);
    assert!(seen.ends_with("\ta\t\\u{9b}31m\n"), "{seen:?}");

    // Pipes and files get every byte.
    let is_whole = |bytes: &[u8]| bytes.windows(IN_FIELDS.len()).any(|part| part == IN_FIELDS);
    assert!(is_whole(&run(&["get", "-i", &url()]).expect(0).stdout));
    assert!(is_whole(&run(&["get", "-o", &out, &url(), "-w", "%header{x-odd}"]).expect(0).stdout));
    run(&["get", "-o", &out, "-D", &folder.path("head"), &url()]).expect(0);
    assert!(is_whole(&folder.read("head")));
    let verbose = alula(&["get", "-v", &url()]).stdout(Stdio::null()).output().unwrap();
    assert!(is_whole(&verbose.stderr));
}

#[test]
fn strings_of_json_are_escaped_as_json_has_it() {
    let json = "{\"a\u{9b}31m\":\r\n[\"\u{7f}\u{85}\"]}";
    let url = || answering(answer(b"content-type: application/json\r\n", json.as_bytes()));
    for (args, expected) in [
        (&[][..], "{\n    \"a\\u009b31m\": [\n        \"\\u007f\\u0085\"\n    ]\n}\n"),
        (&["--pretty=colors"], "{\"a\\u009b31m\":\n[\"\\u007f\\u0085\"]}\n"),
        (&["--pretty=none"], "{\"a\\u{9b}31m\":\n[\"\\x7f\\u{85}\"]}\n"),
    ] {
        let (seen, _) = shown(&[&["get", "-p", "b", &url()], args].concat(), On::Stdout, 0);
        assert_eq!(seen, expected, "{args:?}");
    }
    let broken = answering(answer(b"content-type: application/json\r\n", b"{\"a\":\"\x1b[31m\x9b\""));
    assert_eq!(shown(&["get", "-p", "b", &broken], On::Stdout, 0).0, "{\"a\":\"\\x1b[31m\\x9b\"\n");
    assert_eq!(run(&["get", &url()]).expect(0).stdout, json.as_bytes());
}

#[test]
fn sentences_about_what_a_server_said_are_escaped() {
    let folder = Folder::new("terminal-sentence");
    let out = folder.write("out", "12345");
    let answer = "HTTP/1.1 206 Partial Content\r\ncontent-range: \u{9b}31m\r\ncontent-length: 3\r\n\r\nabc";
    let (seen, _) = shown(&["get", "-C", "-", "-o", &out, &answering(answer)], On::Stderr, 10);
    assert!(seen.contains("and it says \\u{9b}31m\n"), "{seen:?}");
    let ended = run(&["get", "-C", "-", "-o", &out, &answering(answer)]).expect(10);
    assert!(ended.stderr.contains("and it says \u{9b}31m\n"), "{:?}", ended.stderr);
}

#[test]
fn what_clients_ask_a_server_is_logged_without_orders() {
    let folder = Folder::new("terminal-log");
    let args = ["serve", &folder.path(""), "--log", "--listen", "127.0.0.1:0"];
    let mut running = Running::start(&args, On::Both);
    running.until("\n");
    let origin = running.text().trim_end().replace("listening on http://", "");
    for (method, target) in [
        ("GET", &b"/\x9b31m\xc2\x9b31m"[..]),
        ("GET", b"/\x1b[31m"),
        ("\x1b[31m", b"/"),
        ("GET", b"/plain\""),
    ] {
        let mut socket = TcpStream::connect(&origin).unwrap();
        let request = [method.as_bytes(), b" ", target, b" HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"];
        socket.write_all(&request.concat()).unwrap();
        let _ = socket.read_to_end(&mut Vec::new());
    }
    running.until("plain");
    running.child.kill().unwrap();
    running.end();
}

#[test]
fn header_blocks_are_decoded_without_orders() {
    let folder = Folder::new("terminal-hpack");
    // A literal field `x` with DEL and a C1 byte for a value.
    let story = folder.write("story.json", r#"{"cases":[{"wire":"000178027f9b"}]}"#);
    let (seen, _) = shown(&["hpack", "decode", &story], On::Stdout, 0);
    assert!(seen.contains(r#""x": "\u007f\u009b""#), "{seen:?}");
}

#[test]
fn a_download_that_somebody_watches_is_summed_up() {
    let folder = Folder::new("summary");
    let file = folder.path("page");
    let (seen, _) = shown(&["get", "-o", &file, &text(b"twelve bytes")], On::Both, 0);
    let (name, rest) = seen.trim_end().split_once(": ").expect("a summary");
    assert_eq!(name, file);
    assert!(rest.starts_with("12 B in ") && rest.ends_with("/s") && !rest.contains('\n'), "{rest}");
    assert_eq!(shown(&["get", "-o", "/dev/null", &text(b"twelve bytes")], On::Both, 0).0, "");
    let ended = run(&["get", "-s", "-o", &file, &text(b"twelve bytes")]).expect(0);
    assert_eq!(ended.stderr, "");
}

/// A server that answers each connection with a head and a first piece, and waits then until it is told to
/// end, by the rest of the content or by nothing more.
fn held(answers: usize) -> (String, mpsc::Sender<&'static [u8]>) {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\nfour";
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let (end, ends) = mpsc::channel::<&[u8]>();
    thread::spawn(move || {
        let mut sockets = Vec::new();
        for _ in 0..answers {
            let (mut socket, _) = listener.accept().expect("a client");
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(HEAD);
            sockets.push(socket);
        }
        for (mut socket, rest) in sockets.into_iter().zip(ends) {
            let _ = socket.write_all(rest);
        }
    });
    (url, end)
}

/// The lines that were drawn one over the other, without the orders that take them away.
fn drawn(shown: &str) -> Vec<String> {
    let pieces = shown.split(['\r', '\n']);
    let bare = pieces.map(|piece| piece.replace("\x1b[2K", "").replace("\x1b[1A", ""));
    bare.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn transfers_at_once_have_one_line_that_fits() {
    let folder = Folder::new("at-once");
    for (columns, one, two) in
        [(80, "0 of 3 done, 3 running", "1 of 3 done, 2 running"), (40, "0/3 done", "1/3 done")]
    {
        let (url, end) = held(3);
        let to = folder.path("#1");
        let urls = format!("{url}{{a,b,c}}");
        let mut running = Running::start_in(&["get", "-Z", &urls, "-o", &to], On::Both, Some(columns));
        running.until(one);
        end.send(b"rest").unwrap();
        running.until(two);
        // One breaks off: that is told above the line, which goes on.
        end.send(b"").unwrap();
        running.until("alula: GET http://");
        let told = running.text();
        running.until(if columns == 80 { "2 of 3 done, 1 running" } else { "2/3 done" });
        end.send(b"rest").unwrap();
        let Running { child, shown, mut before } = running;
        wait(child).expect(7);
        before.extend(shown.iter().flatten());
        let all = String::from_utf8(before).unwrap();
        let (line, _) = told.split_once("alula: GET").unwrap();
        assert!(line.ends_with("\x1b[2K") || line.ends_with('\r'), "{told:?}");
        let lines = drawn(&all);
        assert!(lines.iter().all(|line| line.chars().count() < columns.into()), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("8 B") && line.ends_with("/s")), "{lines:?}");
        let last = lines.last().unwrap();
        assert!(last.starts_with("3 of 3 done: 20 B in ") && last.ends_with("/s"), "{lines:?}");
        assert_eq!(all.matches("alula: GET").count(), 1, "{all:?}");
    }
}

#[test]
fn transfers_at_once_have_no_line_where_nobody_wants_one() {
    let folder = Folder::new("at-once-quiet");
    let to = folder.path("#1");
    for (on, flags) in [
        (On::Stdout, &["-o", &to][..]),
        (On::Both, &["-o", &to, "-s"]),
        (On::Both, &["-o", &to, "--no-progress-meter"]),
        // The content stands where the line would.
        (On::Both, &["-p", "b"]),
    ] {
        let (url, end) = held(2);
        let urls = format!("{url}{{a,b}}");
        // A line would have been drawn after half a second.
        let running = Running::start(&[&["get", "-Z", &urls, "-m", "1"], flags].concat(), on);
        let (seen, ended) = running.end();
        drop(end);
        assert_ne!(ended.code, Some(0));
        let all = seen + &ended.stderr;
        assert!(!all.contains("done") && !all.contains("running"), "{flags:?}: {all}");
    }
}

#[test]
fn sentences_and_help_are_broken_at_words() {
    let url = "http://127.0.0.1:1/a";
    let whole = run(&["get", url]).expect(3).stderr;
    let mistaken = run(&["get", "--locatoin", url]).expect(2).stderr;
    for columns in [24, 40, 80] {
        for (args, on, expected) in
            [(&["get", url][..], On::Stderr, &whole), (&["get", "--locatoin", url], On::Stderr, &mistaken)]
        {
            let (text, _) = Running::start_in(args, on, Some(columns)).end();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&text), words(expected));
            let is_short = |line: &str| line.len() <= columns.into() || words(line).len() == 1;
            assert!(text.lines().all(is_short), "{columns}: {text}");
        }
    }
    for args in [&["get", "-h"][..], &["echo", "-h"], &["help", "items"], &["help", "exit-codes"]] {
        let (text, _) = Running::start_in(args, On::Stdout, Some(40)).end();
        let long = text.lines().find(|line| line.chars().count() > 40);
        // An example is a command to paste.
        assert!(long.is_none_or(|line| line.contains("alula ")), "{args:?}: {long:?}");
    }
}

#[test]
fn heads_stay_whole_and_are_shown_once_by_v() {
    let field = format!("x-long: {}", "word ".repeat(20));
    let server = answering(format!("HTTP/1.1 200 OK\r\n{field}\r\ncontent-length: 2\r\n\r\nhi"));
    let (text, _) = Running::start_in(&["get", "-v", &server], On::Both, Some(40)).end();
    assert!(text.contains(&format!("< {}\n", field.trim_end())), "{text}");
    assert_eq!(text.matches("200 OK").count(), 1, "{text}");
}
