//! `--offline`: prints the requests without sending them.
//!
//! The client writes each of them to a server in this process, so that they are made as all others are, and
//! what it writes is kept.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use alula::{ConnectionServer, Exchange, Limits, Server, Status, Transport, TransportFacts, Version};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use super::{Plan, target::Target};
use crate::fetch::{
    content::{stdin::Deadline, upload},
    output::{Output, There, destination::Destination},
    send::{client, exchange},
    show::{self, Show},
};
use crate::{
    args::Options,
    failure::exit::{Failure, Outcome},
};

/// The bytes that may lie between client and server.
const PIPE_BYTES: usize = 64 * 1024;

/// The largest head: a printed one is no attack.
const HEAD_BYTES_MAX: u32 = 16 * 1024 * 1024;

/// Prints the request to each target in turn.
pub(in crate::fetch) fn run(plan: &Plan, options: &Options) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
    let outcome = runtime.block_on(async {
        for target in &plan.targets {
            let bytes = written(plan, target, options).await?;
            let to = Destination::of(&options.output, target)?;
            let show = Show::of_request(&options.output, &to);
            let mut output = Output::open(&to, There::IsReplaced, options.output.create_dirs)?;
            output.show(show::request(&bytes, &show))?;
        }
        let jar = exchange::jar(plan, options, true)?;
        plan.session.as_ref().map_or(Ok(()), |session| session.keep(jar.as_ref()))
    });
    runtime.shutdown_background();
    outcome
}

/// Returns the bytes of one request over HTTP/1.1.
async fn written(plan: &Plan, target: &Target, options: &Options) -> Result<Vec<u8>, Failure> {
    let kept = Kept::default();
    let (server, record) = (server(), kept.clone());
    let connector = move |_: &alula::Destination| {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        server.spawn_connection(far, TransportFacts::new().version(Version::Http1));
        let recorder: Box<dyn Transport> = Box::new(Recorder { near, kept: record.clone() });
        async move { Ok(recorder) }
    };
    // HTTP/1.1 whatever the flags say: frames of HTTP/2 would not be text to read.
    let client = client::builder(options, plan, None, None)?.http1_only().connector(connector).build()?;
    let url = in_clear_text(target);
    let mut call = client.request(plan.method_for(target), &url);
    for (name, value) in with_cookies(plan, target, options)? {
        call = call.header(name.as_str(), value);
    }
    let stdin = if target.upload.is_some() { upload::Stdin::Streamed } else { upload::Stdin::Measured };
    let response = match (plan.content_for(target), plan.method_for(target)) {
        (Some(content), _) if plan.is_chunked => {
            call.content(upload::open_in_chunks(&content.source)?).send().await
        }
        (Some(content), _) => {
            call.content(upload::open(&content.source, stdin, Deadline::of(options.connection.max_time))?)
                .send()
                .await
        }
        (None, "POST" | "PUT" | "PATCH") => call.send_body(&[]).await,
        (None, _) => call.send().await,
    };
    response?;
    Ok(std::mem::take(&mut *kept.lock()))
}

/// Creates a server that reads each request to its end.
fn server() -> ConnectionServer {
    let read = |mut exchange: Exchange| async move {
        // Content may come from a person who types on stdin, who is no slow peer.
        exchange.allow_slow_peer();
        while exchange.body().chunk().await?.is_some() {}
        exchange.respond(Status::OK).send(&[]).await
    };
    let limits = Limits { head_bytes: HEAD_BYTES_MAX, target_bytes: HEAD_BYTES_MAX, ..Limits::default() };
    Server::builder().limits(limits).build(read)
}

/// Returns the URL without TLS, which the server in this process does not need.
fn in_clear_text(target: &Target) -> String {
    let mut url = target.url.clone();
    // https may become http, as the two are alike.
    let _ = url.set_scheme("http");
    url.into()
}

/// Returns the fields to send, with the cookies of files and sessions for the real URL.
fn with_cookies(plan: &Plan, target: &Target, options: &Options) -> Result<Vec<(String, String)>, Failure> {
    let mut fields = plan.fields_for(target);
    let jar = exchange::jar(plan, options, options.output.silent)?;
    let kept = jar.map(|jar| jar.cookies_for(target.url.as_str())).transpose()?.flatten();
    if let Some(kept) = kept {
        match fields.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, given)) => *given = format!("{given}; {kept}"),
            None => fields.push(("cookie".to_owned(), kept)),
        }
    }
    Ok(fields)
}

/// The bytes that were written so far.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that keeps what is written to it.
struct Recorder {
    near: DuplexStream,
    kept: Kept,
}

impl AsyncRead for Recorder {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_read(cx, buf)
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.near).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = written {
            self.kept.lock().extend_from_slice(&bytes[..count]);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_shutdown(cx)
    }
}
