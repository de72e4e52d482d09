//! `-b` and `-c`: cookies that are sent, and the file they are kept in.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _, stdout},
    path::Path,
};

use alula::Jar;

use crate::{
    args::RequestArgs,
    exit::{Failure, Outcome},
};

/// The cookies that are given outright, as the field `cookie` has them.
pub(super) fn given(args: &RequestArgs) -> Option<String> {
    let given: Vec<&str> =
        args.cookies.iter().map(String::as_str).filter(|cookie| cookie.contains('=')).collect();
    (!given.is_empty()).then(|| given.join("; "))
}

/// The jar for all requests, with what is in the files that are named; nothing when no cookies are kept. A file that is not
/// there yet holds none.
pub(super) fn jar(args: &RequestArgs) -> Result<Option<Jar>, Failure> {
    let files = args.cookies.iter().filter(|cookie| !cookie.contains('='));
    let mut jar = args.cookie_jar.is_some().then(Jar::new);
    for file in files {
        let jar = jar.get_or_insert_with(Jar::new);
        match fs::read_to_string(file) {
            Ok(text) => drop(jar.add_netscape(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::local(file, &error)),
        }
    }
    Ok(jar)
}

/// Writes the jar to the file that is named, for nobody else to read.
pub(super) fn keep(args: &RequestArgs, jar: Option<&Jar>) -> Outcome {
    let (Some(path), Some(jar)) = (args.cookie_jar.as_deref(), jar) else { return Ok(()) };
    let written = match path.as_os_str() == "-" {
        true => stdout().write_all(jar.to_netscape().as_bytes()),
        false => write(path, &jar.to_netscape()),
    };
    written.map_err(|error| Failure::local(path.display(), &error))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
