//! Files as answers (RFC 9110 §13, §14).

use std::{ops::Range, path::PathBuf};

use alula_fields::{Decimal, FieldError, FieldFlags, FieldSection, KnownName};
use alula_net::{Error, Phase, Sent};

use crate::{
    conditional::Selection,
    exchange::reply::Reply,
    files::{OpenFile, ReadFile, content_coding, media_type, on_blocking_thread},
};

impl Reply {
    /// Sends a file as the request's conditions and its range have it, as
    /// [`send_conditional`](Self::send_conditional) does, with `content-type`, `content-length`,
    /// `last-modified` and `etag` unless the reply has them.
    ///
    /// The path is taken as it is: check what comes from a peer, for `..`, links and special names lead
    /// elsewhere. A file of at most 16 KiB is read when it is opened, and sent with its head; of a larger one
    /// nothing is read before the peer has room. On Linux what the system has in memory is opened and read at
    /// once; all else takes a thread for blocking work. Over HTTP/1.1 in clear text a file of more than 64
    /// KiB goes to the socket without a copy there . Allocates. Dropping
    /// the future part-way resets the stream.
    ///
    /// # Errors
    /// The status is not 200; the file cannot be opened, which [becomes](crate::IntoAnswer) 404 where there
    /// is none and 403 where it may not be read; or as [`send_file`](Self::send_file).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).header("cache-control", "max-age=60").file("site/index.html").await
    /// # }
    /// ```
    pub async fn file(self, path: impl Into<PathBuf>) -> Result<Sent, Error> {
        self.check_status()?;
        let path = path.into();
        let read = match ReadFile::open_cached(&path) {
            Ok(Some(read)) => Ok(read),
            Ok(None) => on_blocking_thread(move || ReadFile::open(path)).await,
            Err(error) => Err(error),
        };
        let read = read.map_err(|error| Error::io(Phase::Build, error))?;
        self.send_opened(&read.file, read.content).await
    }

    /// Sends a file that is open already, as [`file`](Self::file) does.
    ///
    /// # Errors
    /// The status is not 200; the file was changed, otherwise than at its end, or cannot be read, which
    /// resets the stream; or as
    /// [`send`](Self::send).
    pub async fn send_file(self, file: &OpenFile) -> Result<Sent, Error> {
        self.check_status()?;
        self.send_opened(file, None).await
    }

    /// Sends the file, whose content may have been read.
    async fn send_opened(mut self, file: &OpenFile, content: Option<Vec<u8>>) -> Result<Sent, Error> {
        describe_file(self.headers_mut(), file)?;
        let length = file.length();
        let selection = self.select(length, file.is_settled());
        self.describe(&selection, length)?;
        match selection {
            Selection::Whole => {
                self.headers_mut().set(KnownName::CONTENT_LENGTH, Decimal::of(length).as_bytes())?;
                match content {
                    Some(content) => self.send(content).await,
                    None => self.send_part_of(file, 0..length).await,
                }
            }
            Selection::Part(part) => self.send_part_of(file, part).await,
            Selection::Parts(parts) => self.send_parts_of(file, &parts).await,
            _ => self.send([]).await,
        }
    }

    /// Sends all of a file with any status.
    pub(crate) async fn send_whole(mut self, file: &OpenFile) -> Result<Sent, Error> {
        let length = file.length();
        self.headers_mut().set(KnownName::CONTENT_LENGTH, Decimal::of(length).as_bytes())?;
        self.send_part_of(file, 0..length).await
    }

    async fn send_part_of(self, file: &OpenFile, part: Range<u64>) -> Result<Sent, Error> {
        let mut writer = self.stream().await?;
        file.send_part(part, &mut writer).await?;
        writer.finish().await
    }

    async fn send_parts_of(mut self, file: &OpenFile, parts: &[Range<u64>]) -> Result<Sent, Error> {
        let multipart = self.divide(parts, file.length())?;
        let mut writer = self.stream().await?;
        for (index, part) in parts.iter().enumerate() {
            writer.write(multipart.head(index)).await?;
            file.send_part(part.clone(), &mut writer).await?;
        }
        writer.finish_content(multipart.close()).await
    }
}

/// Adds what is known of the file and not stated yet.
fn describe_file(headers: &mut FieldSection, file: &OpenFile) -> Result<(), FieldError> {
    if !headers.contains_known(KnownName::CONTENT_TYPE) {
        headers.append(KnownName::CONTENT_TYPE, media_type(file.path()))?;
        if let (false, Some(coding)) =
            (headers.contains_known(KnownName::CONTENT_ENCODING), content_coding(file.path()))
        {
            headers.append(KnownName::CONTENT_ENCODING, coding)?;
        }
    }
    if !headers.contains_known(KnownName::ETAG) {
        headers.push_known(KnownName::ETAG, file.etag().as_str().as_bytes(), FieldFlags::NONE);
    }
    if let (false, Some(modified)) = (headers.contains_known(KnownName::LAST_MODIFIED), file.modified()) {
        headers.append(KnownName::LAST_MODIFIED, httpdate::fmt_http_date(modified))?;
    }
    Ok(())
}
