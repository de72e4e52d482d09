//! `alula get`, `post`, `put`, `delete` and `head`: one request, its response written as it comes.
//!
//! Content goes out and comes in at the same time, so a peer that answers while it still reads stalls nothing. What
//! is held in memory is a window's worth, whatever the length.

mod frames;
mod output;
mod progress;
mod upload;

use std::{io::Write as _, pin::pin, time::Duration};

use alula::{Call, Client, Limits, Response, Version};

use crate::{
    args::{ContentArgs, FetchArgs},
    exit::{Failure, Outcome},
};
use output::Output;
use progress::Progress;
use upload::Upload;

/// What the peer may send ahead on the one stream there is: 64 MiB/s over a path of 32 ms.
const WINDOW_OCTETS: u32 = 2 * 1024 * 1024;
/// How often, and how long apart, the runtime is asked after the exchange whether the connection has taken its leave.
const LAST_ROUNDS: usize = 16;
const LAST_ROUND: Duration = Duration::from_millis(2);

/// Runs one request. `content` is there for methods that take some.
pub(crate) fn run(method: &str, args: &FetchArgs, content: Option<&ContentArgs>) -> Outcome {
    let upload = content.and_then(|content| content.data.as_deref()).map(Upload::open).transpose()?;
    let client = client(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::local("the runtime", &error))?;
    let outcome = runtime.block_on(async {
        let outcome = exchange(method, args, upload, &client).await;
        drop(client);
        for _ in 0..LAST_ROUNDS {
            if tokio::runtime::Handle::current().metrics().num_alive_tasks() == 0 {
                break;
            }
            tokio::time::sleep(LAST_ROUND).await;
        }
        outcome
    });
    // A thread that still waits for stdin is not waited for.
    runtime.shutdown_background();
    outcome
}

fn is_clear_text(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"))
}

fn client(args: &FetchArgs) -> Result<Client, Failure> {
    let limits =
        Limits { stream_window: WINDOW_OCTETS, connection_window: WINDOW_OCTETS, ..Limits::default() };
    let mut builder = Client::builder().limits(limits);
    if let Some(path) = &args.cacert {
        let pem = std::fs::read(path).map_err(|error| Failure::local(path.display(), &error))?;
        builder = builder.add_roots_pem(&pem)?;
    }
    // In clear text nobody is to be trusted, and the platform's roots need not be read.
    if args.insecure || is_clear_text(&args.url) {
        builder = builder.trust_anything();
    }
    if args.http1_1 {
        builder = builder.http1_only();
    }
    if args.http2_prior_knowledge {
        builder = builder.http2_only();
    }
    if args.verbose {
        builder = builder.on_frame(frames::print);
    }
    Ok(builder.build()?)
}

async fn exchange(method: &str, args: &FetchArgs, upload: Option<Upload>, client: &Client) -> Outcome {
    let call = with_fields(client.request(method, &args.url), args);
    let Some(upload) = upload else {
        let response = match method {
            // What usually has content says that there is none (RFC 9110 §8.6).
            "POST" | "PUT" => call.send_body(&[]).await?,
            _ => call.send().await?,
        };
        return download(method, args, response).await;
    };
    let call = match upload.length() {
        Some(length) => call.field("content-length", length.to_string()),
        None => call,
    };
    let (writer, pending) = call.open().await?;
    let mut sent = pin!(upload.send(writer));
    let mut received = pin!(async { download(method, args, pending.response().await?).await });
    tokio::select! {
        biased;
        outcome = &mut received => outcome,
        outcome = &mut sent => {
            outcome?;
            received.await
        }
    }
}

fn with_fields<'a>(mut call: Call<'a>, args: &FetchArgs) -> Call<'a> {
    let given = |name: &str| args.fields.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    for (name, value) in [("user-agent", concat!("alula/", env!("CARGO_PKG_VERSION"))), ("accept", "*/*")] {
        if !given(name) {
            call = call.field(name, value);
        }
    }
    for (name, value) in &args.fields {
        call = call.field(name.as_str(), value);
    }
    if let Some(after) = args.max_time {
        call = call.deadline(after);
    }
    call
}

async fn download(method: &str, args: &FetchArgs, mut response: Response) -> Outcome {
    let mut output = Output::open(args.output.as_deref())?;
    if args.verbose && response.version() == Version::Http1 {
        // There are no frames to show.
        let _ = anstream::stderr().write_all(&output::head_of(&response));
    }
    if args.include || method == "HEAD" {
        output.write_head(&response)?;
    }
    let mut progress = Progress::new(&response, args);
    while let Some(chunk) = response.body().chunk().await? {
        output.write(chunk)?;
        progress.add(chunk.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_clear_text;

    #[test]
    fn clear_text_is_told_by_the_scheme_in_any_case() {
        assert!(is_clear_text("http://a/") && is_clear_text("HTTP://a/"));
        assert!(!is_clear_text("https://a/") && !is_clear_text("a") && !is_clear_text("äöüäöü"));
    }
}
