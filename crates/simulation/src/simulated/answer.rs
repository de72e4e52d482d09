//! How servers answer: as the script of the call says.

use std::sync::Arc;

use alula::{Body, BodyWriter, Error, Exchange, FieldSection, Reply, Sent, Status};
use tokio::time::sleep;

use super::log::{Actor, lock};
use super::script::{Answer, Pieces, Script, Upload};
use super::world::World;
use crate::content::{Expected, content};

/// A date, so that none is taken from the system's clock.
const DATE: &str = "Sat, 29 Feb 2020 00:00:00 GMT";

/// The content of the request with this number; that of the answer has the number itself.
pub(super) fn upload_number(number: u32) -> u64 {
    u64::from(number) + (1 << 32)
}

/// Answers one request.
pub(super) async fn answer(world: Arc<World>, exchange: Exchange) -> Result<Sent, Error> {
    let number: u32 = exchange.request().path()[1..].parse().expect("a path is the number of a call");
    lock(&world.calls).entry(number).or_default().handled += 1;
    let actor = Actor::Handler(number);
    world.log.note(actor, "begins", 0);
    let script = world.script(number);
    let result = carry_out(&world, &script, exchange).await;
    world.log.note(actor, if result.is_ok() { "has answered" } else { "fails" }, 0);
    result
}

async fn carry_out(world: &World, script: &Script, mut exchange: Exchange) -> Result<Sent, Error> {
    sleep(script.thinks).await;
    match script.answer {
        Answer::Whole => {
            read_all(world, script, exchange.body()).await?;
            let bytes = content(script.number.into(), script.bytes);
            begin(script, exchange).send(bytes).await
        }
        Answer::Pieces(pieces) => {
            read_all(world, script, exchange.body()).await?;
            let writer = begin(script, exchange).stream().await?;
            send_pieces(script, writer, script.number.into(), script.bytes, pieces).await
        }
        Answer::Echo => echo(world, script, exchange).await,
        Answer::Early => {
            let bytes = content(script.number.into(), script.bytes);
            begin(script, exchange).send(bytes).await
        }
        Answer::Not => Err(Error::usage("the script says so")),
        Answer::Half => {
            let mut writer = begin(script, exchange).stream().await?;
            writer.write(&content(script.number.into(), script.bytes)[..script.bytes / 2]).await?;
            Err(Error::usage("the script says so"))
        }
    }
}

fn begin(script: &Script, exchange: Exchange) -> Reply {
    exchange.respond(Status::OK).header("date", DATE).header("x-call", script.number.to_string())
}

/// Sends content piece by piece, from either side.
pub(super) async fn send_pieces(
    script: &Script,
    mut writer: BodyWriter,
    number: u64,
    bytes: usize,
    pieces: Pieces,
) -> Result<Sent, Error> {
    for piece in content(number, bytes).chunks(pieces.bytes) {
        writer.write(piece).await?;
        sleep(pieces.pause).await;
    }
    finish(script, writer).await
}

async fn finish(script: &Script, writer: BodyWriter) -> Result<Sent, Error> {
    if !script.has_trailers {
        return writer.finish().await;
    }
    let mut trailers = FieldSection::new();
    trailers.append("x-trailer", script.number.to_string())?;
    writer.finish_with(&trailers).await
}

/// Reads the request's content, which has to be what the script says.
async fn read_all(world: &World, script: &Script, body: &mut Body) -> Result<(), Error> {
    let mut expected = Expected::new(upload_number(script.number), script.upload.bytes());
    while let Some(piece) = body.chunk().await? {
        take(world, script, &mut expected, piece);
    }
    expect_end(world, script, &expected);
    check_trailers(world, script, matches!(script.upload, Upload::Pieces(..)), body).await
}

async fn echo(world: &World, script: &Script, exchange: Exchange) -> Result<Sent, Error> {
    let mut expected = Expected::new(upload_number(script.number), script.upload.bytes());
    let (_request, mut body, responder) = exchange.split();
    let reply = responder.respond(Status::OK).header("date", DATE);
    let mut writer = reply.header("x-call", script.number.to_string()).stream().await?;
    while let Some(piece) = body.chunk().await? {
        take(world, script, &mut expected, piece);
        writer.write(piece).await?;
    }
    expect_end(world, script, &expected);
    finish(script, writer).await
}

fn take(world: &World, script: &Script, expected: &mut Expected, piece: &[u8]) {
    lock(&world.tally).bytes += piece.len() as u64;
    if expected.take(piece).is_err() {
        world.log.find(format!("call {}: the request's content is not what was sent", script.number));
    }
}

fn expect_end(world: &World, script: &Script, expected: &Expected) {
    if expected.left() > 0 {
        world.log.find(format!("call {}: the request ended {} bytes early", script.number, expected.left()));
    }
}

/// Trailers come as the script says, when this message has them at all.
pub(super) async fn check_trailers(
    world: &World,
    script: &Script,
    may_have: bool,
    body: &mut Body,
) -> Result<(), Error> {
    let trailers = body.trailers().await?;
    let value = trailers.and_then(|fields| fields.get("x-trailer"));
    let wanted = (may_have && script.has_trailers).then(|| script.number.to_string());
    if value != wanted.as_deref().map(str::as_bytes) {
        world.log.find(format!("call {}: trailers {value:?} instead of {wanted:?}", script.number));
    }
    Ok(())
}
