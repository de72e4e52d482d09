//! The same words on Alula and on curl.

use std::{io::Write as _, net::TcpListener, process::Command, sync::mpsc, thread};

use super::{Ended, PATIENCE, run};

/// The words on Alula, with curl's exit codes, and then on curl if it is installed. Each has its own
/// arguments.
pub(crate) fn both(mut args: impl FnMut() -> Vec<String>) -> impl Iterator<Item = Ended> {
    (0..2).filter_map(move |place| {
        let args = args();
        if place == 0 {
            let first = ["request", "--exit-codes=curl", "-sS"];
            let words = first.into_iter().chain(args.iter().map(String::as_str));
            return Some(run(&words.collect::<Vec<_>>()));
        }
        let mut curl = Command::new("curl");
        super::PROXIES.iter().for_each(|name| {
            curl.env_remove(name);
        });
        let output = curl.args(["-sS", "-m", "30"]).args(args).output().ok()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Some(Ended { code: output.status.code(), stdout: output.stdout, stderr })
    })
}

pub(crate) fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A server that answers each connection in turn with this, and hands out the requests that came, each with
/// its content; the address of the server.
pub(crate) fn recording<A>(answers: Vec<A>) -> (String, mpsc::Receiver<String>)
where
    A: AsRef<[u8]> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has an address").to_string();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for answer in answers {
            let Ok((mut socket, _)) = listener.accept() else { return };
            let _ = socket.set_read_timeout(Some(PATIENCE));
            let request = request(&mut socket);
            drop(send.send(request));
            let _ = socket.write_all(answer.as_ref());
        }
    });
    (address, receive)
}

/// A head, in lower case but for its first line, and the content whose length it states.
fn request(socket: &mut impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") && socket.read_exact(&mut byte).is_ok() {
        bytes.extend(byte);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let (line, fields) = head.split_once("\r\n").unwrap_or((&head, ""));
    let fields = fields.to_ascii_lowercase();
    let length = fields.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut content = vec![0; length.unwrap_or(0)];
    let _ = socket.read_exact(&mut content);
    format!("{line}\r\n{fields}{}", String::from_utf8_lossy(&content))
}
