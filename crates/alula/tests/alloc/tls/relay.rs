//! A relay between client and server that writes down how long the TLS records are that go through it (RFC
//! 8446 §5.1).

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A relay for one connection. Its threads have no side, so that nobody is charged for them.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Record>>>,
}

/// A record that has passed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Record {
    pub(crate) from_client: bool,
    /// The bytes behind the record's header.
    pub(crate) bytes: usize,
}

impl Relay {
    /// Listens on a free port of loopback and passes one connection on to `server`.
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Record>>>::default();
        let log = seen.clone();
        thread::spawn(move || {
            let client = listener.accept().unwrap().0;
            let server = TcpStream::connect(server).unwrap();
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap(), log.clone());
            thread::spawn(move || pass_on(back.0, back.1, false, &back.2));
            pass_on(client, server, true, &log)
        });
        Self { address, seen }
    }

    /// The records that have passed since this was last asked.
    pub(crate) fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// Passes record after record on, each written down before, so that what a side has received was seen here.
fn pass_on(
    mut from: TcpStream,
    mut to: TcpStream,
    from_client: bool,
    seen: &Mutex<Vec<Record>>,
) -> io::Result<()> {
    to.set_nodelay(true)?;
    let mut record = [0; HEADER + CONTENT_MAX];
    loop {
        from.read_exact(&mut record[..HEADER])?;
        let bytes = usize::from(u16::from_be_bytes([record[3], record[4]]));
        from.read_exact(&mut record[HEADER..][..bytes])?;
        seen.lock().unwrap().push(Record { from_client, bytes });
        to.write_all(&record[..HEADER + bytes])?;
    }
}

const HEADER: usize = 5;

/// The most that a record may have behind its header (RFC 8446 §5.2).
const CONTENT_MAX: usize = 16_384 + 256;
