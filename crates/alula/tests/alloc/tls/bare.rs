//! Two rustls sessions that talk to each other in memory: what they allocate is rustls' own share.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use alula_tally::{Counts, counted};
use rcgen::generate_simple_self_signed;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};

use super::relay::Record;

/// What TLS 1.3 adds to the content of a record, behind its header: type and tag (RFC 8446 §5.2).
const ADDED: usize = 17;

static CONTENT: [u8; 16_384] = [b'c'; 16_384];

/// Both ends of a connection, after the handshake.
pub(crate) struct Bare {
    client: Connection,
    server: Connection,
    wire: Vec<u8>,
}

impl Bare {
    pub(crate) fn connected() -> Self {
        let (client, server) = configs();
        let name = ServerName::try_from("localhost").unwrap();
        let mut bare = Self {
            client: ClientConnection::new(Arc::new(client), name).unwrap().into(),
            server: ServerConnection::new(Arc::new(server)).unwrap().into(),
            wire: Vec::with_capacity(1 << 16),
        };
        while bare.client.wants_write() || bare.server.wants_write() {
            pass(&mut bare.client, &mut bare.server, &mut bare.wire);
            pass(&mut bare.server, &mut bare.client, &mut bare.wire);
        }
        assert!(!bare.client.is_handshaking() && !bare.server.is_handshaking());
        bare
    }

    /// Moves records that are as long as these, the same way, and says what client and server allocated.
    pub(crate) fn replay(&mut self, records: &[Record]) -> [Counts; 2] {
        let mut counts = [Counts::default(); 2];
        for record in records {
            let Self { client, server, wire } = self;
            let (from, to) = if record.from_client { (client, server) } else { (server, client) };
            let sent = send(from, wire, record.bytes - ADDED);
            let received = receive(to, wire, record.bytes - ADDED);
            let [by_client, by_server] = if record.from_client { [sent, received] } else { [received, sent] };
            counts = [counts[0] + by_client, counts[1] + by_server];
        }
        counts
    }
}

fn send(from: &mut Connection, wire: &mut Vec<u8>, bytes: usize) -> Counts {
    let ((), counts) = counted(|| {
        from.writer().write_all(&CONTENT[..bytes]).unwrap();
        while from.wants_write() {
            from.write_tls(wire).unwrap();
        }
    });
    assert_eq!(wire.len(), 5 + ADDED + bytes);
    counts
}

fn receive(to: &mut Connection, wire: &mut Vec<u8>, bytes: usize) -> Counts {
    let mut content = [0; CONTENT.len()];
    let (read, counts) = counted(|| {
        let mut unread = &wire[..];
        while !unread.is_empty() {
            to.read_tls(&mut unread).unwrap();
            to.process_new_packets().unwrap();
        }
        to.reader().read(&mut content).unwrap()
    });
    assert_eq!(content[..read], CONTENT[..bytes]);
    wire.clear();
    counts
}

/// Passes on whatever one end has to say, in the handshake.
fn pass(from: &mut Connection, to: &mut Connection, wire: &mut Vec<u8>) {
    while from.wants_write() {
        from.write_tls(wire).unwrap();
    }
    let mut unread = &wire[..];
    while !unread.is_empty() {
        to.read_tls(&mut unread).unwrap();
        to.process_new_packets().unwrap();
    }
    wire.clear();
}

/// What both ends go by; the client trusts the server's certificate, which was made for this.
fn configs() -> (ClientConfig, ServerConfig) {
    let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = certified.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider.clone());
    let client = client.with_safe_default_protocol_versions().unwrap();
    let server = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    (
        client.with_root_certificates(roots).with_no_client_auth(),
        server.with_no_client_auth().with_single_cert(vec![certificate], key.into()).unwrap(),
    )
}
