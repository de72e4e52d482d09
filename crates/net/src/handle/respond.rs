//! Complete answers: date, head, content and the end of the stream under one lock.

use alula_fields::{FieldFlags, FieldSection, Head, KnownName, ResponseHead, Status};
use tokio::time::Instant;

use crate::{
    connection::{Connection, stream::slot::Sides},
    drive::shared::Conn,
    error::Error,
    handle::{body::Body, stream::Stream, writer::Sent},
    message::{content::Content, date},
};

/// The head of an answer, and the content of its request if nobody reads on.
pub struct WholeAnswer {
    /// The status.
    pub status: Status,
    /// The fields, held until they are given back; `None` stands for an empty section.
    pub head: Option<Box<Head>>,
    /// The content of the request, held until the answer is sent: dropping unread content would reset the
    /// stream.
    pub received: Option<Body>,
}

impl WholeAnswer {
    /// Returns the fields, to be changed.
    #[inline]
    pub fn fields_mut(&mut self) -> &mut FieldSection {
        &mut self.head.get_or_insert_default().fields
    }

    /// Returns the head to send.
    #[inline]
    pub fn head(&self) -> ResponseHead<'_> {
        const NONE: &FieldSection = &FieldSection::new();
        ResponseHead { status: self.status, fields: self.head.as_ref().map_or(NONE, |head| &head.fields) }
    }

    /// Returns true if the content of the request may still be read.
    #[inline]
    pub fn reads_on(&self) -> bool {
        self.received.is_none()
    }
}

impl Stream {
    /// Sends an answer, dated unless it has a date, with as much of its content as can be sent at once;
    /// `sent` says how much that was. If that is all, the stream, the head and the content of the request are
    /// given back under the same lock. Returns none when [`write`](Self::write) has to send the rest, with
    /// which the message ends; nothing is given back then.
    ///
    /// A client that waits to be asked for its content is asked before a head of 2xx, if that is still read.
    /// Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`begin_answer`](Self::begin_answer).
    pub fn answer_whole(
        &mut self,
        answer: &mut WholeAnswer,
        content: &[u8],
        sent: &mut usize,
    ) -> Result<Option<Sent>, Error> {
        let (at, sides) = (self.at(), self.sides());
        let mut connection = self.conn().lock();
        put_date(answer.fields_mut(), self.conn(), &connection);
        let result = connection.answer(at, &answer.head(), content, answer.reads_on(), sent);
        let is_whole = matches!(result, Ok(true));
        if is_whole {
            let received = answer.received.as_mut().map(Body::take_held);
            let (read, content, trailers) = received.unwrap_or((Sides::NONE, Content::default(), None));
            connection.take_back(at, sides.with(read), answer.head.take(), content);
            trailers.into_iter().for_each(|head| connection.spares.give_head(head));
        }
        connection.wake_task_of_server();
        self.conn().unlock_and_wake(connection);
        if is_whole {
            self.let_go();
        }
        result.map(|is_whole| is_whole.then(Sent::whole))
    }

    /// Adds the date to the fields of an answer, unless they have one.
    pub fn date(&self, fields: &mut FieldSection) {
        put_date(fields, self.conn(), &self.conn().lock());
    }
}

/// Adds the date. Within a run of a server's task it is that of the time at which the run began, which reads
/// no clock.
#[inline]
fn put_date(fields: &mut FieldSection, conn: &Conn, connection: &Connection) {
    if fields.contains_known(KnownName::DATE) {
        return;
    }
    let now = if connection.hand_over.task_runs() { conn.instant(connection.now) } else { Instant::now() };
    // A date needs no check, and a section has always room for one.
    date::with(now, |date| fields.push_known(KnownName::DATE, date, FieldFlags::NONE));
}
