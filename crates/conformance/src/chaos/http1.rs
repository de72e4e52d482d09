//! The server of HTTP/1.1, written without any of the code under test.

use std::{io, sync::Arc, time::Duration};

use alula_testkit::Rng;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::{Books, Fate, id_of};

/// What a request says: its method, and what tells it from others.
struct Request {
    method: String,
    id: String,
}

/// Serves until it is dropped; a connection is served until it ends.
pub async fn serve(listener: TcpListener, books: Arc<Books>, seed: u64) {
    for number in 0.. {
        let Ok((socket, _)) = listener.accept().await else { return };
        let session = Session {
            socket: BufReader::new(socket),
            rng: Rng::new(seed.wrapping_add(number)),
            books: books.clone(),
        };
        // The client is told by what it sees.
        tokio::spawn(async move { drop(session.run().await) });
    }
}

struct Session {
    socket: BufReader<TcpStream>,
    rng: Rng,
    books: Arc<Books>,
}

impl Session {
    async fn run(mut self) -> io::Result<()> {
        while let Some(request) = self.request().await? {
            let fate = self.books.draw(&mut self.rng);
            if fate != Fate::Refused {
                self.books.process(&request.method, &request.id);
            }
            match fate {
                Fate::Answered => self.answer(&request.id, "").await?,
                Fate::Late => {
                    self.pause().await;
                    self.answer(&request.id, "").await?;
                }
                Fate::Farewell => return self.answer(&request.id, "connection: close\r\n").await,
                Fate::Closed => {
                    self.answer(&request.id, "").await?;
                    // What comes meanwhile is never read.
                    self.pause().await;
                    return Ok(());
                }
                Fate::Halved => {
                    return self.send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
                }
                Fate::Reset => return self.socket.get_ref().set_zero_linger(),
                Fate::Refused | Fate::Broken => return Ok(()),
                Fate::Stalled => {
                    self.socket.read_to_end(&mut Vec::new()).await?;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The next request; none when the client has closed.
    async fn request(&mut self) -> io::Result<Option<Request>> {
        let mut first = String::new();
        if self.socket.read_line(&mut first).await? == 0 {
            return Ok(None);
        }
        let mut bytes = 0;
        loop {
            let mut line = String::new();
            self.socket.read_line(&mut line).await?;
            match line.trim_end().to_ascii_lowercase().split_once(':') {
                Some(("content-length", value)) => {
                    bytes = value.trim().parse().expect("a client states a length")
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut content = vec![0; bytes];
        self.socket.read_exact(&mut content).await?;
        let mut words = first.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().trim_start_matches('/').to_owned();
        let id = if content.is_empty() { path } else { id_of(&content) };
        Ok(Some(Request { method, id }))
    }

    async fn answer(&mut self, id: &str, fields: &str) -> io::Result<()> {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}");
        let answer = match self.rng.one_in(2) {
            true => format!("{head}content-length: {}\r\n\r\n{id}", id.len()),
            false => format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{id}\r\n0\r\n\r\n", id.len()),
        };
        self.send(&answer).await
    }

    async fn send(&mut self, text: &str) -> io::Result<()> {
        self.socket.write_all(text.as_bytes()).await
    }

    async fn pause(&mut self) {
        sleep(Duration::from_millis(self.rng.below(8) as u64)).await;
    }
}
