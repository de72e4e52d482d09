//! The TLS handshake, on both sides, before a connection has its loops.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};

use crate::{
    connection::memory::read_buffers::{give_back, lend},
    error::{Error, Phase},
    tls::Tls,
    transport::Socket,
};

/// The bytes that are read from the socket at once.
const READ_STEP: usize = 16 * 1024;

impl Tls {
    /// Completes the handshake of a session that has read so far as `begun`.
    ///
    /// # Errors
    /// The peer's certificate is not trusted, the two have nothing in common, or the connection broke.
    pub(crate) async fn shake_hands(&mut self, socket: &mut Socket, begun: &[u8]) -> Result<(), Error> {
        let session = &mut self.session;
        take(session, begun)?;
        while session.is_handshaking() {
            send(socket, session).await?;
            if !session.is_handshaking() {
                break;
            }
            let taken = poll_fn(|cx| poll_receive(socket, session, cx)).await?;
            // An alert that says why goes out even when the handshake has failed.
            send(socket, session).await?;
            taken?;
        }
        send(socket, session).await
    }
}

/// Reads once and passes the bytes to the session; the inner result is that of the session.
fn poll_receive(
    socket: &mut Socket,
    session: &mut rustls::Connection,
    cx: &mut Context<'_>,
) -> Poll<Result<Result<(), Error>, Error>> {
    let mut wire = lend();
    let mut space = ReadBuf::new(&mut wire[..READ_STEP]);
    let read = Pin::new(socket).poll_read(cx, &mut space);
    let taken = take(session, space.filled());
    let is_end = space.filled().is_empty();
    give_back(wire);
    ready!(read).map_err(failed)?;
    Poll::Ready(if is_end { Err(failed(io::ErrorKind::UnexpectedEof.into())) } else { Ok(taken) })
}

fn take(session: &mut rustls::Connection, mut wire: &[u8]) -> Result<(), Error> {
    while !wire.is_empty() {
        session.read_tls(&mut wire).map_err(failed)?;
        session.process_new_packets().map_err(refused)?;
    }
    Ok(())
}

/// Converts the error of a failed handshake. A peer with which we share no protocol says so with an alert of
/// its own (RFC 7301 §3.2).
fn refused(error: rustls::Error) -> Error {
    match error {
        rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol)
        | rustls::Error::NoApplicationProtocol => Error::no_version(),
        error => Error::tls(Phase::Handshake, error),
    }
}

async fn send(socket: &mut Socket, session: &mut rustls::Connection) -> Result<(), Error> {
    let mut wire = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut wire).map_err(failed)?;
    }
    socket.write_all(&wire).await.map_err(failed)
}

fn failed(error: io::Error) -> Error {
    Error::io(Phase::Handshake, error)
}
