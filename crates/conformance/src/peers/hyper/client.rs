//! hyper as a client.

use std::io;

use http_body_util::BodyExt as _;
use http_body_util::channel::Channel;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use tokio_rustls::TlsConnector;

use super::FIELD_SECTION_BYTES;
use crate::alula::Reach;
use crate::peers::driven::{Ask, Driven, Takes, Told};
use crate::tls;

type Content = Channel<Bytes, io::Error>;
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A client with one connection at a time.
pub struct Client {
    runtime: Runtime,
    base: String,
    tls: Option<TlsConnector>,
    connection: Option<SendRequest<Content>>,
    held: Option<Response<Incoming>>,
}

impl Driven for Client {
    fn start(base: &str, reach: &Reach<'_>) -> Self {
        let tls = match reach {
            Reach::Clear => None,
            Reach::Tls(certificates) => Some(tls::client_config(certificates).into()),
        };
        let runtime = RuntimeBuilder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        Self { runtime, base: base.to_owned(), tls, connection: None, held: None }
    }

    fn ask(&mut self, ask: &Ask) -> Told {
        let mut told = Told::default();
        let handle = self.runtime.handle().clone();
        if let Err(error) = handle.block_on(self.perform(ask, &mut told)) {
            told.error = error.to_string();
        }
        told
    }
}

impl Client {
    async fn perform(&mut self, ask: &Ask, told: &mut Told) -> Result<(), Failure> {
        if let Takes::Times(times) = ask.takes {
            return self.many(ask, times).await;
        }
        let held = self.held.take().filter(|_| ask.takes == Takes::Rest);
        let response = match held {
            Some(response) => response,
            None => send(self.connection().await?, &self.base, ask).await?,
        };
        match ask.takes {
            Takes::Head => self.held = Some(response),
            takes => read(response, takes, told).await?,
        }
        Ok(())
    }

    /// 20 at once, each after its last.
    async fn many(&mut self, ask: &Ask, times: usize) -> Result<(), Failure> {
        let connection = self.connection().await?;
        let some = || {
            let (connection, base, ask) = (connection.clone(), self.base.clone(), ask.clone());
            tokio::spawn(async move {
                for _ in 0..times / 20 {
                    let response = send(connection.clone(), &base, &ask).await?;
                    read(response, Takes::Whole, &mut Told::default()).await?;
                }
                Ok::<_, Failure>(())
            })
        };
        let tasks: Vec<_> = std::iter::repeat_with(some).take(20).collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    }

    /// The connection there is, or a new one when it takes no more requests.
    async fn connection(&mut self) -> Result<SendRequest<Content>, Failure> {
        if let Some(connection) = &mut self.connection
            && connection.ready().await.is_ok()
        {
            return Ok(connection.clone());
        }
        let authority = self.base.split("//").nth(1).and_then(|rest| rest.split('/').next());
        let authority = authority.expect("a URL has an authority").replace("localhost", "127.0.0.1");
        let socket = TcpStream::connect(authority).await?;
        socket.set_nodelay(true)?;
        let connection = match &self.tls {
            None => handshake(socket).await?,
            Some(tls) => handshake(tls.connect("localhost".try_into()?, socket).await?).await?,
        };
        Ok(self.connection.insert(connection).clone())
    }
}

async fn handshake(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Content>, Failure> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.max_header_list_size(FIELD_SECTION_BYTES);
    let (sender, connection) = builder.handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn send(
    mut connection: SendRequest<Content>,
    base: &str,
    ask: &Ask,
) -> Result<Response<Incoming>, Failure> {
    let (mut pen, body) = Channel::new(1);
    let method = if ask.method.is_empty() { "GET" } else { ask.method };
    let mut request = Request::builder().method(method).uri(format!("{base}{}", ask.path)).body(body)?;
    *request.headers_mut() = fields(&ask.fields)?;
    let (content, trailers) = (ask.content.clone(), fields(&ask.trailers)?);
    tokio::spawn(async move {
        // A server that does not want all of it says so in its answer.
        if let Some(content) = content {
            let _ = pen.send_data(content.into()).await;
        }
        if !trailers.is_empty() {
            let _ = pen.send_trailers(trailers).await;
        }
    });
    Ok(connection.send_request(request).await?)
}

async fn read(response: Response<Incoming>, takes: Takes, told: &mut Told) -> Result<(), Failure> {
    told.status = response.status().as_u16();
    told.fields = pairs(response.headers());
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) => told.content.extend_from_slice(&data),
            Err(frame) => told.trailers = frame.trailers_ref().map(pairs).unwrap_or_default(),
        }
        if takes == Takes::Beginning {
            break;
        }
    }
    Ok(())
}

fn fields(fields: &[(String, String)]) -> Result<HeaderMap, Failure> {
    let valid = |(name, value): &(String, String)| -> Result<_, Failure> {
        Ok((HeaderName::try_from(name)?, HeaderValue::try_from(value)?))
    };
    fields.iter().map(valid).collect()
}

fn pairs(fields: &HeaderMap) -> Vec<(String, String)> {
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    fields.iter().map(pair).collect()
}
