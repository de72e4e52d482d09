//! The workspace as `cargo metadata --no-deps` tells it: packages, features, declared dependencies.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::repository_root;

/// All packages of the workspace.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    /// In the order of `cargo metadata`.
    pub packages: Vec<Package>,
}

/// One package of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// As in its manifest, such as `alula-fields`.
    pub name: String,
    /// Feature names with what they turn on.
    pub features: BTreeMap<String, Vec<String>>,
    /// Every declared dependency, of all kinds and targets.
    pub dependencies: Vec<Dependency>,
    publish: Option<Vec<String>>,
}

/// One line of a manifest's dependency tables.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The package depended on.
    pub name: String,
    /// What it is needed for.
    pub kind: Option<Kind>,
    /// True if a feature must ask for it.
    pub optional: bool,
    /// True if its own default features are on.
    pub uses_default_features: bool,
}

/// What a dependency is needed for, where that is not the ordinary build.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Tests, examples and benchmarks.
    Dev,
    /// The build script.
    Build,
}

impl Workspace {
    /// Asks cargo. Takes some milliseconds and needs no network.
    ///
    /// # Errors
    /// When cargo cannot be run or a manifest is broken.
    pub fn load() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(repository_root())
            .output()
            .context("cargo metadata cannot be run")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("cargo metadata answered something unexpected")
    }

    /// Packages meant for crates.io: those whose manifest does not say `publish = false`.
    pub fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.is_published())
    }
}

impl Package {
    /// Returns true if the package is meant for crates.io.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }
}
