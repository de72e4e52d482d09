//! A part of content with a single source.

use std::{
    io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use alula_net::{BodyWriter, Bytes, Cause, Error, Phase, Retry};
use tokio::{
    fs::File,
    io::{AsyncRead, AsyncReadExt as _},
};

/// A function that is called with each sent piece of content.
pub(super) type Observer = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// The bytes that are read and sent at once.
const STEP_BYTES: usize = 64 * 1024;

pub(super) enum Piece {
    Bytes(Bytes),
    File {
        path: Arc<Path>,
        /// The file, once it was opened.
        opened: Option<File>,
        length: Option<u64>,
    },
    Reader {
        /// The reader. The mutex is never locked: it only makes the call `Sync`.
        reader: Mutex<Pin<Box<dyn AsyncRead + Send>>>,
        length: Option<u64>,
    },
}

/// The reason for which content was not sent.
pub(super) enum Failure {
    /// The source of the content failed.
    Source(Error),
    /// The stream or the connection took no more, for this reason if there is one; there may be an answer
    /// with more.
    Stream(Option<Error>),
}

impl Piece {
    pub(super) fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::Bytes(bytes.into())
    }

    pub(super) fn file(path: PathBuf) -> Self {
        Self::File { path: path.into(), opened: None, length: None }
    }

    pub(super) fn reader(reader: impl AsyncRead + Send + 'static, length: Option<u64>) -> Self {
        Self::Reader { reader: Mutex::new(Box::pin(reader)), length }
    }

    pub(super) fn replay(&self) -> Option<Self> {
        match self {
            Self::Bytes(bytes) => Some(Self::Bytes(bytes.clone())),
            // The length that was stated first holds for every try.
            Self::File { path, length, .. } => {
                Some(Self::File { path: path.clone(), opened: None, length: *length })
            }
            Self::Reader { .. } => None,
        }
    }

    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::File { length, .. } | Self::Reader { length, .. } => *length,
        }
    }

    /// Opens a file, and determines its length.
    pub(super) async fn open(&mut self) -> Result<(), Error> {
        let Self::File { path, opened: opened @ None, length } = self else { return Ok(()) };
        let named = |error| Error::io(Phase::Build, error).about(path.to_string_lossy());
        let file = File::open(&**path).await.map_err(named)?;
        let about = file.metadata().await.map_err(named)?;
        // A device or pipe has a length of 0, which would be stated as that of the content.
        if !about.is_file() {
            return Err(Error::usage("the file to be sent is a folder or a device: give a reader of it"));
        }
        length.get_or_insert(about.len());
        *opened = Some(file);
        Ok(())
    }

    /// Sends all of it.
    pub(super) async fn send(self, to: &mut Sink) -> Result<(), Failure> {
        match self {
            Self::Bytes(bytes) => to.write(&bytes).await,
            Self::Reader { reader, length } => {
                let reader = reader.into_inner().unwrap_or_else(PoisonError::into_inner);
                pump(reader, length, to).await
            }
            Self::File { opened: Some(file), length, .. } => pump(Box::pin(file), length, to).await,
            Self::File { .. } => Err(Failure::Source(Error::usage("the file was not opened"))),
        }
    }
}

/// The writer for content, with its observers.
pub(super) struct Sink {
    writer: BodyWriter,
    sent: Option<Arc<AtomicU64>>,
    observer: Option<Observer>,
}

impl Sink {
    /// Creates the sink, and resets the count of sent bytes.
    pub(super) fn new(writer: BodyWriter, sent: Option<Arc<AtomicU64>>, observer: Option<Observer>) -> Self {
        if let Some(sent) = &sent {
            sent.store(0, Relaxed);
        }
        Self { writer, sent, observer }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write(bytes).await.map_err(|error| Failure::Stream(Some(error)))?;
        tell(self.sent.as_ref(), self.observer.as_ref(), bytes);
        Ok(())
    }

    /// Sends these bytes and the end.
    pub(super) async fn finish(self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.finish_content(bytes).await.map_err(|error| Failure::Stream(Some(error)))?;
        tell(self.sent.as_ref(), self.observer.as_ref(), bytes);
        Ok(())
    }
}

fn tell(sent: Option<&Arc<AtomicU64>>, observer: Option<&Observer>, bytes: &[u8]) {
    if let Some(sent) = sent {
        sent.fetch_add(bytes.len() as u64, Relaxed);
    }
    if let Some(observer) = observer.filter(|_| !bytes.is_empty()) {
        observer(bytes);
    }
}

async fn pump(
    mut reader: Pin<Box<dyn AsyncRead + Send>>,
    length: Option<u64>,
    to: &mut Sink,
) -> Result<(), Failure> {
    let mut left = length.unwrap_or(u64::MAX);
    let mut bytes = vec![0; STEP_BYTES.min(usize::try_from(left).unwrap_or(STEP_BYTES))];
    while left > 0 {
        // The server has answered: the rest would be read from the source for nothing.
        if to.writer.is_answered() {
            return Err(Failure::Stream(None));
        }
        let step = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = reader.read(&mut bytes[..step]).await.map_err(|error| Failure::Source(source(error)))?;
        if read == 0 {
            break;
        }
        to.write(&bytes[..read]).await?;
        left -= read as u64;
    }
    if left > 0 && length.is_some() {
        let short = Error::usage("the content is shorter than was stated (RFC 9110 §8.6)");
        return Err(Failure::Source(short.during(Phase::Send)));
    }
    Ok(())
}

/// Returns the failure of the reader or file.
fn source(error: io::Error) -> Error {
    let cause = Cause::Io(error.kind(), error.raw_os_error());
    Error::new(Phase::Build, cause, Retry::Pointless)
        .because(error)
        .with_work("the content could not be read")
}
