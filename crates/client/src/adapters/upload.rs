//! Content of a request that is sent while the response arrives.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
};

use alula_fields::FieldSection;
use alula_net::BodyWriter;
use bytes::Buf;
use http_body::Body;

use super::{error::ExecuteError, gather::next};
use crate::{response::Response, send::pending::PendingResponse};

/// The sending of content from any source.
pub(super) type Upload = Pin<Box<dyn Future<Output = Result<(), ExecuteError>> + Send>>;

/// Sends the content of `body`, and its trailers.
pub(super) async fn upload<B>(body: B, mut writer: BodyWriter) -> Result<(), ExecuteError>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = pin!(body);
    while let Some(frame) = next(body.as_mut()).await? {
        match frame.into_data() {
            Ok(data) => write(&mut writer, data).await?,
            Err(frame) => {
                let Ok(trailers) = frame.into_trailers() else { continue };
                writer.finish_with(&FieldSection::try_from(&trailers)?).await?;
                return Ok(());
            }
        }
    }
    writer.finish().await?;
    Ok(())
}

async fn write(writer: &mut BodyWriter, mut data: impl Buf) -> Result<(), ExecuteError> {
    while data.has_remaining() {
        let piece = data.chunk();
        writer.write(piece).await?;
        let bytes = piece.len();
        data.advance(bytes);
    }
    Ok(())
}

/// Sends until the head of the response has come; the rest of the content then belongs to the response.
pub(super) async fn until_response(
    pending: PendingResponse,
    upload: Upload,
) -> Result<(Response, Option<Upload>), ExecuteError> {
    let (mut response, mut upload) = (pin!(pending.response()), Some(upload));
    let response = poll_fn(|cx| {
        // The content first: a head that is held back ends the request if there is none.
        let sent = upload.as_mut().map_or(Poll::Pending, |sending| sending.as_mut().poll(cx));
        if sent.is_ready() {
            upload = None;
        }
        let response = response.as_mut().poll(cx);
        match (sent, response) {
            (Poll::Ready(Err(error @ ExecuteError::Content(_))), _) => Poll::Ready(Err(error)),
            // Why the server does not want the content is in its response, if there is one.
            (Poll::Ready(Err(error)), Poll::Pending | Poll::Ready(Err(_))) => Poll::Ready(Err(error)),
            (_, response) => response.map_err(ExecuteError::from),
        }
    })
    .await?;
    if response.declines_content() {
        response.end_sending();
        upload = None;
    }
    Ok((response, upload))
}
