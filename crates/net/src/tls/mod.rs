//! TLS by rustls, as memory work: ciphertext in, plaintext out, and the reverse. No socket is touched here.

#[cfg(feature = "tls")]
pub(crate) mod errors;
#[cfg(feature = "tls")]
pub(crate) mod facts;
#[cfg(feature = "tls")]
pub(crate) mod handshake;

use std::io::{self, Read, Write};

use alula_machine::OutBuf;

use crate::{
    error::{Error, Phase},
    tls::facts::TlsFacts,
    transport::read_buf::ReadBuf,
};

/// Bytes of plaintext taken out of the session at once: one record and a little more.
const PLAIN_STEP: usize = 17 * 1024;

/// The measured memory of a session of rustls 0.23 beside its own size: traffic keys and their state, the
/// names that were agreed on, and empty queues.
const SESSION_BYTES: usize = 5_500;

/// The bytes that a session reads at once. It keeps a buffer of as many.
const READ_BYTES: usize = 4 * 1024;

/// The measured growth of its buffer while long records come: one of full length (RFC 8446 §5.2) and the next
/// read. It is given back with the first read that is short.
const RECORD_BYTES: usize = 18 * 1024;

/// A TLS session with its buffers.
pub(crate) struct Tls {
    pub(crate) session: rustls::Connection,
    /// The last records were long.
    is_wide: bool,
}

impl Tls {
    pub(crate) fn new(session: rustls::Connection) -> Self {
        Self { session, is_wide: false }
    }

    /// Records the size of the last read. Returns true if the session holds another amount of memory for it
    /// than before.
    #[inline]
    pub(crate) fn note_read(&mut self, bytes: usize) -> bool {
        let is_wide = bytes > READ_BYTES;
        std::mem::replace(&mut self.is_wide, is_wide) != is_wide
    }

    /// Decrypts `wire`, and appends the plaintext to `plain`. True when the peer has said that it ends.
    pub(crate) fn decrypt(&mut self, mut wire: &[u8], plain: &mut ReadBuf) -> Result<bool, Error> {
        loop {
            let state = self.session.process_new_packets().map_err(|e| Error::tls(Phase::Content, e))?;
            self.drain(state.plaintext_bytes_to_read(), plain)?;
            if wire.is_empty() || state.peer_has_closed() {
                return Ok(state.peer_has_closed());
            }
            self.session.read_tls(&mut wire).map_err(|e| Error::io(Phase::Content, e))?;
        }
    }

    fn drain(&mut self, mut bytes: usize, plain: &mut ReadBuf) -> Result<(), Error> {
        while bytes > 0 {
            let space = plain.space(bytes.min(PLAIN_STEP));
            let read = self.session.reader().read(space).map_err(|e| Error::io(Phase::Content, e))?;
            plain.filled(read);
            bytes -= read;
        }
        Ok(())
    }

    /// Encrypts all of `plain` and the messages of the session itself, and appends the records to `wire`.
    pub(crate) fn encrypt(&mut self, plain: &mut OutBuf, wire: &mut OutBuf) -> Result<(), Error> {
        loop {
            if !plain.is_empty() {
                let taken = self.session.writer().write(plain.unsent());
                plain.consume(taken.map_err(|e| Error::io(Phase::Send, e))?);
            }
            while self.session.wants_write() {
                self.session.write_tls(&mut Append(wire)).map_err(|e| Error::io(Phase::Send, e))?;
            }
            if plain.is_empty() {
                return Ok(());
            }
        }
    }

    /// Returns the memory held, with an estimate for the session.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + SESSION_BYTES + if self.is_wide { RECORD_BYTES } else { 0 }
    }

    /// Tells the peer that we end (close_notify).
    pub(crate) fn close(&mut self) {
        self.session.send_close_notify();
    }

    /// Returns the facts that were agreed on.
    pub(crate) fn facts(&self) -> TlsFacts {
        let kind = match &self.session {
            rustls::Connection::Client(session) => session.handshake_kind(),
            rustls::Connection::Server(session) => session.handshake_kind(),
        };
        TlsFacts {
            protocol: self
                .session
                .protocol_version()
                .and_then(|version| version.as_str())
                .unwrap_or("unknown"),
            cipher_suite: self
                .session
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or("unknown"),
            key_agreement: self
                .session
                .negotiated_key_exchange_group()
                .and_then(|group| group.name().as_str()),
            alpn: self.session.alpn_protocol().map(<[u8]>::to_vec),
            certificates: self
                .session
                .peer_certificates()
                .map(|chain| chain.iter().map(|certificate| certificate.to_vec()).collect())
                .unwrap_or_default(),
            is_resumed: kind == Some(rustls::HandshakeKind::Resumed),
        }
    }

    /// Returns the certificate of the peer in DER, if it has shown one.
    pub(crate) fn certificate(&self) -> Option<&[u8]> {
        self.session.peer_certificates()?.first().map(|certificate| certificate.as_ref())
    }

    /// Returns the protocol agreed on by ALPN.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.session.alpn_protocol()
    }
}

/// Appends what is written to an output buffer.
struct Append<'a>(&'a mut OutBuf);

impl Write for Append<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend(bytes);
        Ok(bytes.len())
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        parts.iter().for_each(|part| self.0.extend(part));
        Ok(parts.iter().map(|part| part.len()).sum())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
