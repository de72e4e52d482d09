//! The TLS handshake, on both sides, before a connection has its loops.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    error::{Error, Phase},
    tls::Tls,
    transport::Socket,
};

/// Octets asked of the socket at once.
const READ_STEP: usize = 16 * 1024;

/// Brings a session to the end of its handshake; what the peer said was read as far as `begun`.
///
/// # Errors
/// The peer's certificate is not trusted, the two have nothing in common, or the connection broke.
pub(crate) async fn shake_hands(
    socket: &mut Socket,
    mut session: rustls::Connection,
    begun: &[u8],
) -> Result<Tls, Error> {
    let mut wire = vec![0; READ_STEP];
    take(&mut session, begun)?;
    while session.is_handshaking() {
        send(socket, &mut session).await?;
        if !session.is_handshaking() {
            break;
        }
        let octets = socket.read(&mut wire).await.map_err(|e| failed(&e))?;
        if octets == 0 {
            return Err(failed(&io::ErrorKind::UnexpectedEof.into()));
        }
        let taken = take(&mut session, &wire[..octets]);
        // An alert that says why goes out even when the handshake has failed.
        send(socket, &mut session).await?;
        taken?;
    }
    send(socket, &mut session).await?;
    Ok(Tls::new(session))
}

fn take(session: &mut rustls::Connection, mut wire: &[u8]) -> Result<(), Error> {
    while !wire.is_empty() {
        session.read_tls(&mut wire).map_err(|e| failed(&e))?;
        session.process_new_packets().map_err(refused)?;
    }
    Ok(())
}

/// A peer with which we share no protocol says so with an alert of its own (RFC 7301 §3.2).
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
        session.write_tls(&mut wire).map_err(|e| failed(&e))?;
    }
    socket.write_all(&wire).await.map_err(|e| failed(&e))
}

fn failed(error: &io::Error) -> Error {
    Error::io(Phase::Handshake, error)
}
