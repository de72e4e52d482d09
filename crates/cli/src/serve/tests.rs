//! A small file that is held is sent without allocating and without leaving the thread, counted on the
//! server's thread.

use std::{
    fs,
    net::SocketAddr,
    path::PathBuf,
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

use alula::{Client, Limits, Server, Stop};
use alula_tally::Side;

use super::*;
use crate::args::{Args, Command};

/// Requests of one round; rounds without an allocation that are wanted one after the other, and among how
/// many.
const ROUND: usize = 200;
const ROUNDS_QUIET: usize = 4;
const ROUNDS_MAX: usize = 30;

/// A folder with files of these lengths, gone with the value; each file is named for its length.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, lengths: &[usize]) -> Self {
        let path = std::env::temp_dir().join(format!("alula-serve-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for length in lengths {
            fs::write(path.join(length.to_string()), vec![b'x'; *length]).unwrap();
        }
        Self(path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn site(files: &Files, fresh_for: Duration) -> Arc<Site> {
    let ledger = Arc::new(Ledger::new(&Limits::default()));
    let choices = Choices { has_listing: true, is_spa: false, fresh_for, upload: None };
    Arc::new(Site::new(Folder::open(&files.0, false).unwrap(), choices, ledger))
}

/// Serves the site under these flags on a thread of its own, labelled as the server's; its address and what
/// stops it.
fn start(site: Arc<Site>, flags: &[&str]) -> (SocketAddr, Stop) {
    let Command::Serve(args) = Args::tried(&[&["serve"], flags].concat()).unwrap().command else {
        panic!("these are flags of serve")
    };
    let (mut router, watching) = hooks::router(&args.watch).unwrap();
    if args.log {
        // The writer is never told to end.
        let (lines, writer) = Lines::to(std::io::sink());
        std::mem::forget(writer);
        router = router.hook(LogLine(lines));
    }
    let routes = hooks::handled(router, move |exchange| answer(Arc::clone(&site), exchange)).unwrap();
    let (started, server) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            watching.watch().unwrap();
            started.send((server.address().unwrap(), server.stop_handle())).unwrap();
            server.serve(routes).await.unwrap();
        });
    });
    server.recv().unwrap()
}

/// Asks for a file by GET, by HEAD, and by GET if it is another than it is.
async fn ask(client: &Client, url: &str, length: usize) {
    for (method, condition, status, length) in [
        ("GET", "\"other\"", Status::OK, length),
        ("HEAD", "\"other\"", Status::OK, 0),
        ("GET", "*", Status::NOT_MODIFIED, 0),
    ] {
        let call = client.request(method, url).header("accept", "*/*").header("if-none-match", condition);
        let call = call.header("origin", "https://a.example").header("user-agent", "u/1");
        let mut response = call.send().await.unwrap();
        assert_eq!(response.status(), status);
        let mut bytes = 0;
        while let Some(chunk) = response.body().chunk().await.unwrap() {
            bytes += chunk.len();
        }
        assert_eq!(bytes, length);
    }
}

/// Asks in rounds until some in a row have not allocated on the server's side.
async fn becomes_quiet(client: &Client, url: &str, length: usize) {
    // Buffers may still meet a new largest load after the first rounds, but soon no more.
    let mut quiet = 0;
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "{url} still allocates after {ROUNDS_MAX} rounds");
        let before = alula_tally::side(Side::SERVER);
        for _ in 0..ROUND {
            ask(client, url, length).await;
        }
        let counts = alula_tally::side(Side::SERVER) - before;
        quiet = if counts.allocations == 0 { quiet + 1 } else { 0 };
        if quiet == ROUNDS_QUIET {
            break;
        }
    }
}

#[test]
fn held_files_are_sent_without_allocating() {
    assert!(alula_tally::is_installed());
    let lengths = [0, 26, 1024, HELD_BYTES];
    let files = Files::new("held", &lengths);
    let log = format!("--access-log={}", files.0.join("log").display());
    for flags in [
        &[][..],
        &["--log"],
        &[&*log],
        &[&*log, "--access-log-format=json", "--metrics", "--cors=https://a.example", "--header", "x-a: b"],
    ] {
        // Nothing has to be looked at again during the test.
        let (address, stop) = start(site(&files, Duration::from_secs(3600)), flags);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::builder().http2_prior_knowledge(true).trust_anything().build().unwrap();
            for length in lengths {
                becomes_quiet(&client, &format!("http://{address}/{length}"), length).await;
            }
        });
        stop.stop();
    }
}

const HELD_BYTES: usize = entry::HELD_BYTES_MAX as usize;

#[test]
fn a_file_that_changed_is_not_believed_and_one_that_did_not_is() {
    let files = Files::new("changed", &[1024, 100_000]);
    let site = site(&files, Duration::ZERO);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for name in ["1024", "100000"] {
            let path = format!("/{name}");
            let Found::File(new) = site.find(&path).await else { panic!("{path} is there") };
            assert!(!new.is_good_for(&new.stamp), "what was written just now may be written again unnoticed");
            let settled = SystemTime::now() + Duration::from_secs(10);
            assert!(new.stamp.is_settled(settled));
            assert!(site.held(&path).await.is_none(), "so it is read again");
            fs::remove_file(files.0.join(name)).unwrap();
            assert!(site.held(&path).await.is_none());
            assert!(matches!(site.find(&path).await, Found::Nothing(Status::NOT_FOUND)));
        }
    });
}

#[test]
fn what_is_held_is_bounded_in_number_and_bytes() {
    let files = Files::new("bounds", &[1, HELD_BYTES, HELD_BYTES + 1]);
    let site = site(&files, Duration::from_secs(3600));
    let load = |length: usize| {
        Arc::new(
            Entry::load(&site.folder, &site.open_files, length.to_string().into(), &site.ledger).unwrap(),
        )
    };
    for (length, most) in [(1, 16_384), (HELD_BYTES, 1024), (HELD_BYTES + 1, 128)] {
        let entry = load(length);
        let cache = Cache::new(Duration::ZERO);
        for number in 0..2 * most {
            cache.insert(&format!("/{number}"), &entry);
        }
        // The parts of the cache are not used evenly, but none holds more than its share.
        let held = (0..2 * most).filter(|number| cache.find(&format!("/{number}")).is_some()).count();
        assert!(held <= most && held > most / 2, "{held} of {most} files of {length} bytes are held");
    }
}

#[test]
fn open_files_are_bounded_whoever_holds_them() {
    let files = Files::new("open", &[1024, HELD_BYTES + 1]);
    let site = site(&files, Duration::from_secs(3600));
    let load =
        |length: usize| Entry::load(&site.folder, &site.open_files, length.to_string().into(), &site.ledger);
    // As answers would that nobody reads.
    let mut sending: Vec<_> = (0..open_files::OPEN_MAX).map(|_| load(HELD_BYTES + 1).unwrap()).collect();
    let look = |path: &str| {
        let target = Target::parse(path, false).unwrap();
        site.look(path, &target).unwrap_or_else(|error| absent(&error))
    };
    assert!(matches!(look("/65537"), Found::Nothing(Status::SERVICE_UNAVAILABLE)));
    assert!(matches!(look("/1024"), Found::File(_)), "small files have their place elsewhere");
    sending.pop();
    let look = |path: &str| {
        let target = Target::parse(path, false).unwrap();
        site.look(path, &target).unwrap_or_else(|error| absent(&error))
    };
    assert!(matches!(look("/65537"), Found::File(_)));
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn entry(site: &Arc<Site>, path: &str) -> Arc<Entry> {
    let Found::File(entry) = site.find(path).await else { panic!("{path} is there") };
    entry
}

#[test]
fn a_page_is_shared_until_it_would_be_another() {
    let files = Files::new("pages", &[1, 2]);
    // Each request has the folder listed.
    let site = site(&files, Duration::ZERO);
    in_runtime(async {
        let first = entry(&site, "/").await;
        let (one, other) = tokio::join!(entry(&site, "/"), entry(&site, "/"));
        assert!(Arc::ptr_eq(&first, &one) && Arc::ptr_eq(&first, &other));
        assert_eq!(first.length() + entry::ENTRY_BYTES, site.ledger.memory_held() - BUFFERS);
        // A length that changes is no change of the folder, as its dates have it.
        fs::write(files.0.join("1"), b"longer").unwrap();
        let second = entry(&site, "/").await;
        assert!(!Arc::ptr_eq(&first, &second));
        fs::write(files.0.join("index.html"), b"index").unwrap();
        assert!(!entry(&site, "/").await.is_page);
        fs::remove_file(files.0.join("index.html")).unwrap();
        let third = entry(&site, "/").await;
        assert!(third.is_page && third.length() == second.length());
    });
}

/// The charge for the buffers.
const BUFFERS: u64 = FileBuffers::BYTES_MAX as u64;

#[test]
fn what_was_let_go_and_is_still_sent_is_not_made_twice() {
    let files = Files::new("lent", &[1024]);
    let site = site(&files, Duration::from_secs(3600));
    in_runtime(async {
        for path in ["/", "/1024"] {
            let sending = entry(&site, path).await;
            site.cache.evict(path);
            assert!(site.cache.find(path).is_none());
            assert!(Arc::ptr_eq(&sending, &entry(&site, path).await), "{path}");
        }
    });
}

#[test]
fn a_name_is_held_once_however_it_is_spelled() {
    let files = Files::new("spelled", &[1024]);
    fs::write(files.0.join("a b"), b"a b").unwrap();
    fs::write(files.0.join("a%20b"), b"a%20b").unwrap();
    let site = site(&files, Duration::from_secs(3600));
    in_runtime(async {
        let entries =
            [entry(&site, "/1024").await, entry(&site, "/%31024").await, entry(&site, "/1%302%34").await];
        assert!(entries.iter().all(|entry| Arc::ptr_eq(entry, &entries[0])));
        for _ in 0..2 {
            for (path, length) in [("/a%20b", 3), ("/a%2520b", 5), ("/%61%20b", 3), ("/%61%2520b", 5)] {
                assert_eq!(entry(&site, path).await.length(), length, "{path}");
            }
        }
    });
}

#[test]
fn what_there_is_no_memory_for_is_refused_and_comes_back() {
    let files = Files::new("memory", &[1024]);
    let site = site(&files, Duration::from_secs(3600));
    let limits = Limits::default();
    let others = site.ledger.reserve(limits.process_memory_soft_bytes() - site.ledger.memory_held()).unwrap();
    in_runtime(async {
        for path in ["/", "/1024"] {
            assert!(matches!(site.find(path).await, Found::Nothing(Status::SERVICE_UNAVAILABLE)), "{path}");
        }
        drop(others);
        for path in ["/", "/1024"] {
            assert!(matches!(site.find(path).await, Found::File(_)), "{path}");
        }
    });
}
