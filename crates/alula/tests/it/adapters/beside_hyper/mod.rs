//! One application of axum on a server of hyper and on Alula's: what its handlers see, and what comes back,
//! is the same but for what `docs/axum.md` lists.

mod answer;
mod application;
mod http1;
mod http2;
mod table;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::mpsc;
use std::{fs, thread};

use alula::{Server, from_tower};
use application::{Application, Seen, application};
use axum::extract::ConnectInfo;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use table::{Request, Version, requests};
use tokio::net::TcpListener;

/// A server, and what the handlers of its application have seen.
struct Side {
    address: SocketAddr,
    seen: Seen,
}

/// A server that runs until the test ends.
type Serving = Pin<Box<dyn Future<Output = ()>>>;

#[test]
fn what_handlers_see_and_answer_is_as_on_hyper_but_for_what_is_listed() {
    let requests = requests();
    let page = page();
    assert!(page.contains(&format!("asked the {} requests of", requests.len())));
    let folder = files();
    let sides = [run(hyper, folder.clone()), run(alula, folder)];
    let mut found = Differences::new();
    for request in &requests {
        for version in &request.versions {
            let told = sides.each_ref().map(|side| side.ask(request, *version));
            for what in differing(&told) {
                let told = told.each_ref().map(|told| told.get(&what).cloned().unwrap_or_default());
                found.insert((request.name.clone(), version.name().into(), what), told);
            }
        }
    }
    compare(&found, &listed(&page));
}

/// One thing as hyper and Alula tell it, by the name of the request, the version and the thing.
type Differences = BTreeMap<(String, String, String), [String; 2]>;

/// The differences; where the status differs, the rest of the answer may.
fn differing([hyper, alula]: &[BTreeMap<String, String>; 2]) -> Vec<String> {
    let all = hyper.keys().chain(alula.keys().filter(|what| !hyper.contains_key(*what)));
    let found: Vec<_> = all.filter(|what| hyper.get(*what) != alula.get(*what)).cloned().collect();
    match found.iter().any(|what| what == "status") {
        true => vec!["status".into()],
        false => found,
    }
}

/// Starts a server on a thread of its own: what its tasks do then does not depend on which comes first.
fn run<F>(begin: fn(PathBuf, Seen) -> F, folder: PathBuf) -> Side
where
    F: Future<Output = (SocketAddr, Serving)> + 'static,
{
    let (seen, (tell, told)) = (Seen::default(), mpsc::channel());
    let seen_there = seen.clone();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (address, serving) = begin(folder, seen_there).await;
            tell.send(address).unwrap();
            serving.await;
        });
    });
    Side { address: told.recv().unwrap(), seen }
}

impl Side {
    fn ask(&self, request: &Request, version: Version) -> BTreeMap<String, String> {
        self.seen.lock().unwrap().clear();
        let answer = match version {
            Version::Http2 => http2::ask(self.address, request),
            _ => http1::ask(self.address, request, version),
        };
        let seen = self.seen.lock().unwrap().clone();
        answer.lines().into_iter().chain(seen).collect()
    }
}

async fn hyper(folder: PathBuf, seen: Seen) -> (SocketAddr, Serving) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, application) = (listener.local_addr().unwrap(), application(&folder, seen));
    let serving = async move {
        loop {
            let (socket, peer) = listener.accept().await.unwrap();
            tokio::spawn(serve_by_hyper(TokioIo::new(socket), peer, application.clone()));
        }
    };
    (address, Box::pin(serving))
}

async fn serve_by_hyper(socket: TokioIo<tokio::net::TcpStream>, peer: SocketAddr, application: Application) {
    let service = service_fn(move |mut request: http::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        application::call(application.clone(), request)
    });
    // As `axum::serve` has it.
    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection_with_upgrades(socket, service).await;
}

async fn alula(folder: PathBuf, seen: Seen) -> (SocketAddr, Serving) {
    let server = Server::builder().on_error(|_| {}).bind("127.0.0.1:0").await.unwrap();
    let (address, application) = (server.address().unwrap(), application(&folder, seen));
    let service = tower::service_fn(move |request: http::Request<alula::Body>| {
        application::call(application.clone(), request)
    });
    (address, Box::pin(async move { server.serve(from_tower(service)).await.unwrap() }))
}

/// The files that are served, with a time at which they were written.
fn files() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("beside_hyper");
    fs::create_dir_all(folder.join("folder")).unwrap();
    for (name, text) in
        [("text.txt", "0123456789"), ("with space.txt", "a space"), ("folder/index.html", "<p>")]
    {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/axum.md")).unwrap()
}

/// The differences that the documentation lists: rows of six columns, in which several requests or versions
/// may stand together.
fn listed(page: &str) -> Differences {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect::<Vec<_>>())
        .filter(|columns| columns.len() == 6 && columns[0] != "request")
        .flat_map(|columns| {
            let [names, versions, what, hyper, alula, why] = columns[..] else { unreachable!() };
            assert!(!why.is_empty() && why != "WHY", "{columns:?}");
            let told = [hyper, alula].map(|told| if told == "none" { "" } else { told.trim_matches('`') });
            names.split("; ").flat_map(move |name| {
                versions.split(", ").map(move |version| {
                    ((name.to_owned(), version.to_owned(), what.to_owned()), told.map(str::to_owned))
                })
            })
        })
        .collect()
}

fn compare(found: &Differences, listed: &Differences) {
    let shown = |text: &str| if text.is_empty() { "none".into() } else { format!("`{text}`") };
    let only = |these: &Differences, others: &Differences| {
        let only = these.iter().filter(|(key, told)| others.get(*key) != Some(told));
        let row = |((name, version, what), [hyper, alula]): (&(String, String, String), &[String; 2])| {
            format!("| {name} | {version} | {what} | {} | {} | WHY |", shown(hyper), shown(alula))
        };
        only.map(row).collect::<Vec<_>>().join("\n")
    };
    let (new, gone) = (only(found, listed), only(listed, found));
    assert!(
        new.is_empty() && gone.is_empty(),
        "docs/axum.md does not list these differences:\n{new}\nand lists these, which are none:\n{gone}"
    );
}
