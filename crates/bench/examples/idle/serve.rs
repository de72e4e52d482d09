//! The server that clients connect to, and the one that is loaded with ever more streams.

use std::{fs, io};

use alula::{Error, Exchange, Identity, KnownName, Limits, Sent, Server, Status};

use crate::{CONTENT, words};

/// The connections that may be open before any has sent its first byte: a client may open all of its own
/// first.
const CONNECTIONS_MAX: u32 = 12_000;

static ANSWER: [u8; CONTENT] = [b'a'; CONTENT];

/// Serves until the standard input ends.
pub(crate) fn run(address: &str, streams: u32, tls: Option<(&str, &str)>) -> io::Result<()> {
    let _words = words();
    let limits = Limits { streams, handshakes: Some(CONNECTIONS_MAX), ..Limits::default() };
    let mut server = Server::builder().limits(limits);
    if let Some((certificate, key)) = tls {
        let identity = Identity::from_pem(&fs::read(certificate)?, &fs::read(key)?);
        server = server.identity(identity.map_err(io::Error::other)?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = server.bind(address).await?;
        println!("{}", server.address()?.port());
        server.serve(memory).await
    })
}

async fn memory(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, "text/plain").send(&ANSWER).await
}
