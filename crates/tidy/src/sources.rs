//! The text files of the repository that people write: code, manifests, scripts and documents.

use std::path::Path;

use anyhow::{Context, Result};

use crate::repository_root;

/// One text file.
#[derive(Clone, Debug)]
pub struct Source {
    /// From the repository's root, with `/`.
    pub path: String,
    /// All of it.
    pub text: String,
}

const ENDINGS: [&str; 7] = ["rs", "md", "toml", "sh", "py", "go", "js"];

/// Folders whose files nobody writes by hand, wherever they are.
const NOT_OURS: [&str; 5] = [".git", "target", "testdata", "corpus", "regressions"];

impl Source {
    /// Reads every file of ours. Some milliseconds.
    ///
    /// # Errors
    /// When a folder or a file cannot be read, or a file is not UTF-8.
    pub fn load_all() -> Result<Vec<Self>> {
        let mut sources = Vec::new();
        read_folder(&repository_root(), &mut sources)?;
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(sources)
    }

    /// Returns true if it is Rust code.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Its lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

fn read_folder(folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !NOT_OURS.contains(&&*name) {
            read_folder(&path, sources)?;
        } else if path.is_file() && is_text(&path) {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            sources.push(Source { path: from_root(&path), text });
        }
    }
    Ok(())
}

fn is_text(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ENDINGS.iter().any(|known| ending == *known) || path.ends_with(".ci/run")
}

fn from_root(path: &Path) -> String {
    let path = path.strip_prefix(repository_root()).unwrap_or(path);
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
