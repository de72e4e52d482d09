//! Alula at the works of `cargo xtask bench --servers`: 1 KiB from memory, JSON by one of 40 routes, a file.
//!
//! `works memory|json|file SITE [CERTIFICATE KEY]` prints a port and answers there, in both versions, until
//! the standard input ends. With a certificate TLS is spoken on the same port as clear text.
#![forbid(unsafe_code)]

use std::{collections::HashMap, fs, io, path::PathBuf};

use alula::{
    Answer, Error, Exchange, Identity, IntoService, KnownName, Router, Routes, Sent, Server, Status,
    routing::get,
};
use alula_testkit::routes::SMALL;
use serde::Serialize;

/// The route of the 40 that is asked for.
const ITEM: &str = "/lists/{list}/items/{item}";

/// 1 KiB.
static CONTENT: [u8; 1024] = [b'a'; 1024];

/// As many as paths that vary name.
const ITEMS: u64 = 1000;

/// An item, as it is kept.
struct Item {
    title: String,
    done: bool,
}

/// An item, as it is told.
#[derive(Serialize)]
struct Shown<'a> {
    list: &'a str,
    id: u64,
    title: &'a str,
    done: bool,
}

type Items = HashMap<u64, Item>;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (work, site, tls) = match arguments[..] {
        [work, site] => (work, site, None),
        [work, site, certificate, key] => (work, site, Some((certificate, key))),
        _ => return Err(io::Error::other("usage: works memory|json|file SITE [CERTIFICATE KEY]")),
    };
    end_with_input();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match work {
            "memory" => serve(tls, memory).await,
            "json" => serve(tls, routes()).await,
            "file" => {
                let file = PathBuf::from(site).join("kib.txt");
                serve(tls, move |exchange: Exchange| exchange.respond(Status::OK).file(file.clone())).await
            }
            other => Err(io::Error::other(format!("there is no work {other}"))),
        }
    })
}

async fn serve(tls: Option<(&str, &str)>, service: impl IntoService) -> io::Result<()> {
    let mut server = Server::builder();
    if let Some((certificate, key)) = tls {
        let identity = Identity::from_pem(&fs::read(certificate)?, &fs::read(key)?);
        server = server.identity(identity.map_err(io::Error::other)?);
    }
    let server = server.bind("127.0.0.1:0").await?;
    println!("{}", server.address()?.port());
    server.serve(service).await
}

async fn memory(exchange: Exchange) -> Result<Sent, Error> {
    exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, "text/plain").send(&CONTENT).await
}

/// The 40, one of which answers with an item.
fn routes() -> Routes {
    let small = SMALL.iter().filter(|pattern| **pattern != ITEM);
    let router =
        small.fold(Router::with_state(items()), |router, pattern| router.route(*pattern, get(hello)));
    router.route(ITEM, get(item)).build().expect("no two match the same paths")
}

fn items() -> Items {
    let item = |id| Item { title: format!("What is to be done, part {id}"), done: id % 2 == 0 };
    (0..ITEMS).map(|id| (id, item(id))).collect()
}

async fn hello(exchange: Exchange<Items>) -> Result<Sent, Error> {
    exchange.respond(Status::OK).text("Hello, World!").await
}

async fn item(exchange: Exchange<Items>) -> Result<Sent, Answer> {
    let (items, id) = (exchange.state(), exchange.param_as("item")?);
    let item = items.get(&id).ok_or(Status::NOT_FOUND)?;
    let list = exchange.param("list")?.into_owned();
    let shown = Shown { list: &list, id, title: &item.title, done: item.done };
    Ok(exchange.respond(Status::OK).json(&shown).await?)
}

/// Ends this process with its standard input, so with the process that started it.
fn end_with_input() {
    std::thread::spawn(|| {
        for _ in io::stdin().lines() {}
        std::process::exit(0);
    });
}
