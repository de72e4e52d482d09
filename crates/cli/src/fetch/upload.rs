//! Content on its way out: a text, a file or stdin.

use std::{
    cell::Cell,
    fs::File,
    io::{self, Read},
    path::Path,
};

use alula::BodyWriter;

use super::content::Octets;
use crate::exit::{Failure, Outcome};

/// Octets read from a file at once.
const STEP: usize = 64 * 1024;

/// What is sent: its pieces, opened, in their order.
pub(super) struct Upload(Vec<Piece>);

enum Piece {
    Text(Vec<u8>),
    File { file: File, name: String, length: Option<u64> },
    Stdin,
}

impl Upload {
    /// Opens what is named.
    pub(super) fn open(octets: &Octets) -> Result<Self, Failure> {
        let pieces = match octets {
            Octets::Pieces(pieces) => {
                let opened: Result<Vec<Self>, Failure> = pieces.iter().map(Self::open).collect();
                opened?.into_iter().flat_map(|upload| upload.0).collect()
            }
            Octets::Text(text) => vec![Piece::Text(text.clone())],
            Octets::Stdin => vec![Piece::Stdin],
            Octets::File(path) => vec![Piece::open(path)?],
        };
        Ok(Self(pieces))
    }

    /// How many octets there will be, where that is known before.
    pub(super) fn length(&self) -> Option<u64> {
        self.0.iter().map(Piece::length).sum()
    }

    /// All of it in memory, for what may be sent more than once.
    pub(super) async fn read(self) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        for piece in self.0 {
            let mut source = piece.source();
            while let Some(next) = source.next().await? {
                all.extend_from_slice(next.octets());
                source = next;
            }
        }
        Ok(all)
    }

    /// Sends all of it. What goes wrong on the way to the peer is left to the response to tell: the peer may have
    /// answered before it read everything.
    pub(super) async fn send(self, mut writer: BodyWriter, sent: &Cell<u64>) -> Outcome {
        if let [Piece::Text(text)] = &*self.0 {
            // One write with the head.
            if writer.finish_content(text).await.is_ok() {
                sent.set(text.len() as u64);
            }
            return Ok(());
        }
        for piece in self.0 {
            let mut source = piece.source();
            while let Some(next) = source.next().await? {
                if writer.write(next.octets()).await.is_err() {
                    return Ok(());
                }
                sent.set(sent.get() + next.octets().len() as u64);
                source = next;
            }
        }
        drop(writer.finish().await);
        Ok(())
    }
}

impl Piece {
    fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let failed = |error| Failure::local(&name, &error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // A pipe or a device does not know.
        let length = about.is_file().then_some(about.len());
        Ok(Self::File { file, name, length })
    }

    fn length(&self) -> Option<u64> {
        match self {
            Self::Text(text) => Some(text.len() as u64),
            Self::File { length, .. } => *length,
            Self::Stdin => None,
        }
    }

    fn source(self) -> Source {
        match self {
            Self::Text(text) => {
                let length = text.len() as u64;
                Source::new(io::Cursor::new(text), "the text".to_owned(), Some(length))
            }
            Self::File { file, name, length } => Source::new(file, name, length),
            Self::Stdin => Source::new(io::stdin(), "stdin".to_owned(), None),
        }
    }
}

/// What is read step by step, on a thread of its own: a pipe may have nothing for a long time, and the connection
/// must live meanwhile.
struct Source {
    from: Box<dyn Read + Send>,
    name: String,
    /// What is still missing of the length that was announced.
    left: Option<u64>,
    step: Vec<u8>,
    filled: usize,
}

impl Source {
    fn new(from: impl Read + Send + 'static, name: String, length: Option<u64>) -> Self {
        Self { from: Box::new(from), name, left: length, step: vec![0; STEP], filled: 0 }
    }

    /// What the last step read.
    fn octets(&self) -> &[u8] {
        &self.step[..self.filled]
    }

    /// The next step; nothing at the end.
    async fn next(self) -> Result<Option<Self>, Failure> {
        let read = tokio::task::spawn_blocking(|| self.read()).await;
        let read = read.map_err(|error| Failure::local("reading", &error.into()))??;
        Ok(Some(read).filter(|read| !read.octets().is_empty()))
    }

    /// Reads no more than was announced, and no less.
    fn read(mut self) -> Result<Self, Failure> {
        let most = self.left.map_or(STEP, |left| left.min(STEP as u64) as usize);
        let read = self.from.read(&mut self.step[..most]);
        self.filled = read.map_err(|error| Failure::local(&self.name, &error))?;
        if let Some(left) = &mut self.left {
            if self.filled == 0 && *left > 0 {
                return Err(Failure::local(&self.name, &io::ErrorKind::UnexpectedEof.into()));
            }
            *left -= self.filled as u64;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_its_length_and_a_folder_is_none() {
        let open = |path: &str| Upload::open(&Octets::File(path.into()));
        assert!(open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap().length().unwrap() > 100);
        assert_eq!(Upload::open(&Octets::Text(b"four".to_vec())).unwrap().length(), Some(4));
        assert_eq!(Upload::open(&Octets::Stdin).unwrap().length(), None);
        assert!(open("no such file").is_err() && open(".").is_err());
    }

    #[test]
    fn a_file_that_shrinks_is_an_error_and_one_that_grows_is_cut() {
        let source = |length| Source::new(&b"0123456789"[..], "ten".to_owned(), length);
        assert_eq!(source(None).read().unwrap().octets(), b"0123456789");
        let four = source(Some(4)).read().unwrap();
        assert_eq!(four.octets(), b"0123");
        assert!(four.read().unwrap().octets().is_empty());
        assert!(source(Some(11)).read().unwrap().read().is_err());
    }
}
