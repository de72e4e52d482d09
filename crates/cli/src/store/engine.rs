//! The engines of the command, and the folder of the engine with files.

use std::{fmt, fs, num::NonZeroU64, path::Path};

use alula_store::engine::{CutTail, Fjall, FjallOptions, Memory};
use anstyle::Style;

use super::machine;
use crate::{
    args::{EngineName, StoreArgs},
    failure::exit::{Exit, Failure},
    terminal,
};

/// The place in which objects are kept.
pub(super) enum StoreLocation<'a> {
    Memory,
    Folder(&'a Path),
}

/// Returns the place in which the arguments keep objects.
///
/// # Errors
/// They name no folder, or one that would not be used.
pub(super) fn place(args: &StoreArgs) -> Result<StoreLocation<'_>, Failure> {
    match (args.engine, &args.data) {
        (EngineName::Memory, None) => Ok(StoreLocation::Memory),
        (EngineName::Fjall, Some(_)) if args.engine_max.is_some() => Err(Failure::new(
            Exit::Usage,
            "--engine-max bounds --engine memory: what is kept in a folder is bounded by its disk",
        )),
        (EngineName::Fjall, Some(folder)) => Ok(StoreLocation::Folder(folder)),
        (EngineName::Memory, Some(_)) => {
            Err(Failure::new(Exit::Usage, "--engine memory keeps nothing in a folder: leave --data out"))
        }
        (EngineName::Fjall, None) => Err(Failure::new(
            Exit::Usage,
            "no folder for the objects is named: add --data DIR, or --engine memory to keep them until the end",
        )),
    }
}

/// Creates the folder if necessary, and returns true if it is empty.
///
/// # Errors
/// It cannot be made or read, or is a file.
pub(super) fn make(folder: &Path) -> Result<bool, Failure> {
    if folder.exists() && !folder.is_dir() {
        let sentence = format_args!("--data takes a folder, and {} is a file", folder.display());
        return Err(Failure::new(Exit::Local, sentence));
    }
    // A link to a disk that is not mounted: a new folder in its place would look like an empty store.
    if folder.is_symlink() && !folder.exists() {
        let sentence = format_args!("--data takes a folder, and {} is a link to none", folder.display());
        return Err(Failure::new(Exit::Local, sentence));
    }
    let made = fs::create_dir_all(folder).and_then(|()| Ok(fs::read_dir(folder)?.next().is_none()));
    made.map_err(|error| Failure::local(opening(folder), &error))
}

/// Creates an engine in memory, with its bound. An operator hears on stderr when that is reached.
pub(super) fn memory(args: &StoreArgs) -> Memory {
    let bound = args.engine_max.map_or_else(|| machine::memory_bytes() / 2, NonZeroU64::get);
    Memory::bounded(bound).on_event(|event| tell_event(event))
}

/// Opens the engine in a folder, with a queue for at least so many bytes. What it had to cut off there is
/// told on stderr.
///
/// # Errors
/// It cannot be opened.
pub(super) fn open(folder: &Path, bytes_waiting_max: usize) -> Result<Fjall, Failure> {
    let mut options = FjallOptions::default();
    options.bytes_waiting_max = bytes_waiting_max.max(options.bytes_waiting_max);
    options.reserve = true;
    options.on_event = Some(|event| tell_event(event));
    let engine = Fjall::open(folder, options).map_err(|error| {
        // Most errors begin with the folder, which the sentence names.
        let text = error.to_string();
        let named = [Ok(folder.to_path_buf()), folder.canonicalize()].into_iter().flatten();
        let mut rest = named.filter_map(|folder| text.strip_prefix(&format!("{}: ", folder.display())));
        not_opened(Some(folder), &rest.next().unwrap_or(&text))
    })?;
    engine.cut_tails().iter().for_each(tell);
    Ok(engine)
}

/// Reports an event of the engine to the operator.
fn tell_event(event: &dyn fmt::Display) {
    terminal::tell(Style::new(), format!("alula: {event}").as_bytes());
}

fn tell(cut: &CutTail) {
    let (journal, kept) = (cut.journal().display(), cut.kept().display());
    let bytes = cut.bytes();
    let sentence = format!("alula: {journal}: its last {bytes} bytes are damaged and were moved to {kept}");
    terminal::tell(Style::new(), sentence.as_bytes());
}

/// Returns the failure to open the store.
pub(super) fn not_opened(folder: Option<&Path>, error: &impl fmt::Display) -> Failure {
    Failure::new(Exit::Local, format_args!("{}: {error}", opening(folder.unwrap_or(Path::new("memory")))))
}

fn opening(folder: &Path) -> String {
    format!("cannot open the store in {}", folder.display())
}
