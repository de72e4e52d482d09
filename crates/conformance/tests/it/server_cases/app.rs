//! The server that the cases ask: one router with a route for everything that they need.

use std::thread;

use alula::{
    Answer, Error, Exchange, FieldSection, IntoAnswer as _, Router, Sent, Server, Status,
    conditional::{Validators, Verdict, evaluate},
    routing::{any, get, on, post},
};

type Done = Result<Sent, Answer>;

/// The time of the last change of `/doc` and `/dated`.
const CHANGED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// Starts the server on a thread of its own, where it runs as long as the process, and returns its port.
pub(crate) fn start() -> u16 {
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = Server::builder().on_error(|_| {}).bind("127.0.0.1:0").await.expect("a port");
            let routes = router().build().expect("routes");
            tell.send(server.address().expect("an address").port()).expect("a listener");
            server.serve(routes).await.expect("serving");
        });
    });
    told.recv().expect("the server starts")
}

fn router() -> Router {
    let other = Router::new().route("/text", get(|it| text(it, "another host")));
    documents(statuses(contents(Router::new()))).host("other.example", other)
}

/// Routes that say what a request was, or send content in one of the ways there are.
fn contents(router: Router) -> Router {
    router
        .route("/", get(|it| text(it, "the root")))
        .route("/probe", get(|it| text(it, "still here")))
        .route("/text", get(|it| text(it, "hello")).post(|it| text(it, "posted")))
        .route("/options", get(|it| text(it, "hello")).options(options))
        .route("/purge", on("PURGE", |it| text(it, "purged")))
        .route("/asked", any(asked))
        .route("/segment/{name}", get(segment))
        .route("/fields", any(fields))
        .route("/echo", any(echo))
        .route("/trailers", post(trailers))
        .route("/unread", post(|it| text(it, "not read")))
        .route(
            "/large",
            get(|it: Exchange| async { Ok::<_, Answer>(ok(it).text("x".repeat(100_000)).await?) }),
        )
        .route("/empty", get(|it: Exchange| async { Ok::<_, Answer>(ok(it).send("").await?) }))
        .route("/stream", get(stream))
        .route("/stream-of-length", get(stream_of_length))
        .route("/stream-with-trailers", get(stream_with_trailers))
        .route("/stream-of-nothing", get(stream_of_nothing))
        .route("/stream-of-205", get(stream_of_205))
        .route("/close", get(close))
}

/// Routes with statuses of their own.
fn statuses(router: Router) -> Router {
    let made = |it: Exchange| async {
        Ok::<_, Answer>(it.respond(Status::CREATED).header("location", "/asked").send("made").await?)
    };
    let hints = |it: Exchange| async {
        let links = FieldSection::from_pairs([("link", "</a.css>; rel=preload")]).map_err(Error::from)?;
        it.interim_with(Status::EARLY_HINTS, &links)?;
        text(it, "after hints").await
    };
    let failed = |_| async { Err::<Sent, _>(Error::other("a secret of the disk")) };
    let panics = |it: Exchange| async move {
        assert!(it.request().method().is_empty(), "as asked");
        Err::<Sent, _>(Status::OK)
    };
    router
        .route("/status/{status}", any(status))
        .route("/redirect/{status}", any(redirect))
        .route("/created", post(made))
        .route("/hints", get(hints))
        .route("/failed", get(failed))
        .route("/panics", get(panics))
        .route("/refused/{status}", any(refused))
        .route("/number/{number}", get(number))
}

/// Routes with conditions.
fn documents(router: Router) -> Router {
    let doc = |it: Exchange| async {
        let reply = ok(it).header("etag", "\"v1\"").header("last-modified", CHANGED);
        let reply = reply.header("cache-control", "max-age=60").header("vary", "accept");
        let reply = reply.header("content-type", "text/plain").header("content-language", "en");
        Ok::<_, Answer>(reply.send_conditional("0123456789").await?)
    };
    let weak = |it: Exchange| async {
        Ok::<_, Answer>(ok(it).header("etag", "W/\"w1\"").send_conditional("0123456789").await?)
    };
    let dated = |it: Exchange| async {
        Ok::<_, Answer>(ok(it).header("last-modified", CHANGED).send_conditional("0123456789").await?)
    };
    let nothing =
        |it: Exchange| async { Ok::<_, Answer>(ok(it).header("etag", "\"e\"").send_conditional("").await?) };
    router
        .route("/doc", get(doc).put(put).delete(put))
        .route("/weak", get(weak).put(put))
        .route("/dated", get(dated).put(put))
        .route("/nothing", get(nothing))
        .route("/absent", get(|_: Exchange| async { Err::<Sent, _>(Status::NOT_FOUND) }).put(put).delete(put))
}

fn ok(exchange: Exchange) -> alula::Reply {
    exchange.respond(Status::OK)
}

async fn text(exchange: Exchange, said: &'static str) -> Done {
    Ok(ok(exchange).text(said).await?)
}

async fn options(exchange: Exchange) -> Done {
    Ok(exchange.respond(Status::NO_CONTENT).header("allow", "GET, HEAD, OPTIONS").send("").await?)
}

/// Says what the server understood of the control data.
async fn asked(exchange: Exchange) -> Done {
    let request = exchange.request();
    let (method, path) = (request.method(), request.path());
    let said = format!("{method} {path} of {}", request.authority().unwrap_or("nobody"));
    Ok(ok(exchange).text(said).await?)
}

async fn segment(exchange: Exchange) -> Done {
    let said = format!("segment {}", exchange.param("name")?);
    Ok(ok(exchange).text(said).await?)
}

/// Says the values of `x-asked`, one after the other.
async fn fields(exchange: Exchange) -> Done {
    let values = exchange.request().headers().get_all("x-asked");
    let values: Vec<_> = values.map(String::from_utf8_lossy).collect();
    let said = format!("[{}]", values.join("]["));
    Ok(ok(exchange).text(said).await?)
}

async fn echo(mut exchange: Exchange) -> Done {
    let content = exchange.body().bytes().await?;
    Ok(ok(exchange).send(content).await?)
}

async fn trailers(mut exchange: Exchange) -> Done {
    while exchange.body().chunk().await?.is_some() {}
    let sum = |fields: &FieldSection| fields.text("x-sum").unwrap_or("none").to_owned();
    let said = exchange.body().trailers().await?.map_or_else(|| "no trailers".to_owned(), sum);
    Ok(ok(exchange).text(said).await?)
}

async fn stream(exchange: Exchange) -> Done {
    let mut writer = ok(exchange).header("content-type", "text/plain").stream().await?;
    for piece in ["one,", "", "two,", "three"] {
        writer.write(piece).await?;
    }
    Ok(writer.finish().await?)
}

async fn stream_of_length(exchange: Exchange) -> Done {
    let mut writer = ok(exchange).header("content-length", "6").stream().await?;
    writer.write("thr").await?;
    Ok(writer.finish_content("ice").await?)
}

async fn stream_with_trailers(exchange: Exchange) -> Done {
    let mut writer = ok(exchange).header("trailer", "x-sum").stream().await?;
    writer.write("summed").await?;
    let trailers = FieldSection::from_pairs([("x-sum", "42")]).map_err(Error::from)?;
    Ok(writer.finish_with(&trailers).await?)
}

async fn stream_of_nothing(exchange: Exchange) -> Done {
    Ok(ok(exchange).stream().await?.finish().await?)
}

async fn stream_of_205(exchange: Exchange) -> Done {
    let writer = exchange.respond(Status::RESET_CONTENT).stream().await?;
    Ok(writer.finish_content("dropped").await?)
}

async fn close(exchange: Exchange) -> Done {
    Ok(ok(exchange).header("connection", "close").text("the last").await?)
}

fn status_of(exchange: &Exchange) -> Result<Status, Answer> {
    Ok(Status::new(exchange.param_as("status")?).unwrap_or(Status::BAD_REQUEST))
}

/// Answers with this status and with content, where it may have any.
async fn status(exchange: Exchange) -> Done {
    let status = status_of(&exchange)?;
    Ok(exchange.respond(status).send("content").await?)
}

async fn redirect(exchange: Exchange) -> Done {
    let status = status_of(&exchange)?;
    Ok(exchange.respond(status).redirect("/to here").await?)
}

/// Ends with an error of this status.
async fn refused(exchange: Exchange) -> Done {
    let answer = status_of(&exchange)?.into_answer();
    Err(match answer.status().as_u16() {
        401 => answer.header("www-authenticate", "Basic realm=\"a\""),
        413 | 429 | 503 => answer.header("retry-after", "5"),
        415 => answer.header("accept-encoding", "gzip"),
        426 => answer.header("upgrade", "HTTP/2.0").header("connection", "upgrade"),
        409 => answer.detail("a newer one is there"),
        _ => answer,
    })
}

async fn number(exchange: Exchange) -> Done {
    let said = format!("number {}", exchange.param_as::<u32>("number")?);
    Ok(ok(exchange).text(said).await?)
}

/// Changes what a path names, under the conditions of the request.
async fn put(mut exchange: Exchange) -> Done {
    let changed = std::time::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
    let now = match exchange.request().path() {
        "/doc" => Validators::present().etag("\"v1\"").modified(changed),
        "/weak" => Validators::present().etag("W/\"w1\""),
        "/dated" => Validators::present().modified(changed),
        _ => Validators::absent(),
    };
    let is_there = exchange.request().path() != "/absent";
    let request = exchange.request();
    match (evaluate(request.method(), request.headers(), &now), is_there) {
        (Verdict::Proceed, true) => {}
        (Verdict::Proceed, false) if request.method() == "DELETE" => {
            return Err(Status::NOT_FOUND.into_answer());
        }
        (Verdict::Proceed, false) => {
            return Ok(exchange.respond(Status::CREATED).header("location", "/absent").send("").await?);
        }
        _ => return Err(Status::PRECONDITION_FAILED.into_answer()),
    }
    while exchange.body().chunk().await?.is_some() {}
    Ok(exchange.respond(Status::NO_CONTENT).header("etag", "\"v2\"").send("").await?)
}
