//! Objects as files, for servers that have nothing else.

use std::fs;
use std::path::Path;

use alula_testkit::objects::{key, value};

use crate::failure::Failure;
use crate::options::Options;

/// Writes the values of all clients, each where its path on a server says.
pub(crate) fn export(folder: &Path, options: &Options) -> Result<(), Failure> {
    for client in 0..options.clients {
        let keys = folder.join("buckets").join(options.bucket_of(client)).join("keys");
        fs::create_dir_all(&keys)?;
        for number in 0..options.keys {
            fs::write(keys.join(key(number)), value(options.seed, client, number))?;
        }
    }
    Ok(())
}
