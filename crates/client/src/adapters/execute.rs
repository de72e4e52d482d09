//! The sending of requests of the `http` crate.

use alula_fields::{Decimal, FieldSection, KnownName};
use alula_net::{BodyWriter, Error, Version};
use http::{HeaderMap, Uri};
use http_body::Body;

use super::{
    content::ResponseContent,
    error::ExecuteError,
    gather::{Gathered, SHORT_MAX},
    upload::{Upload, until_response, upload},
};
use crate::{
    client::Client,
    request::{Request, call::Call},
    response::Response,
    send::pending::PendingResponse,
};

impl Client {
    /// Sends this request and waits for the head of its response.
    ///
    /// The URI must be absolute; a field `host` takes the place of its authority. Content of a stated
    /// length of up to 64 KiB is gathered and sent like [`Call::send_body`] does; other content is sent as
    /// it comes, while the response is waited for and read, and the request is not sent again then. Its
    /// costs stand at [the module](crate::adapters).
    ///
    /// Dropping the future cancels the request.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = alula::Client::new()?;
    /// let request = http::Request::post("https://example.com/words").body(String::from("some words"))?;
    /// let response = client.execute(request).await?;
    /// println!("{} {:?}", response.status(), response.headers());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Call::send`]; or the content of the request failed.
    pub async fn execute<B>(
        &self,
        request: http::Request<B>,
    ) -> Result<http::Response<ResponseContent>, ExecuteError>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let url = url_of(&parts.uri)?;
        let mut call = self.request(parts.method.as_str(), &url);
        take_headers(&mut call, &parts.headers)?;
        let (response, upload) = send(call, body).await?;
        Ok(into_http(response, upload)?)
    }
}

async fn send<B>(mut call: Call<'_>, body: B) -> Result<(Response, Option<Upload>), ExecuteError>
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.is_end_stream() {
        return Ok((call.send().await?, None));
    }
    let length = body.size_hint().exact();
    // Content of unknown or large size is streamed: it cannot be sent again, and needs no room.
    if length.is_none_or(|bytes| bytes > SHORT_MAX) {
        if let Some(bytes) = length {
            take_length(&mut call, bytes)?;
        }
        let expects = call.request.expects_continue();
        let (writer, pending) = call.open().await?;
        if expects && !pending.go_ahead().await? {
            return declined(pending, writer).await;
        }
        return until_response(pending, Box::pin(upload(body, writer))).await;
    }
    let gathered = Gathered::from(body).await?;
    // Without trailers the content goes out with the head, and again where that is safe.
    let Some(trailers) = &gathered.trailers else {
        return Ok((call.send_body(gathered.content()).await?, None));
    };
    let expects = call.request.expects_continue();
    let (mut writer, pending) = call.open().await?;
    if expects && !pending.go_ahead().await? {
        return declined(pending, writer).await;
    }
    writer.write(gathered.content()).await?;
    writer.finish_with(&FieldSection::try_from(trailers)?).await?;
    Ok((pending.response().await?, None))
}

/// The response to a request whose content the server has declined.
async fn declined(
    pending: PendingResponse,
    writer: BodyWriter,
) -> Result<(Response, Option<Upload>), ExecuteError> {
    let response = pending.response().await?;
    response.end_sending();
    drop(writer);
    Ok((response, None))
}

/// The URL as text: one allocation.
fn url_of(uri: &Uri) -> Result<String, Error> {
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(Error::usage("the URI of the request needs a scheme and a host, as http://a.example/"));
    };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut url = String::with_capacity(scheme.len() + authority.as_str().len() + path.len() + 3);
    [scheme, "://", authority.as_str(), path].iter().for_each(|part| url.push_str(part));
    Ok(url)
}

fn into_http(response: Response, upload: Option<Upload>) -> Result<http::Response<ResponseContent>, Error> {
    let headers = HeaderMap::try_from(response.headers())?;
    let (status, version) = (response.status(), response.version());
    let mut made = http::Response::new(ResponseContent::new(response, upload));
    *made.status_mut() = status.into();
    *made.version_mut() = match version {
        Version::Http1 => http::Version::HTTP_11,
        Version::Http2 => http::Version::HTTP_2,
    };
    *made.headers_mut() = headers;
    Ok(made)
}

/// Adds fields to a call, the sensitive ones as such.
fn take_headers(call: &mut Call<'_>, map: &HeaderMap) -> Result<(), Error> {
    let Some(fields) = headers_mut(call) else { return Ok(()) };
    for (name, value) in map {
        match value.is_sensitive() {
            true => fields.append_sensitive(name.as_str(), value)?,
            false => fields.append(name.as_str(), value)?,
        }
    }
    Ok(())
}

/// States the length of the content, unless a field has.
fn take_length(call: &mut Call<'_>, bytes: u64) -> Result<(), Error> {
    let fields = headers_mut(call).filter(|fields| !fields.contains(KnownName::CONTENT_LENGTH));
    if let Some(fields) = fields {
        fields.append(KnownName::CONTENT_LENGTH, Decimal::of(bytes).as_bytes())?;
    }
    Ok(())
}

/// Returns the fields of the request, or `None` if the call has already failed; sending it returns that
/// error.
fn headers_mut<'c>(call: &'c mut Call<'_>) -> Option<&'c mut FieldSection> {
    let Request::Plain(plain) = &mut call.request else { return None };
    Some(&mut plain.head_mut(&call.client).fields)
}
