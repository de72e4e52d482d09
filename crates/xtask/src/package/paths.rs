//! The folders that a program is built from, which it is not to name: they are the builder's, and their
//! length is part of its size.

use std::{env, fs, path::PathBuf};

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

/// The separator of flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// The folders of sources, each with what stands for it in the program.
pub(super) struct Folders(Vec<(String, &'static str)>);

impl Folders {
    /// Finds the folder of this repository, and one for each registry that libraries came from.
    ///
    /// # Errors
    /// There is no folder of registries, which cargo made when it built this command, or a path is not UTF-8.
    pub(super) fn of_the_build() -> Result<Self> {
        let registries = cargo_home()?.join("registry").join("src");
        let entries = fs::read_dir(&registries).with_context(|| registries.display().to_string())?;
        let mut folders = vec![(text(repository_root())?, "alula")];
        for entry in entries {
            folders.push((text(entry?.path())?, "crates"));
        }
        Ok(Self(folders))
    }

    /// Returns the flags that have the compiler write the short names.
    pub(super) fn flags(&self) -> String {
        let flags = self.0.iter().map(|(folder, name)| format!("--remap-path-prefix={folder}={name}"));
        flags.collect::<Vec<_>>().join(SEPARATOR)
    }

    /// Looks for the folders in a program.
    ///
    /// # Errors
    /// It names one of them.
    pub(super) fn are_unnamed(&self, program: &[u8]) -> Result<()> {
        for (folder, _) in &self.0 {
            let is_named = program.windows(folder.len()).any(|bytes| bytes == folder.as_bytes());
            ensure!(!is_named, "the program names the folder {folder} of this machine");
        }
        Ok(())
    }
}

fn cargo_home() -> Result<PathBuf> {
    let said = env::var_os("CARGO_HOME").map(PathBuf::from);
    said.or_else(|| Some(env::home_dir()?.join(".cargo")))
        .context("neither CARGO_HOME nor a home folder is known")
}

fn text(path: PathBuf) -> Result<String> {
    let path = path.into_os_string().into_string();
    path.ok().context("a path is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_builder_is_found() {
        let folders = Folders(vec![("/home/builder/alula".into(), "alula")]);
        assert_eq!(folders.flags(), "--remap-path-prefix=/home/builder/alula=alula");
        folders.are_unnamed(b"alula/src/main.rs").unwrap();
        let refused = folders.are_unnamed(b"at /home/builder/alula/src/main.rs").unwrap_err();
        assert_eq!(refused.to_string(), "the program names the folder /home/builder/alula of this machine");
    }
}
