//! The check that paths of metrics and probes are not those of objects.

use crate::{
    args::StoreArgs,
    failure::exit::{Exit, Failure, Outcome},
    hooks,
};

/// The first segments of the paths that the store answers.
const OF_THE_STORE: [&str; 6] = ["buckets", "types", "riak", "mapred", "ping", "stats"];

/// Refuses a path that would hide one of the store.
///
/// # Errors
/// There is one.
pub(super) fn check(args: &StoreArgs) -> Outcome {
    let watch = &args.watch;
    let paths = [("metrics", &watch.metrics), ("health", &watch.health), ("ready", &args.ready)];
    hooks::check_paths(&paths)?;
    for (flag, path) in paths {
        let first = path.as_deref().and_then(|path| path.split('/').nth(1));
        if let Some((path, first)) = path.as_ref().zip(first)
            && OF_THE_STORE.contains(&first)
        {
            let sentence = format!(
                "--{flag}={path} would hide a path of the store: name one that does not begin with /{first}"
            );
            return Err(Failure::new(Exit::Usage, sentence));
        }
    }
    Ok(())
}
