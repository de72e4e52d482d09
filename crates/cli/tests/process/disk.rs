//! `alula store` on a disk that becomes full: a file system in memory of 365 MB, where the system lets a user
//! mount one. Nothing runs beside it: what the store writes meanwhile depends on how fast it is let.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Echo, Folder, PATIENCE};
use alula::{Client, KnownName, Status};

/// The variable that says that this process has the small disk, and where.
const DISK: &str = "ALULA_SMALL_DISK";

/// The refused writes for which nothing more is said.
const REFUSED: u32 = 500;

pub(crate) fn a_full_disk_is_emptied_and_filled_again() {
    on_small_disk("disk::a_full_disk_is_emptied_and_filled_again", drill);
}

pub(crate) fn reads_go_on_while_a_full_disk_refuses_all_writes() {
    on_small_disk("disk::reads_go_on_while_a_full_disk_refuses_all_writes", fill_from_outside);
}

/// Runs a test again with a file system of its own, and does there what it is to do.
fn on_small_disk<F: Future<Output = ()>>(test: &str, act: impl FnOnce(PathBuf) -> F) {
    if let Some(disk) = std::env::var_os(DISK) {
        return tokio::runtime::Runtime::new().unwrap().block_on(act(disk.into()));
    }
    let folder = Folder::new("disk");
    let mounts = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, &folder.path("")]);
        unshare
    };
    let mount = "mount -t tmpfs -o size=365m alula \"$0\"";
    let tried = mounts(mount).stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        eprintln!("not tried: this system lets nobody mount a file system");
        return;
    }
    let mut again = mounts(&format!("{mount} && exec \"$1\" --exact \"$2\""));
    again.arg(std::env::current_exe().unwrap()).arg(test).env(DISK, folder.path(""));
    let output = again.output().unwrap();
    let shown = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && shown[0].contains("1 passed"), "{}{}", shown[0], shown[1]);
}

async fn drill(disk: PathBuf) {
    let data = disk.join("data").to_str().unwrap().to_owned();
    let flags = ["--data", &*data, "--ready", "--reap-after=immediate"];
    let mut kept = Vec::new();
    for round in 0..2 {
        let store = Small::start(&flags);
        let count = store.fill(round).await;
        assert!(count > 300, "round {round}: {count} objects of 365 MB");
        store.refuse(round).await;
        kept.push(count);
        let told = store.stop();
        // Room that comes back from journals may be more than a moment long on a busy machine.
        let full = told.iter().filter(|line| line.contains("the disk is full")).count();
        assert!((1..=3).contains(&full) && told.len() <= 6, "{told:?}");

        // It starts on the full disk, knows it, has all that was answered, and takes deletes.
        let store = Small::start(&flags);
        assert_eq!(store.status("GET", "/readyz", 0).await, Status::SERVICE_UNAVAILABLE);
        for number in 0..count {
            store.check(round, number).await;
        }
        for number in 0..count {
            assert_eq!(store.status("DELETE", &path(round, number), 0).await, Status::NO_CONTENT, "{number}");
        }
        store.wait_for_room().await;
        assert!(store.stop().len() <= 6);
    }
    let [first, .., last] = &kept[..] else { unreachable!("two rounds") };
    assert!(last * 4 > first * 3, "less and less fits: {kept:?}");
}

/// The objects that are in the journal when the disk becomes full, 24 MB together.
const IN_JOURNAL: u32 = 160;

/// The bytes that are free then: more than the store tries to write, and less than a copy of the journal.
const LEFT: u64 = 4 * 1024 * 1024;

/// Another program takes all that is left, and the write of a delete fails.
async fn fill_from_outside(disk: PathBuf) {
    let data = disk.join("data").to_str().unwrap().to_owned();
    let store = Small::start(&["--data", &*data, "--ready"]);
    for number in 0..IN_JOURNAL {
        assert_eq!(store.put(0, number).await, Status::NO_CONTENT);
    }
    let ballast = Ballast::make(&disk);
    let mut number = 0;
    while store.takes_deletes(number).await {
        // The store gives its reserve up meanwhile.
        ballast.fill();
        number += 1;
    }
    ballast.leave(LEFT);
    for _ in 0..60 {
        store.check(0, IN_JOURNAL - 1).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(store.status("PUT", &path(1, 0), 100).await, Status::SERVICE_UNAVAILABLE, "LEFT is too much");
    ballast.remove();
    store.wait_for_writes().await;
    for number in number + 1..IN_JOURNAL {
        store.check(0, number).await;
    }
    store.stop();
}

/// A file of another program on the disk.
struct Ballast {
    path: PathBuf,
    file: File,
}

impl Ballast {
    fn make(disk: &Path) -> Self {
        let path = disk.join("ballast");
        Self { file: File::create(&path).unwrap(), path }
    }

    /// Takes what is left, but for less than a block.
    fn fill(&self) {
        let mut file = &self.file;
        for bytes in [1 << 20, 4096] {
            while file.write_all(&vec![1; bytes]).is_ok() {}
        }
    }

    fn leave(&self, bytes: u64) {
        self.fill();
        self.file.set_len(self.file.metadata().unwrap().len() - bytes).unwrap();
    }

    fn remove(self) {
        std::fs::remove_file(self.path).unwrap();
    }
}

/// A running store.
struct Small {
    echo: Echo,
    client: Client,
    told: Arc<Mutex<Vec<String>>>,
}

/// Some values lie beside the rows of their table, and some in them.
fn bytes(number: u32) -> usize {
    if number.is_multiple_of(4) { 2_000 } else { 200_000 + number as usize }
}

fn path(round: u32, number: u32) -> String {
    format!("/buckets/b/keys/{round}-{number}")
}

impl Small {
    fn start(flags: &[&str]) -> Self {
        let mut echo = Echo::storing(flags);
        let (told, stderr) = (Arc::<Mutex<Vec<_>>>::default(), echo.child.stderr.take().unwrap());
        let lines = Arc::clone(&told);
        thread::spawn(move || {
            BufReader::new(stderr)
                .lines()
                .map_while(Result::ok)
                .for_each(|line| lines.lock().unwrap().push(line));
        });
        Self { echo, client: Client::builder().build().unwrap(), told }
    }

    fn has_told(&self, text: &str) -> bool {
        self.told.lock().unwrap().iter().any(|line| line.contains(text))
    }

    /// Ends it, and returns what it has said.
    fn stop(self) -> Vec<String> {
        drop(self.client);
        self.echo.stop();
        std::mem::take(&mut self.told.lock().unwrap())
    }

    async fn status(&self, method: &str, path: &str, bytes: usize) -> Status {
        let url = format!("{}{path}", self.echo.http);
        let call = self.client.request(method, &*url);
        let call = call.header(KnownName::CONTENT_TYPE, "text/plain");
        let call = if bytes == 0 { call } else { call.body(vec![b'v'; bytes]) };
        let mut answer = call.send().await.unwrap();
        answer.body().bytes().await.unwrap();
        answer.status()
    }

    async fn put(&self, round: u32, number: u32) -> Status {
        self.status("PUT", &path(round, number), bytes(number)).await
    }

    /// Writes until the disk is full for good: what is in journals gets to its files, and makes room,
    /// meanwhile.
    async fn fill(&self, round: u32) -> u32 {
        let (mut number, mut full) = (0, None::<Instant>);
        while full.is_none_or(|since| since.elapsed() < Duration::from_secs(4)) {
            match self.put(round, number).await {
                Status::NO_CONTENT => (number, full) = (number + 1, None),
                Status::INSUFFICIENT_STORAGE => _ = full.get_or_insert_with(Instant::now),
                other => panic!("{other} after {number} objects"),
            }
        }
        number
    }

    /// Is refused many times, while what is there is read and replaced by less.
    async fn refuse(&self, round: u32) {
        for number in 0..REFUSED {
            let status = self.status("PUT", &path(round + 100, number), 100_000).await;
            assert_eq!(status, Status::INSUFFICIENT_STORAGE);
        }
        assert_eq!(self.status("GET", "/readyz", 0).await, Status::SERVICE_UNAVAILABLE);
        assert_eq!(self.put(round, 0).await, Status::NO_CONTENT, "no byte more");
    }

    async fn check(&self, round: u32, number: u32) {
        let mut answer =
            self.client.get(&*format!("{}{}", self.echo.http, path(round, number))).send().await.unwrap();
        assert_eq!(answer.status(), Status::OK, "{round}: {number}");
        assert_eq!(answer.body().bytes().await.unwrap().len(), bytes(number));
    }

    async fn takes_deletes(&self, number: u32) -> bool {
        match self.status("DELETE", &path(0, number), 0).await {
            Status::NO_CONTENT => true,
            Status::INTERNAL_SERVER_ERROR | Status::SERVICE_UNAVAILABLE => false,
            other => panic!("{other}"),
        }
    }

    async fn wait_for_writes(&self) {
        let start = Instant::now();
        while self.put(2, 0).await != Status::NO_CONTENT {
            assert!(start.elapsed() < PATIENCE, "the disk has room, and no write is taken");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn wait_for_room(&self) {
        let start = Instant::now();
        while self.status("GET", "/readyz", 0).await != Status::OK
            || !self.has_told("the disk has room again")
        {
            assert!(start.elapsed() < PATIENCE, "deleted objects keep their room");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
