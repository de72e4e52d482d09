//! What is held of files and pages: until when, how much, and for whom.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use alula_machine::Limits;
use alula_net::Ledger;

use super::{entry::Content, listing::ENTRIES_MAX, *};
use crate::files::folder::Folder;

/// A folder with files of these lengths, gone with the value; each file is named for its length.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, lengths: &[usize]) -> Self {
        let path = std::env::temp_dir().join(format!("alula-site-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for length in lengths {
            fs::write(path.join(length.to_string()), vec![b'x'; *length]).unwrap();
        }
        Self(path)
    }

    fn site(&self, fresh_for: Duration) -> Served {
        Served::of(Folder::new(&self.0).listing().fresh_for(fresh_for))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A site, and the ledger that is charged for what is held of it.
struct Served {
    site: Arc<Site>,
    ledger: Ledger,
}

impl Served {
    fn of(folder: Folder) -> Self {
        Self { site: folder.site(), ledger: Ledger::new(&Limits::default()) }
    }

    /// Looks a path up, or lists it.
    async fn find(&self, path: &str) -> Found {
        let room = || self.ledger.reserve(0);
        match self.site.find(path, Rules::default(), room()).await {
            Found::Folder => self.site.list(path, Rules::default(), None, room()).await,
            found => found,
        }
    }

    async fn entry(&self, path: &str) -> Arc<Entry> {
        let Found::File(entry) = self.find(path).await else { panic!("{path} is there") };
        entry
    }

    fn load(&self, length: usize) -> io::Result<Entry> {
        let (root, room) = (self.site.root()?, self.ledger.reserve(0).unwrap());
        Entry::load(root, &self.site.open_files, length.to_string().into(), LoadOptions::default(), room)
    }
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Returns the length of the content.
fn length(entry: &Arc<Entry>) -> u64 {
    entry.main.fields.text("content-length").unwrap().parse().unwrap()
}

const HELD_BYTES: usize = entry::HELD_BYTES_MAX as usize;

#[test]
fn a_file_that_changed_is_not_believed_and_one_that_did_not_is() {
    let files = Files::new("changed", &[1024, 100_000]);
    let served = files.site(Duration::ZERO);
    in_runtime(async {
        for name in ["1024", "100000"] {
            let new = served.entry(name).await;
            let stamp = new.main.stamp;
            assert!(
                !new.main.is_good_for(&stamp),
                "what was written just now may be written again unnoticed"
            );
            assert!(stamp.is_settled(SystemTime::now() + Duration::from_secs(10)));
            assert!(served.site.held(name).await.is_none(), "so it is read again");
            fs::remove_file(files.0.join(name)).unwrap();
            assert!(served.site.held(name).await.is_none());
            assert!(matches!(served.find(name).await, Found::Nothing(Status::NOT_FOUND)));
        }
    });
}

#[test]
fn what_is_held_is_bounded_in_number_and_bytes() {
    let files = Files::new("bounds", &[1, HELD_BYTES, HELD_BYTES + 1]);
    let served = files.site(Duration::from_secs(3600));
    for (length, most) in [(1, 16_384), (HELD_BYTES, 1024), (HELD_BYTES + 1, 128)] {
        let entry = Arc::new(served.load(length).unwrap());
        let cache = Cache::new(Duration::ZERO);
        for number in 0..2 * most {
            cache.insert(&number.to_string(), &entry);
        }
        // The parts of the cache are not used evenly, but none holds more than its share.
        let held = (0..2 * most).filter(|number| cache.find(&number.to_string()).is_some()).count();
        assert!(held <= most && held > most / 2, "{held} of {most} files of {length} bytes are held");
    }
}

#[test]
fn open_files_are_bounded_whoever_holds_them() {
    let files = Files::new("open", &[1024, HELD_BYTES + 1]);
    let served = files.site(Duration::from_secs(3600));
    // As answers would that nobody reads.
    let mut sending: Vec<_> =
        (0..open_files::OPEN_MAX).map(|_| served.load(HELD_BYTES + 1).unwrap()).collect();
    in_runtime(async {
        assert!(matches!(served.find("65537").await, Found::Nothing(Status::SERVICE_UNAVAILABLE)));
        assert!(
            matches!(served.find("1024").await, Found::File(_)),
            "small files have their place elsewhere"
        );
        sending.pop();
        assert!(matches!(served.find("65537").await, Found::File(_)));
    });
}

#[test]
fn a_page_is_shared_until_it_would_be_another() {
    let files = Files::new("pages", &[1, 2]);
    // Each request has the folder listed.
    let served = files.site(Duration::ZERO);
    in_runtime(async {
        let first = served.entry("").await;
        let (one, other) = tokio::join!(served.entry(""), served.entry(""));
        assert!(Arc::ptr_eq(&first, &one) && Arc::ptr_eq(&first, &other));
        assert_eq!(length(&first) + entry::ENTRY_BYTES, served.ledger.memory_held());
        // A length that changes is no change of the folder, as its dates have it.
        fs::write(files.0.join("1"), b"longer").unwrap();
        let second = served.entry("").await;
        assert!(!Arc::ptr_eq(&first, &second));
        fs::write(files.0.join("index.html"), b"index").unwrap();
        assert!(!served.entry("").await.is_page);
        fs::remove_file(files.0.join("index.html")).unwrap();
        let third = served.entry("").await;
        assert!(third.is_page && length(&third) == length(&second));
    });
}

#[test]
fn what_was_let_go_and_is_still_sent_is_not_made_twice() {
    let files = Files::new("lent", &[1024]);
    let served = files.site(Duration::from_secs(3600));
    in_runtime(async {
        for path in ["", "1024"] {
            let sending = served.entry(path).await;
            served.site.cache.evict(path);
            assert!(served.site.cache.find(path).is_none());
            assert!(Arc::ptr_eq(&sending, &served.entry(path).await), "{path}");
        }
    });
}

#[test]
fn a_name_is_held_once_however_it_is_spelled() {
    let files = Files::new("spelled", &[1024]);
    fs::write(files.0.join("a b"), b"a b").unwrap();
    fs::write(files.0.join("a%20b"), b"a%20b").unwrap();
    let served = files.site(Duration::from_secs(3600));
    in_runtime(async {
        let entries =
            [served.entry("1024").await, served.entry("%31024").await, served.entry("1%302%34").await];
        assert!(entries.iter().all(|entry| Arc::ptr_eq(entry, &entries[0])));
        for _ in 0..2 {
            for (path, expected) in [("a%20b", 3), ("a%2520b", 5), ("%61%20b", 3), ("%61%2520b", 5)] {
                assert_eq!(length(&served.entry(path).await), expected, "{path}");
            }
        }
    });
}

#[test]
fn what_there_is_no_memory_for_is_refused_and_comes_back() {
    let files = Files::new("memory", &[1024]);
    let served = files.site(Duration::from_secs(3600));
    let limits = Limits::default();
    let others =
        served.ledger.reserve(limits.process_memory_soft_bytes() - served.ledger.memory_held()).unwrap();
    in_runtime(async {
        for path in ["", "1024"] {
            assert!(matches!(served.find(path).await, Found::Nothing(Status::SERVICE_UNAVAILABLE)), "{path}");
        }
        drop(others);
        for path in ["", "1024"] {
            assert!(matches!(served.find(path).await, Found::File(_)), "{path}");
        }
    });
}

/// A listing showed the 10,000 entries that the disk gave first, and files among folders.
#[test]
fn all_entries_are_listed_in_order_however_many_there_are() {
    let files = Files::new("many", &[]);
    for number in 0..ENTRIES_MAX {
        fs::write(files.0.join(format!("{number:05}")), "").unwrap();
    }
    fs::create_dir(files.0.join("zzz")).unwrap();
    let served = files.site(Duration::from_secs(3600));
    let root = served.site.root().unwrap();
    let names = |listing: &listing::Listing| {
        let names = listing.listed.iter().map(|it| it.place.name.clone().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let first = list(root, Path::new(""), false, None).unwrap();
    let last = &first.listed.last().unwrap().place;
    assert_eq!((&*names(&first)[0], first.listed.len(), first.left), ("zzz", ENTRIES_MAX, 1));
    assert_eq!(last.name, "09998");
    let second = list(root, Path::new(""), false, Some(last)).unwrap();
    assert_eq!((names(&second), second.left), (vec!["09999".to_owned()], 0));
    in_runtime(async {
        let page = served.entry("").await;
        let Content::Held(html) = &page.main.content else { panic!("it is a page") };
        assert!(String::from_utf8_lossy(html).contains("<a href=\"?after=09998\">1 more</a>"));
        let after = Place::of_query("after=09998");
        let room = served.ledger.reserve(0);
        let Found::File(rest) = served.site.list("", Rules::default(), after, room).await else {
            panic!("it is a page")
        };
        assert!(!Arc::ptr_eq(&rest, &page) && length(&rest) < length(&page));
        assert!(Arc::ptr_eq(&page, &served.entry("").await), "the first page is held beside it");
    });
}

/// Who asks for pages and leaves made the program list folders on as many threads as there are.
#[test]
fn pages_that_nobody_waits_for_take_the_turns_of_others() {
    let files = Files::new("left", &[]);
    let served = files.site(Duration::ZERO);
    in_runtime(async {
        let site = &served.site;
        let room = served.ledger.reserve(0);
        let mut left = Box::pin(site.list("", Rules::default(), None, room));
        let waker = std::task::Waker::noop();
        let _ = left.as_mut().poll(&mut std::task::Context::from_waker(waker));
        drop(left);
        // The thread holds the turn until its page is made.
        let all = site.pages_at_once.acquire_many(PAGES_AT_ONCE as u32).await.unwrap();
        assert!(site.cache.find("").is_some(), "it was made before all turns were free");
        drop(all);
    });
}

#[test]
fn what_may_not_be_read_is_told_from_what_leads_out() {
    let denied = io::Error::from_raw_os_error(13);
    assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
    let told = |found| match found {
        Found::Unreadable(sentence) => sentence.to_string(),
        Found::Nothing(status) => status.to_string(),
        _ => panic!("it is nothing"),
    };
    assert!(told(absent(Path::new("a/b"), &denied)).starts_with("a/b: "));
    let leads_out = io::Error::new(io::ErrorKind::PermissionDenied, "a path led outside of the filesystem");
    assert_eq!(told(absent(Path::new("a"), &leads_out)), "404");
    let full = io::ErrorKind::OutOfMemory.into();
    assert_eq!(told(absent(Path::new("a"), &full)), "503");
}
