//! TLS for the tests' own clients and servers, which speak raw frames inside.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme, StreamOwned,
};

use crate::certificates::Certificates;

/// A connected client that has not shaken hands yet: the first read or write does it.
///
/// Whoever the server is, it is believed: what is tested is the server's patience, not its papers.
///
/// # Errors
/// When the TLS session cannot be set up.
pub fn client(socket: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    client_offering(socket, b"h2")
}

/// As [`client`], with this one protocol offered by ALPN.
///
/// # Errors
/// As [`client`].
pub fn client_offering(
    socket: TcpStream,
    protocol: &[u8],
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Believer(provider)))
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, socket))
}

/// Shakes hands so that the client's last flight and these bytes leave in one write, as a fast network would
/// bring them.
///
/// # Errors
/// When the handshake fails.
pub fn client_in_one_write(
    socket: TcpStream,
    first: &[u8],
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let StreamOwned { mut conn, mut sock } = client(socket)?;
    conn.write_tls(&mut sock)?;
    while conn.is_handshaking() {
        conn.read_tls(&mut sock)?;
        conn.process_new_packets().map_err(io::Error::other)?;
    }
    conn.writer().write_all(first)?;
    let mut flight = Vec::new();
    while conn.wants_write() {
        conn.write_tls(&mut flight)?;
    }
    sock.write_all(&flight)?;
    Ok(StreamOwned::new(conn, sock))
}

/// What a server needs for [`server`]: its certificate, and `h2` by ALPN.
///
/// # Panics
/// When the files cannot be read.
#[must_use]
pub fn server_config(certificates: &Certificates) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_file(certificates.certificate()).expect("our own file");
    let key = PrivateKeyDer::from_pem_file(certificates.key()).expect("our own file");
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("our own certificate");
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

/// What a client needs that trusts this authority, and asks for `h2` by ALPN.
///
/// # Panics
/// When the file cannot be read.
#[must_use]
pub fn client_config(certificates: &Certificates) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(certificates.authority()).expect("our own file");
    roots.add(authority).expect("our own certificate");
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

/// An accepted connection that has not shaken hands yet.
///
/// # Errors
/// When the TLS session cannot be set up.
pub fn server(
    socket: TcpStream,
    config: &Arc<ServerConfig>,
) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, socket))
}

/// Trusts any certificate.
#[derive(Debug)]
struct Believer(Arc<CryptoProvider>);

impl ServerCertVerifier for Believer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
