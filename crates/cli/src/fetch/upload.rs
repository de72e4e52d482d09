//! Content on its way out: a text, a file or stdin.

use std::{
    fs::File,
    io::{self, Read},
};

use alula::BodyWriter;

use crate::exit::{Failure, Outcome};

/// Octets read from a file at once.
const STEP: usize = 64 * 1024;

/// What is sent.
pub(crate) enum Upload {
    Text(Vec<u8>),
    File { file: File, name: String, length: Option<u64> },
    Stdin,
}

impl Upload {
    /// From what `--data` was given: `@FILE`, `@-`, or the text itself.
    pub(crate) fn open(data: &str) -> Result<Self, Failure> {
        let Some(name) = data.strip_prefix('@') else {
            return Ok(Self::Text(data.as_bytes().to_vec()));
        };
        if name == "-" {
            return Ok(Self::Stdin);
        }
        let failed = |error| Failure::local(name, &error);
        let file = File::open(name).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // A pipe or a device does not know.
        let length = about.is_file().then_some(about.len());
        Ok(Self::File { file, name: name.to_owned(), length })
    }

    /// How many octets there will be, where that is known before.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::Text(text) => Some(text.len() as u64),
            Self::File { length, .. } => *length,
            Self::Stdin => None,
        }
    }

    /// Sends all of it. What goes wrong on the way to the peer is left to the response to tell: the peer may have
    /// answered before it read everything.
    pub(crate) async fn send(self, writer: BodyWriter) -> Outcome {
        match self {
            Self::Text(text) => {
                drop(writer.finish_content(&text).await);
                Ok(())
            }
            Self::File { file, name, length } => send_from(Source::new(file, name, length), writer).await,
            Self::Stdin => send_from(Source::new(io::stdin(), "stdin".to_owned(), None), writer).await,
        }
    }
}

async fn send_from(mut source: Source, mut writer: BodyWriter) -> Outcome {
    loop {
        source = source.next().await?;
        if source.octets().is_empty() {
            drop(writer.finish().await);
            return Ok(());
        }
        if writer.write(source.octets()).await.is_err() {
            return Ok(());
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

    /// What the last step read; nothing at the end.
    fn octets(&self) -> &[u8] {
        &self.step[..self.filled]
    }

    async fn next(self) -> Result<Self, Failure> {
        let read = tokio::task::spawn_blocking(|| self.read()).await;
        read.map_err(|error| Failure::local("reading", &error.into()))?
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
    fn an_at_sign_names_a_file_or_stdin() {
        assert!(matches!(Upload::open("a=b"), Ok(Upload::Text(text)) if text == b"a=b"));
        assert!(matches!(Upload::open("@-"), Ok(Upload::Stdin)));
        let cargo_toml = concat!("@", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert!(Upload::open(cargo_toml).unwrap().length().unwrap() > 100);
        assert!(Upload::open("@no such file").is_err() && Upload::open("@.").is_err());
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
