//! Content in several pieces that is sent as one.

use alula_net::{Error, Sent, Stream};

use crate::exchange::reply::Reply;

impl Reply {
    /// Sends several pieces as one content, with the sum of their lengths as its length. Head and pieces
    /// leave in one write, as far as there is room for them.
    ///
    /// HEAD, 204, 205 and 304 are as for [`send`](Self::send). Dropping the future part-way resets the
    /// stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).send_parts(&[b"{\"value\":", b"1", b"}"]).await
    /// # }
    /// ```
    pub async fn send_parts(mut self, parts: &[&[u8]]) -> Result<Sent, Error> {
        let filtered = if self.is_filtered() { self.filter_whole(parts)? } else { None };
        let one = filtered.as_deref().map(|made| [&made[..]]);
        let parts = one.as_ref().map_or(parts, |one| &one[..]);
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        let parts = if self.state_length(bytes) { parts } else { &[] };
        self.complete_and_date()?;
        let mut sent = 0;
        let reads_on = self.answer.reads_on();
        let is_whole =
            self.responder.stream()?.answer_parts(&self.answer.head(), parts, reads_on, &mut sent)?;
        self.responder.note_answered(self.answer.status);
        self.attach();
        let stream = self.responder.take_stream()?;
        if !is_whole {
            send_rest(&stream, parts, sent).await?;
        }
        Ok(self.finish(stream))
    }
}

/// Sends the rest after the first `sent` bytes; the last non-empty piece ends the message.
async fn send_rest(stream: &Stream, parts: &[&[u8]], mut sent: usize) -> Result<(), Error> {
    let last = parts.iter().rposition(|part| !part.is_empty());
    for (index, part) in parts.iter().enumerate() {
        let mut of_part = sent.min(part.len());
        sent -= of_part;
        if of_part < part.len() {
            stream.write(part, Some(index) == last, &mut of_part).await?;
        }
    }
    Ok(())
}
