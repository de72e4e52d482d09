//! Connections of the test's own, in clear text or inside TLS, on which it speaks raw frames.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::alula::Reach;
use crate::frames::{self, Frame};
use crate::tls;

/// The time that a read waits for the other side at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection.
pub trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

/// Connects to a port of this machine; a TLS handshake is made by the first write.
///
/// # Errors
/// When nobody accepts.
pub fn connect(port: u16, reach: &Reach<'_>) -> io::Result<Box<dyn Wire>> {
    let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    prepare(&socket)?;
    Ok(match reach {
        Reach::Clear => Box::new(socket),
        Reach::Tls(_) => Box::new(tls::client(socket)?),
    })
}

/// Nothing on the socket waits forever, and nothing written waits for an acknowledgement.
pub(crate) fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)
}

/// Reads frames up to the first that is wanted; `None` when the connection ends before.
///
/// # Errors
/// When reading fails, takes too long, or ends within a frame.
pub fn read_until(wire: &mut dyn Wire, wanted: impl Fn(&Frame) -> bool) -> io::Result<Option<Frame>> {
    while let Some(frame) = frames::read(wire)? {
        if wanted(&frame) {
            return Ok(Some(frame));
        }
    }
    Ok(None)
}

/// Reads and forgets until the other side has closed, or broken, the connection; false when it does neither
/// within the socket's time.
pub fn closes(wire: &mut dyn Wire) -> bool {
    let mut scratch = [0; 16 * 1024];
    loop {
        match wire.read(&mut scratch) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
