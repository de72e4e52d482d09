//! `alula store` on a disk that becomes full: a file system in memory of 365 MB, where the system lets a user
//! mount one.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod support;

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use alula::{Client, KnownName, Status};
use support::{Echo, Folder, PATIENCE};

/// The variable that says that this process has the small disk, and where.
const DISK: &str = "ALULA_SMALL_DISK";

/// The refused writes for which nothing more is said.
const REFUSED: u32 = 500;

/// Runs this test again with a file system of its own.
#[test]
fn a_full_disk_is_emptied_and_filled_again() {
    if let Some(disk) = std::env::var_os(DISK) {
        return tokio::runtime::Runtime::new().unwrap().block_on(drill(Path::new(&disk)));
    }
    let folder = Folder::new("store-disk");
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
    let mut drill =
        mounts(&format!("{mount} && exec \"$1\" --exact a_full_disk_is_emptied_and_filled_again"));
    drill.arg(std::env::current_exe().unwrap()).env(DISK, folder.path(""));
    let output = drill.output().unwrap();
    let shown = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}{}", shown[0], shown[1]);
}

async fn drill(disk: &Path) {
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

/// A running store.
struct Small {
    echo: Echo,
    client: Client,
    told: Arc<Mutex<Vec<String>>>,
}

/// Some values lie beside the rows of their table, and some in them.
fn octets(number: u32) -> usize {
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

    async fn status(&self, method: &str, path: &str, octets: usize) -> Status {
        let url = format!("{}{path}", self.echo.http);
        let call = self.client.request(method, &*url);
        let call = call.header(KnownName::CONTENT_TYPE, "text/plain");
        let call = if octets == 0 { call } else { call.body(vec![b'v'; octets]) };
        let mut answer = call.send().await.unwrap();
        answer.body().bytes().await.unwrap();
        answer.status()
    }

    async fn put(&self, round: u32, number: u32) -> Status {
        self.status("PUT", &path(round, number), octets(number)).await
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
        assert_eq!(self.put(round, 0).await, Status::NO_CONTENT, "no octet more");
    }

    async fn check(&self, round: u32, number: u32) {
        let mut answer =
            self.client.get(&*format!("{}{}", self.echo.http, path(round, number))).send().await.unwrap();
        assert_eq!(answer.status(), Status::OK, "{round}: {number}");
        assert_eq!(answer.body().bytes().await.unwrap().len(), octets(number));
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
