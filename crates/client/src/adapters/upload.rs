//! Content of a request that is sent as it comes, beside the response.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
};

use alula_fields::FieldSection;
use bytes::Buf;
use http_body::Body;

use super::{error::ExecuteError, gather::next};
use crate::{BodyWriter, PendingResponse, Response};

/// The sending of a content, whatever it comes from.
pub(super) type Upload = Pin<Box<dyn Future<Output = Result<(), ExecuteError>> + Send>>;

/// Sends what comes from `body`, and its trailers.
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
        let octets = piece.len();
        data.advance(octets);
    }
    Ok(())
}

/// Sends until the head of the response has come; what is left to be sent then comes along.
pub(super) async fn until_response(
    pending: PendingResponse,
    upload: Upload,
) -> Result<(Response, Option<Upload>), ExecuteError> {
    let (mut response, mut upload) = (pin!(pending.response()), Some(upload));
    let response = poll_fn(|cx| {
        if let Poll::Ready(response) = response.as_mut().poll(cx) {
            return Poll::Ready(response.map_err(ExecuteError::from));
        }
        let Some(sending) = &mut upload else { return Poll::Pending };
        match sending.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => {
                upload = None;
                Poll::Pending
            }
            // Why the server does not want the content is in its response, if there is one.
            Poll::Ready(Err(error)) => match response.as_mut().poll(cx) {
                Poll::Ready(Ok(response)) if matches!(error, ExecuteError::Http(_)) => {
                    upload = None;
                    Poll::Ready(Ok(response))
                }
                _ => Poll::Ready(Err(error)),
            },
        }
    })
    .await?;
    if response.declines_content() {
        response.end_sending();
        upload = None;
    }
    Ok((response, upload))
}
