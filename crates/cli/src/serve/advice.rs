//! Sentences on stderr for whoever starts a server that does something else than was meant.

use std::{fs, io, path::Path};

use anstyle::Style;

use super::INDEX;
use crate::{
    args::{ANY, ServeArgs},
    failure::exit::{Exit, Failure},
    terminal,
};

/// Returns the failure of a folder that cannot be opened, with what was meant instead if that is likely.
pub(super) fn no_folder(args: &ServeArgs, error: &io::Error) -> Failure {
    if args.folder.is_file() {
        let folder = args.folder.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let (file, folder) = (args.folder.display(), folder.display());
        return Failure::new(
            Exit::Local,
            format_args!(
                "serve takes a folder, and {file} is a file (alula serve {folder} serves it beside others)"
            ),
        );
    }
    let failure = Failure::local(args.folder.display(), error);
    match meant(args) {
        Some(advice) => Failure::new(Exit::Local, format_args!("{} ({advice})", failure.sentence())),
        None => failure,
    }
}

fn meant(args: &ServeArgs) -> Option<String> {
    let given = args.folder.to_str()?;
    // The value of these flags stands behind `=`: a folder may follow them.
    for (is_given, flag) in [
        (args.watch.access_log == Some(None), "--access-log"),
        (args.watch.metrics.is_some() && given.starts_with('/'), "--metrics"),
        (args.watch.health.is_some() && given.starts_with('/'), "--health"),
        (!args.watch.cors.is_empty() && (given.contains("://") || given == ANY), "--cors"),
    ] {
        if is_given {
            return Some(format!("perhaps {flag}={given} is meant"));
        }
    }
    let is_port = given.parse::<u16>().is_ok();
    is_port.then(|| format!("perhaps --listen {given} is meant"))
}

/// Says what is likely to be a mistake and is none for certain.
pub(super) fn tell(args: &ServeArgs) {
    if let Some(Some(log)) = args.watch.access_log.as_ref().filter(|_| is_log_served(args)) {
        say(&format!("{} is in the folder that is served: anybody can read it", log.display()));
    }
    if args.spa && !args.folder.join(INDEX).is_file() {
        say(&format!("there is no {INDEX} in {} for --spa yet", args.folder.display()));
    }
}

fn is_log_served(args: &ServeArgs) -> bool {
    let Some(Some(log)) = &args.watch.access_log else { return false };
    let (Ok(folder), Ok(log)) = (fs::canonicalize(&args.folder), fs::canonicalize(log)) else { return false };
    let is_hidden = |path: &Path| path.iter().any(|name| name.as_encoded_bytes().starts_with(b"."));
    log.strip_prefix(folder).is_ok_and(|path| args.dot_files || !is_hidden(path))
}

fn say(sentence: &str) {
    terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes());
}
