//! The permissions of a folder and its files, under a umask that takes none away.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::fjall::{Put, put};
use alula_store::engine::{Fjall, FjallOpenError, FjallOptions};
use rustix::fs::Mode;

/// Has new files and folders of this process be open to all.
fn allow_all() {
    rustix::process::umask(Mode::empty());
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().expect("a file").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode that is set");
}

fn all_below(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![path.to_path_buf()];
    if path.is_dir() {
        let entries = path.read_dir().expect("a folder");
        entries.for_each(|entry| all.extend(all_below(&entry.expect("an entry").path())));
    }
    all
}

/// The files and folders that others than their owner may use, with their modes.
fn open_to_others(folder: &Path) -> Vec<String> {
    let is_open = |path: &PathBuf| mode(path) != if path.is_dir() { 0o700 } else { 0o600 };
    let shown = |path: PathBuf| format!("{} {:o}", path.display(), mode(&path));
    all_below(folder).into_iter().filter(is_open).map(shown).collect()
}

/// Has tables and journals written often.
fn small() -> FjallOptions {
    let mut options = FjallOptions::default();
    options.memtable_bytes = 64 * 1024;
    options
}

fn tables(folder: &Path) -> usize {
    let is_table = |path: &PathBuf| path.parent().is_some_and(|parent| parent.ends_with("tables"));
    all_below(folder).iter().filter(|path| is_table(path)).count()
}

/// Writes until some tables were written, and others in their place.
async fn write_tables(folder: &Path, engine: &Fjall) {
    let before = tables(folder);
    for number in 0_u32.. {
        let value = vec![number as u8; 6000];
        let entry = Put::value(value).entry(b"f_bin", &number.to_be_bytes());
        put(engine, &number.to_be_bytes(), entry).await.expect("a write");
        if number >= 200 && tables(folder) >= before + 2 {
            break;
        }
    }
}

pub(crate) fn only_the_owner_reads_what_an_engine_makes() {
    crate::block_on(async {
        allow_all();
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("above").join("data");
        for _ in 0..2 {
            let engine = Fjall::open(&folder, small()).expect("a folder that opens");
            write_tables(&folder, &engine).await;
            assert_eq!(open_to_others(&folder), Vec::<String>::new());
            drop(engine);
            assert_eq!(open_to_others(&folder), Vec::<String>::new());
        }
        assert!(tables(&folder) > 0 && folder.join("format").exists() && folder.join("lock").exists());
    });
}

pub(crate) fn what_was_open_to_others_is_closed() {
    crate::block_on(async {
        allow_all();
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("data");
        let engine = Fjall::open(&folder, small()).expect("a new folder");
        write_tables(&folder, &engine).await;
        drop(engine);
        for path in all_below(&folder) {
            set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
        }
        let (foreign, linked) = (folder.join("notes"), parent.path().join("linked"));
        fs::write(&foreign, "not of the store").expect("a file");
        fs::write(&linked, "elsewhere").expect("a file");
        let (foreign_mode, linked_mode) = (mode(&foreign), mode(&linked));
        std::os::unix::fs::symlink(&linked, folder.join("fjall").join("link")).expect("a link");

        // The end of a journal that is cut is kept in a file of its own.
        let journals = all_below(&folder.join("fjall"));
        let journal = journals.iter().find(|path| path.extension().is_some_and(|end| end == "jnl"));
        let journal = fs::OpenOptions::new().append(true).open(journal.expect("a journal"));
        std::io::Write::write_all(&mut journal.expect("a file"), &[7; 100]).expect("a damaged end");
        let engine = Fjall::open(&folder, small()).expect("a folder that opens");
        assert_eq!(engine.cut_tails().len(), 1);
        assert_eq!(mode(engine.cut_tails()[0].kept()), 0o600);
        fs::remove_file(folder.join("fjall").join("link")).expect("a link");
        assert_eq!((mode(&foreign), mode(&linked)), (foreign_mode, linked_mode));
        fs::remove_file(&foreign).expect("a file");
        assert_eq!(open_to_others(&folder), Vec::<String>::new());
    });
}

pub(crate) fn a_folder_for_all_users_is_left_as_it_is() {
    allow_all();
    let folder = tempfile::tempdir().expect("a folder");
    set_mode(folder.path(), 0o1777);
    let opened = Fjall::open(folder.path(), small()).map(drop);
    assert!(matches!(&opened, Err(FjallOpenError::NotAStore { .. })), "{opened:?}");
    assert!(opened.unwrap_err().to_string().ends_with("name a folder in it"));
    assert_eq!((mode(folder.path()), all_below(folder.path()).len()), (0o1777, 1));
}

pub(crate) fn a_folder_of_another_user_is_refused() {
    let own = tempfile::tempdir().expect("a folder");
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(own.path(), Some(12345), None).expect("another owner");
    }
    let folder = if is_root { own.path() } else { Path::new("/") };
    let before = mode(folder);
    let opened = Fjall::open(folder, small()).map(drop);
    assert!(matches!(&opened, Err(FjallOpenError::OfAnotherUser { .. })), "{opened:?}");
    let sentence = opened.unwrap_err().to_string();
    let (owner, user) = (if is_root { 12345 } else { 0 }, rustix::process::geteuid().as_raw());
    let expected = format!("this folder belongs to user {owner}, and this program runs as user {user}");
    assert!(sentence.contains(&expected), "{sentence}");
    assert_eq!(mode(folder), before);
    assert!(!folder.join("lock").exists() || !is_root);
}

/// A folder of a system has files of others in it, such as `/` and `/home`: to make it private would take
/// them from everybody.
pub(crate) fn a_folder_with_files_of_others_becomes_no_store() {
    let parent = tempfile::tempdir().expect("a folder");
    let shared = parent.path().join("shared");
    fs::create_dir(&shared).expect("a folder");
    fs::write(shared.join("notes"), "of somebody").expect("a file");
    for open in [0o755, 0o750, 0o701] {
        set_mode(&shared, open);
        let opened = Fjall::open(&shared, small());
        let Err(error @ FjallOpenError::NotAStore { .. }) = opened else { panic!("{opened:?}") };
        assert!(error.to_string().contains("it has other files in it"), "{error}");
        assert_eq!(mode(&shared), open);
        assert_eq!(all_below(&shared).len(), 2, "nothing was made");
    }
    set_mode(&shared, 0o700);
    drop(Fjall::open(&shared, small()).expect("it is of its owner alone"));
    // One that is a store stays one, whatever is put beside it.
    set_mode(&shared, 0o755);
    drop(Fjall::open(&shared, small()).expect("a store"));
    assert_eq!(mode(&shared), 0o700);

    let disk = parent.path().join("disk");
    fs::create_dir_all(disk.join("lost+found")).expect("a folder");
    set_mode(&disk, 0o755);
    drop(Fjall::open(&disk, small()).expect("a disk of its own"));
}
