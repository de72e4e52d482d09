//! `-b` and `-c`: cookies that are sent, and the file they are kept in.
//!
//! Rule: the file of a jar holds secrets. It is written beside its place, for its owner alone, and then takes
//! that place at once, so that no link is followed, nobody reads half of it, and what was there is whole if
//! this fails.

use std::{
    fs::{self, FileType, OpenOptions},
    io::{self, IsTerminal as _, Write as _, stdout},
    path::Path,
};

use alula::{Jar, SkippedLine};
use anstyle::Style;
use tempfile::NamedTempFile;

use crate::fetch::output::Output;
use crate::{
    args::RequestArgs,
    failure::exit::{Exit, Failure, Outcome},
    terminal::{self, Painted},
};

/// Lines of a file that are skipped and reported one by one.
const REPORTED_MAX: usize = 5;

/// The cookies that are given outright, as the field `cookie` has them.
pub(in crate::fetch) fn given(args: &RequestArgs) -> Option<String> {
    let given: Vec<&str> =
        args.cookies.iter().map(String::as_str).filter(|cookie| cookie.contains('=')).collect();
    (!given.is_empty()).then(|| given.join("; "))
}

/// The jar for all requests, with what is in the files that are named; nothing when no cookies are kept. A
/// file that is not there yet holds none, and lines that cannot be read are reported.
pub(in crate::fetch) fn jar(args: &RequestArgs, is_quiet: bool) -> Result<Option<Jar>, Failure> {
    let files = args.cookies.iter().filter(|cookie| !cookie.contains('='));
    let mut jar = args.cookie_jar.is_some().then(Jar::new);
    for file in files {
        let jar = jar.get_or_insert_with(Jar::new);
        match fs::read(file) {
            Ok(bytes) => {
                let bytes = if args.junk_session_cookies { without_sessions(&bytes) } else { bytes };
                let import = jar.add_netscape(bytes);
                if !is_quiet {
                    report(file, import.skipped());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::local(file, &error)),
        }
    }
    Ok(jar)
}

/// The lines of a file but those of cookies that end with the session, which are empty: the numbers of the
/// others stay.
fn without_sessions(bytes: &[u8]) -> Vec<u8> {
    let is_of_session = |line: &[u8]| line.split(|byte| *byte == b'\t').nth(4) == Some(b"0");
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.map(|line| if is_of_session(line) { b"" } else { line }).collect::<Vec<_>>().join(&b'\n')
}

fn report(file: &str, skipped: &[SkippedLine]) {
    let say = |what: String| terminal::tell(Style::new(), format!("alula: {file}: {what}").as_bytes());
    for line in skipped.iter().take(REPORTED_MAX) {
        say(format!("line {} is skipped: {}", line.number(), line.reason()));
    }
    if skipped.len() > REPORTED_MAX {
        say(format!("{} more lines are skipped", skipped.len() - REPORTED_MAX));
    }
}

/// Finds out before anything is sent whether the jar can be written where it is to be.
pub(in crate::fetch) fn check(args: &RequestArgs) -> Outcome {
    match place(args)? {
        // It is gone as soon as it is there.
        Some(JarTarget::File(path)) => {
            beside(path).map(drop).map_err(|error| Failure::local(path.display(), &error))
        }
        _ => Ok(()),
    }
}

/// Writes the jar to the file that is named, for nobody else to read.
pub(in crate::fetch) fn keep(args: &RequestArgs, jar: Option<&Jar>) -> Outcome {
    let (Some(place), Some(jar)) = (place(args)?, jar) else { return Ok(()) };
    let text = jar.to_netscape();
    let (path, written) = match place {
        JarTarget::Stdout => {
            let mut painted = Painted::new(stdout().is_terminal(), false);
            painted.text(text.as_bytes());
            return Output::stdout().show(painted);
        }
        JarTarget::File(path) => (path, replace(path, text.as_bytes())),
        JarTarget::Device(path) => (path, write_to_device(path, text.as_bytes())),
    };
    written.map_err(|error| Failure::local(path.display(), &error))
}

/// The place that a jar is written to.
enum JarTarget<'a> {
    Stdout,
    /// A file that is there, or is to be made.
    File(&'a Path),
    /// A device such as `/dev/null`, which only root can make.
    Device(&'a Path),
}

fn place(args: &RequestArgs) -> Result<Option<JarTarget<'_>>, Failure> {
    let Some(path) = args.cookie_jar.as_deref() else { return Ok(None) };
    if path.as_os_str() == "-" {
        return Ok(Some(JarTarget::Stdout));
    }
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() => Ok(Some(JarTarget::File(path))),
        Ok(there) if is_device(there.file_type()) => Ok(Some(JarTarget::Device(path))),
        Ok(there) => Err(unfit(path, there.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(JarTarget::File(path))),
        Err(error) => Err(Failure::local(path.display(), &error)),
    }
}

fn unfit(path: &Path, there: FileType) -> Failure {
    let what = match () {
        () if there.is_symlink() => "a link",
        () if there.is_dir() => "a folder",
        () => "neither a file nor a device",
    };
    let sentence =
        format_args!("{} is {what}, and no jar is written to it: -c FILE names a file", path.display());
    Failure::new(Exit::Local, sentence)
}

#[cfg(unix)]
fn is_device(there: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&there)
}

#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

fn write_to_device(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // The path was checked before: a link put there since must not be followed.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options.write(true).open(path)?.write_all(bytes)
}

/// Puts a new file in the place of the one that is there, whole or not at all.
pub(in crate::fetch) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(bytes)?;
    // The name must not be there before the content is, whatever happens to the machine.
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Makes a file in the same folder, under a name that nobody knows before and readable by its owner alone.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".alula-jar-").tempfile_in(folder)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_jar_takes_the_place_of_what_is_there_and_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let (jar, other) = (folder.path().join("jar"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        fs::hard_link(&other, &jar).unwrap();
        for _ in 0..2 {
            replace(&jar, b"new").unwrap();
        }
        assert_eq!(
            (fs::read(&jar).unwrap(), fs::read(&other).unwrap()),
            (b"new".to_vec(), b"other".to_vec())
        );
        assert_eq!(fs::metadata(&jar).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside it");
        // One that is put there after the look: it is replaced, not followed.
        fs::remove_file(&jar).unwrap();
        symlink(&other, &jar).unwrap();
        replace(&jar, b"new").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"other");
    }
}
