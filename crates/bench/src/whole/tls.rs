//! GETs over TLS, one after the other, headers first and content copied to nowhere: Alula's client, and a
//! bare loop over rustls that moves as many records of the same length. What the loop allocates is rustls'
//! own share.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use alula::{Client, Response};
use alula_hpack::{Encoder, EncoderConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned};
use tokio::runtime::Runtime;

use crate::hpack::decode::block;
use crate::hpack::encode::fields;
use crate::peers::Peer;
use crate::peers::frames::{
    ACK, END_HEADERS, END_STREAM, HEADERS, Input, PREFACE, SETTINGS, WINDOW_UPDATE, push,
};
use crate::whole::client::one_thread;
use crate::workload::{Run, Use, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("tls-180k", 1000, "GET over TLS, 180 KB copied to nowhere", || Calls::new(PAGE).run())
        .counted(Use::Nothing, Use::Told),
    Workload::new("tls-180k-rustls", 1000, "a bare rustls loop, as many records as long", || bare(PAGE))
        .counted(Use::Nothing, Use::Told),
    Workload::new("tls-2b", 1000, "GET over TLS, 2 bytes copied to nowhere", || Calls::new("2").run())
        .counted(Use::Nothing, Use::Held),
    Workload::new("tls-2b-rustls", 1000, "a bare rustls loop, as many records as long", || bare("2"))
        .counted(Use::Nothing, Use::Held),
];

/// The bytes of a large home page.
const PAGE: &str = "180000";

/// Alula's client, warm.
struct Calls {
    runtime: Runtime,
    client: Client,
    url: String,
    peer: Peer,
}

impl Calls {
    fn new(content: &str) -> Self {
        let mut peer = Peer::start(&["answers", "tls", "page", content]);
        let url = format!("https://localhost:{}/", peer.line());
        let client =
            Client::builder().http2_prior_knowledge(true).trust_anything().build().expect("a client");
        Self { runtime: one_thread(), client, url, peer }
    }

    fn make(&self, requests: u64) {
        self.runtime.block_on(async {
            for _ in 0..requests {
                let call = self.client.get(&self.url).header("user-agent", "alula-bench/1.0");
                copy(call.send().await.expect("an answer")).await;
            }
        });
    }

    fn run(self) -> Run {
        Box::new(move |requests| self.make(requests))
    }

    /// What goes to and from the peer with so many requests.
    fn moved(mut self) -> [u64; 4] {
        self.make(SAMPLE);
        let before = self.peer.counts();
        self.make(SAMPLE);
        difference(before, self.peer.counts())
    }
}

async fn copy(mut response: Response) {
    assert_eq!(response.headers().len(), 25);
    let copied = response.body().copy_to(&mut tokio::io::sink()).await.expect("whole content");
    assert_ne!(copied, 0);
}

/// Sends requests as Alula's client does, as long and with as many other records between them, and reads the
/// answers.
fn bare(content: &str) -> Run {
    let moved = Calls::new(content).moved();
    let mut bare = Bare::connect(content, moved);
    bare.make(SAMPLE);
    let before = bare.peer.counts();
    bare.make(SAMPLE);
    let own = difference(before, bare.peer.counts());
    let as_many = |at: usize, most: u64| own[at].abs_diff(moved[at]) <= most;
    let is_alike = as_many(0, 0)
        && as_many(1, UPDATE + PINGS * PING)
        && as_many(2, PINGS)
        && as_many(3, PINGS * (PING + RECORD));
    assert!(is_alike, "{own:?} but {moved:?}");
    Box::new(move |requests| bare.make(requests))
}

/// So many requests show how many records go with one.
const SAMPLE: u64 = 256;

/// The bytes of a WINDOW_UPDATE.
const UPDATE: u64 = 13;

/// The PINGs by which Alula's client may measure the path meanwhile; the answers come in records of their
/// own.
const PINGS: u64 = 4;

/// The bytes of one.
const PING: u64 = 17;

/// What TLS 1.3 adds to the content of a record: header, type and tag.
const RECORD: u64 = 22;

fn difference(before: [u64; 4], after: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|at| after[at] - before[at])
}

struct Bare {
    tls: StreamOwned<ClientConnection, TcpStream>,
    input: Input,
    out: Vec<u8>,
    block: Vec<u8>,
    stream: u32,
    /// Records of updates per [`SAMPLE`] requests, further updates, and how many of both are due.
    records: Due,
    updates: Due,
    peer: Peer,
}

impl Bare {
    /// `moved` is what goes to and from the peer with [`SAMPLE`] requests.
    fn connect(content: &str, moved: [u64; 4]) -> Self {
        let mut peer = Peer::start(&["answers", "tls", "page", content]);
        let socket =
            TcpStream::connect(("127.0.0.1", peer.line().parse().expect("a port"))).expect("a server");
        socket.set_nodelay(true).expect("a TCP socket");
        let name = ServerName::try_from("localhost").expect("a name");
        let session = ClientConnection::new(Arc::new(config()), name).expect("a session");
        let list = [(":method", "GET"), (":scheme", "https"), (":path", "/")];
        // As long as the block of Alula's request, which has two more fields in its table.
        let mut block = block(&mut Encoder::new(EncoderConfig::default()), fields(&list));
        block.extend_from_slice(&[0x82, 0x82]);
        let mut out = PREFACE.to_vec();
        push(&mut out, SETTINGS, 0, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]);
        push(&mut out, WINDOW_UPDATE, 0, 0, &0x7000_0000_u32.to_be_bytes());
        let tls = StreamOwned::new(session, socket);
        let records = moved[0] - SAMPLE;
        let request = RECORD + 9 + block.len() as u64;
        let updates = (moved[1] - SAMPLE * request - records * (RECORD + UPDATE)) / UPDATE;
        let (records, updates) = (Due::new(records), Due::new(updates));
        Self { tls, input: Input::new(), out, block, stream: 1, records, updates, peer }
    }

    fn make(&mut self, requests: u64) {
        for _ in 0..requests {
            self.get();
            for _ in 0..self.records.take() {
                self.push_update();
                self.flush();
            }
            // Further ones go with the next request.
            for _ in 0..self.updates.take() {
                self.push_update();
            }
        }
    }

    fn get(&mut self) {
        push(&mut self.out, HEADERS, END_HEADERS | END_STREAM, self.stream, &self.block);
        self.stream += 2;
        self.flush();
        while !self.is_answered() {
            assert!(self.input.read(&mut self.tls).expect("a readable socket"), "the server is there");
        }
    }

    /// Returns true if the end of the answer is among the frames that are there.
    fn is_answered(&mut self) -> bool {
        while let Some(frame) = self.input.frame() {
            if frame.ends_stream() {
                return true;
            }
            if frame.kind == SETTINGS && frame.flags & ACK == 0 {
                push(&mut self.out, SETTINGS, ACK, 0, &[]);
            }
        }
        false
    }

    fn push_update(&mut self) {
        push(&mut self.out, WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    }

    fn flush(&mut self) {
        self.tls.write_all(&self.out).expect("a writable socket");
        self.out.clear();
    }
}

/// Something that happens so many times in [`SAMPLE`], evenly.
struct Due {
    per_sample: u64,
    sum: u64,
}

impl Due {
    const fn new(per_sample: u64) -> Self {
        Self { per_sample, sum: 0 }
    }

    /// The number of times that it happens now.
    const fn take(&mut self) -> u64 {
        self.sum += self.per_sample;
        let times = self.sum / SAMPLE;
        self.sum %= SAMPLE;
        times
    }
}

fn config() -> ClientConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.expect("the provider has versions").dangerous();
    let mut config =
        builder.with_custom_certificate_verifier(Arc::new(Anybody(provider))).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

/// Trusts any certificate.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
