//! `-z`, `--etag-save` and `--etag-compare`: requests a response only if it has changed (RFC 9110 §13).

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
    time::SystemTime,
};

use alula::{KnownName, Response};
use anstyle::Style;
use httpdate::{fmt_http_date, parse_http_date};

use super::date;
use crate::fetch::output::{Output, There, destination::Destination};
use crate::{
    args::{OutputArgs, TransferArgs},
    failure::exit::{Failure, Outcome},
    terminal::{self, Painted},
};

/// The status of a response to the first URL that has not changed.
pub(in crate::fetch) const NOT_MODIFIED: u16 = 304;

/// A date, and whether the resource has to have changed before or after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct TimeCondition {
    date: SystemTime,
    /// The resource has to be unchanged since the date; otherwise it has to have changed.
    is_before: bool,
}

/// Returns the fields of the condition.
pub(in crate::fetch) fn fields(
    args: &TransferArgs,
    output: &OutputArgs,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let condition = time_condition(args);
    if args.time_cond.is_some() && condition.is_none() && !output.silent {
        let text =
            b"alula: -z was given neither a date nor a file that exists, and the request has no condition";
        terminal::tell(Style::new(), text);
    }
    let by_time = condition.map(|TimeCondition { date, is_before }| {
        (if is_before { "if-unmodified-since" } else { "if-modified-since" }, fmt_http_date(date))
    });
    let by_etag = args.etag_compare.as_deref().map(|path| known_etag(path, args.etag_save.is_some()));
    let by_etag = by_etag.transpose()?.map(|etag| ("if-none-match", etag));
    Ok(by_time.into_iter().chain(by_etag).collect())
}

/// Parses a date, or takes that of a file; returns nothing if it is neither.
fn time_condition(args: &TransferArgs) -> Option<TimeCondition> {
    let given = args.time_cond.as_deref()?;
    let (is_before, text) = match given.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, given.strip_prefix('+').unwrap_or(given)),
    };
    let date = date::read(text).or_else(|| fs::metadata(text).ok()?.modified().ok())?;
    Some(TimeCondition { date, is_before })
}

/// Returns the etag in a file; one that matches nothing if the file is empty.
fn known_etag(path: &Path, may_be_missing: bool) -> Result<String, Failure> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_missing => Ok(String::new()),
        text => text.map_err(|error| Failure::unread(path.display(), &error)),
    };
    let etag = text?.trim().to_owned();
    // An empty tag matches nothing, so that the first response is stored.
    Ok(if etag.is_empty() { "\"\"".to_owned() } else { etag })
}

/// Checks before the request that the etag can be saved.
pub(in crate::fetch) fn check(args: &TransferArgs) -> Outcome {
    match args.etag_save.as_deref().filter(|path| path.as_os_str() != "-") {
        None => Ok(()),
        Some(path) => {
            let opened = OpenOptions::new().append(true).create(true).open(path);
            opened.map(drop).map_err(|error| Failure::unread(path.display(), &error))
        }
    }
}

/// Saves the etag of the response. One of 304 that has none leaves what is known.
pub(in crate::fetch) fn keep_etag(args: &TransferArgs, response: &Response) -> Outcome {
    let Some(path) = &args.etag_save else { return Ok(()) };
    let etag = response.headers().get(KnownName::ETAG);
    // A server may leave the tag out of a 304, and the one in the file still holds.
    if etag.is_none() && response.status().as_u16() == NOT_MODIFIED {
        return Ok(());
    }
    let to = Destination::named(path);
    let mut line = Painted::new(to.is_terminal(), false);
    if let Some(etag) = etag {
        line.text(etag);
        line.own("\n");
    }
    Output::open(&to, There::IsReplaced, false)?.show(line)
}

/// Returns true if the server has ignored the condition, and the date of the response does not meet it.
pub(in crate::fetch) fn is_unmet(args: &TransferArgs, response: &Response) -> bool {
    let Some(TimeCondition { date, is_before }) = time_condition(args) else { return false };
    let modified = last_modified(response);
    response.status().as_u16() == 200
        && modified.is_some_and(|modified| if is_before { modified > date } else { modified <= date })
}

fn last_modified(response: &Response) -> Option<SystemTime> {
    let value = response.headers().get(KnownName::LAST_MODIFIED)?;
    parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

/// Applies `-R`: gives the file the time of the resource. A response without one leaves that of the file.
pub(in crate::fetch) fn set_time(path: &Path, last_modified: &[u8]) {
    let text = std::str::from_utf8(last_modified).ok();
    let Some(time) = text.and_then(|text| parse_http_date(text).ok()) else { return };
    let set = OpenOptions::new().write(true).open(path).and_then(|file| file.set_modified(time));
    if let Err(error) = set {
        let line = format!("alula: {}: its time could not be set: {error}", path.display());
        terminal::tell(Style::new(), line.as_bytes());
    }
}
