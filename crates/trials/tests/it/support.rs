//! The corpus on disk, and mutations of it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use alula_testkit::{Rng, hex};

/// Where the seeds and regressions of all targets lie.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Runs a body over its corpus, over so many mutations of it, and over noise for a tenth as often; the same
/// every time.
pub(crate) fn run(target: &str, body: fn(&[u8]), mutations: usize) {
    let seeds = seeds(target);
    seeds.iter().for_each(|(name, bytes)| run_one(name, body, bytes));
    let mut rng = Rng::new(target.len() as u64);
    for number in 0..mutations {
        let (name, seed) = rng.pick(&seeds).clone();
        let bytes = mutate(seed, &seeds, &mut rng);
        run_one(&format!("mutation {number} of {name}"), body, &bytes);
    }
    for number in 0..mutations / 10 {
        let bytes: Vec<u8> = (0..rng.below(1500)).map(|_| rng.byte()).collect();
        run_one(&format!("noise {number}"), body, &bytes);
    }
}

/// The files of a target, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = corpus().join(target);
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no seed", folder.display());
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read(file).expect("a readable file"))).collect()
}

/// Runs the body, and says with which bytes it failed.
fn run_one(name: &str, body: fn(&[u8]), bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(bytes))) {
        eprintln!("failed with {name}: {}", hex::format(bytes));
        resume_unwind(panic);
    }
}

/// One to eight small changes.
fn mutate(mut bytes: Vec<u8>, seeds: &[(String, Vec<u8>)], rng: &mut Rng) -> Vec<u8> {
    for _ in 0..1 + rng.below(8) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.byte()),
            2 => drop(bytes.drain(at..(at + 1 + rng.below(4)).min(bytes.len()).max(at))),
            3 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << rng.below(8)),
            4 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = rng.byte()),
            5 => {
                let limit = *rng.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff]);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = limit);
            }
            6 => {
                let again: Vec<u8> = bytes[at..].iter().copied().take(1 + rng.below(24)).collect();
                bytes.splice(at..at, again);
            }
            _ => {
                let other = &rng.pick(seeds).1;
                let part = &other[rng.below(other.len() + 1)..];
                bytes.splice(at..at, part.iter().copied().take(64));
            }
        }
    }
    bytes
}
