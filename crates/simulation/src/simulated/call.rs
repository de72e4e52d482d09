//! How callers call: as the script of the call says. What they get is held against it.

use std::sync::Arc;

use alula::h2::ErrorCode;
use alula::{BodyWriter, Call, Cause, Client, Error, PendingResponse, Response, Retry, Status, Version};
use tokio::time::{Duration, Instant, sleep};

use super::answer::{check_trailers, send_pieces, upload_number};
use super::giving_up::Patience;
use super::log::{Actor, lock};
use super::script::{Answer, Pieces, Script, Upload};
use super::world::World;
use crate::content::{Expected, content};

/// The time that a call may take where the network may fall silent and nobody asks whether the peer is there.
const DEADLINE: Duration = Duration::from_secs(5);
/// How much later than its deadline a call may fail: the clock counts milliseconds, and others may have their
/// turn first.
const DEADLINE_SLACK: Duration = Duration::from_millis(5);
/// Pieces before which a caller that is slow waits.
const PAUSES_MAX: usize = 5;

/// One client of a run, as its callers share it.
pub(super) struct Party {
    pub(super) world: Arc<World>,
    pub(super) client: Client,
    pub(super) index: u32,
}

impl Party {
    fn setting(&self) -> &super::world::ClientSetting {
        &self.world.setting.clients[self.index as usize]
    }

    /// Makes the call with this number; what comes of it is noted.
    pub(super) async fn call(&self, number: u32) {
        lock(&self.world.calls).entry(number).or_default().client = self.index;
        let mut script = self.world.script(number);
        if self.world.setting.has_blows && !self.setting().asks {
            script.deadline.get_or_insert(DEADLINE);
        }
        sleep(script.rests).await;
        let (log, actor) = (&self.world.log, Actor::Caller(number));
        log.note(actor, "calls", 0);
        let began = Instant::now();
        let rng = self.world.rng(number, 1);
        let outcome =
            Patience::new(self.carry_out(&script), script.given_up, (self.world.clone(), self.index), rng)
                .await;
        let mut tally = lock(&self.world.tally);
        match outcome {
            None => {
                tally.given_up += 1;
                log.note(actor, "gives up", 0);
            }
            Some(Ok(())) => {
                tally.answered += 1;
                log.note(actor, "is answered", 0);
            }
            Some(Err(error)) => {
                tally.failed += 1;
                drop(tally);
                log.note(actor, "fails", error.retry() as u64);
                self.judge(&script, began.elapsed(), &error);
            }
        }
    }

    async fn carry_out(&self, script: &Script) -> Result<(), Error> {
        let port = 1_000 + self.setting().server;
        let url = format!("http://client-{}:{port}/{}", self.index, script.number);
        let mut call = self.client.request(script.method, &url).header("x-call", script.number.to_string());
        if let Some(deadline) = script.deadline {
            call = call.timeout(deadline);
        }
        match script.upload {
            Upload::None => self.read(script, call.send().await?).await,
            Upload::Whole(bytes) => {
                let content = content(upload_number(script.number), bytes);
                self.read(script, call.send_body(content).await?).await
            }
            Upload::Pieces(..) => self.send_and_read(script, call).await,
        }
    }

    /// Sends the content while the answer is read. An answer may come before the content ends, which then is
    /// not needed.
    async fn send_and_read(&self, script: &Script, call: Call<'_>) -> Result<(), Error> {
        let Upload::Pieces(bytes, pieces) = script.upload else { return Ok(()) };
        let (writer, pending) = call.open().await?;
        let number = upload_number(script.number);
        let read = self.read_pending(script, pending);
        if script.breaks_off {
            let bytes = &content(number, bytes)[..bytes / 2];
            return tokio::join!(break_off(writer, bytes, pieces), read).1;
        }
        tokio::join!(send_pieces(script, writer, number, bytes, pieces), read).1
    }

    async fn read_pending(&self, script: &Script, pending: PendingResponse) -> Result<(), Error> {
        self.read(script, pending.response().await?).await
    }

    async fn read(&self, script: &Script, mut response: Response) -> Result<(), Error> {
        if script.answer == Answer::Not {
            return self.expect(script, "status", response.status() == Status::INTERNAL_SERVER_ERROR);
        }
        self.expect(script, "status", response.status() == Status::OK)?;
        let number = script.number.to_string();
        self.expect(script, "number", response.headers().get("x-call") == Some(number.as_bytes()))?;
        let mut expected = match script.answer {
            Answer::Echo => Expected::new(upload_number(script.number), script.upload.bytes()),
            _ if script.method == "HEAD" => Expected::new(0, 0),
            _ => Expected::new(script.number.into(), script.bytes),
        };
        let mut space = vec![0; script.reads_at_most];
        for piece in 0.. {
            if piece < PAUSES_MAX {
                sleep(script.reads_after).await;
            }
            let bytes = self.read_piece(script, &mut response, &mut space, &mut expected).await?;
            if bytes == 0 {
                break;
            }
            lock(&self.world.tally).bytes += bytes as u64;
        }
        self.expect(script, "end", expected.left() == 0)?;
        let may_have_trailers = matches!(script.answer, Answer::Echo | Answer::Pieces(_));
        check_trailers(&self.world, script, may_have_trailers, response.body()).await?;
        self.expect(script, "end, which should have been a reset,", script.answer != Answer::Half)
    }

    async fn read_piece(
        &self,
        script: &Script,
        response: &mut Response,
        space: &mut [u8],
        expected: &mut Expected,
    ) -> Result<usize, Error> {
        let piece = if space.is_empty() {
            response.body().chunk().await?.unwrap_or_default()
        } else {
            let bytes = response.body().read(space).await?;
            &space[..bytes]
        };
        self.expect(script, "content", expected.take(piece).is_ok())?;
        Ok(piece.len())
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends the reading where it stands")]
    fn expect(&self, script: &Script, what: &str, is_right: bool) -> Result<(), Error> {
        if !is_right {
            self.world.log.find(format!("call {}: the {what} is not that of its answer", script.number));
        }
        Ok(())
    }

    /// A failure needs a reason.
    fn judge(&self, script: &Script, took: Duration, error: &Error) {
        let is_safe = error.retry() == Retry::Safe;
        lock(&self.world.calls).entry(script.number).or_default().is_safe = is_safe;
        if !self.has_reason(script, took, error, is_safe) {
            let number = script.number;
            self.world
                .log
                .find(format!("call {number} failed without a reason after {took:?}: {error}; {script:?}"));
        }
    }

    fn is_http1(&self) -> bool {
        self.world.setting.version == Version::Http1
    }

    /// Returns true if the server may have ended the connection while the request was on its way: then it has
    /// not handled it.
    fn met_an_end(&self, number: u32) -> bool {
        let server = self.setting().server;
        let ends = self.world.has_stopped(server) || self.world.ends_idle_ones(server);
        ends && lock(&self.world.calls).get(&number).is_some_and(|call| call.handled == 0)
    }

    fn has_reason(&self, script: &Script, took: Duration, error: &Error, is_safe: bool) -> bool {
        let has_stopped = self.world.has_stopped(self.setting().server);
        match error.cause() {
            Cause::Timeout if script.deadline.is_some_and(|deadline| took >= deadline) => {
                !script.is_prompt()
                    || script.deadline.is_some_and(|deadline| took <= deadline + DEADLINE_SLACK)
            }
            // A server may take fewer streams than a client opens before it hears of that; the request may
            // have been sent before, on a connection that was hurt.
            Cause::Reset(ErrorCode::REFUSED_STREAM) => {
                is_safe || (script.is_idempotent() && self.world.wires.has_hurt(self.index))
            }
            Cause::Reset(_) if script.answer == Answer::Half => true,
            Cause::Unfinished if script.breaks_off => true,
            // HTTP/1.1 has no other way of saying that an answer is not whole.
            Cause::Http1(_) | Cause::Closed | Cause::Io(..)
                if self.is_http1() && script.answer == Answer::Half =>
            {
                true
            }
            _ if self.world.wires.has_hurt(self.index) => true,
            _ => {
                let was_not_taken = self.world.wires.was_not_taken(self.index);
                has_stopped && (is_safe || was_not_taken || self.world.setting.has_blows)
                    || self.met_an_end(script.number)
            }
        }
    }
}

/// Sends content piece by piece, and drops the writer before the message is whole.
async fn break_off(mut writer: BodyWriter, bytes: &[u8], pieces: Pieces) {
    for piece in bytes.chunks(pieces.bytes) {
        if writer.write(piece).await.is_err() {
            return;
        }
        sleep(pieces.pause).await;
    }
}
