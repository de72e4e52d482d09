//! Who may depend on whom: one table, held against every manifest and printed in ARCHITECTURE.md.
//!
//! An arrow goes only to a lower layer, and siblings never see each other. Dev-dependencies obey the same
//! table, but every crate may test with `tally` and `testkit` and with any outside crate, and show its
//! examples with `alula`.

use std::fmt::Write;

use crate::{Dependency, Kind, Package};

/// One row: crates of one layer that live under the same rule.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    name: &'static str,
    crates: &'static [&'static str],
    may_use: Own,
    outside: Outside,
}

/// Which of Alula's crates a layer may use.
#[derive(Clone, Copy, Debug)]
enum Own {
    Only(&'static [&'static str]),
    Anything,
}

/// Which crates from elsewhere a layer may use.
#[derive(Clone, Copy, Debug)]
enum Outside {
    Only(&'static [&'static str]),
    /// Only behind a feature that is off by default.
    Optional(&'static [&'static str]),
    AsNeeded,
}

/// The crates that the tests and examples of every layer may use besides what the layer itself may use.
const FOR_TESTS: [&str; 5] = ["alula", "driven", "power", "tally", "testkit"];

/// The table. `python` has its place before it exists.
pub const LAYERS: &[Layer] = &[
    layer("0", &["fields"], Own::Only(&[]), Outside::Optional(&["http"])),
    layer("0", &["tally"], Own::Only(&[]), Outside::Only(&[])),
    layer("0'", &["machine"], Own::Only(&["fields"]), Outside::Only(&[])),
    layer("0\"", &["hpack"], Own::Only(&["fields", "machine"]), Outside::Only(&[])),
    layer("1", &["h1"], Own::Only(&["fields", "machine"]), Outside::Only(&["memchr"])),
    layer("1", &["h2"], Own::Only(&["fields", "machine", "hpack"]), Outside::Only(&[])),
    layer(
        "2",
        &["net"],
        Own::Only(&["fields", "machine", "hpack", "h1", "h2"]),
        Outside::Only(&[
            "bytes",
            "futures-core",
            "http",
            "http-body",
            "pin-project-lite",
            "rustix",
            "rustls",
            "rustls-native-certs",
            "rustls-pki-types",
            "serde_core",
            "serde_json",
            "socket2",
            "tokio",
        ]),
    ),
    layer(
        "2'",
        &["coding"],
        Own::Only(&["fields", "net"]),
        Outside::Optional(&["brotli-decompressor", "flate2", "zstd-safe"]),
    ),
    layer(
        "3",
        &["client"],
        Own::Only(&["fields", "machine", "hpack", "h1", "h2", "net", "coding"]),
        Outside::AsNeeded,
    ),
    layer(
        "3",
        &["server"],
        Own::Only(&["fields", "machine", "hpack", "h1", "h2", "net", "coding"]),
        Outside::AsNeeded,
    ),
    layer(
        "4",
        &["alula"],
        Own::Only(&["fields", "machine", "hpack", "h1", "h2", "net", "client", "server"]),
        Outside::Only(&[]),
    ),
    layer("5", &["store", "python"], Own::Only(&["alula", "tally"]), Outside::AsNeeded),
    layer("6", &["cli"], Own::Only(&["alula", "store", "tally"]), Outside::AsNeeded),
    layer("side", &["driven"], Own::Only(&["fields", "machine", "h1", "h2"]), Outside::Only(&[])),
    layer("side", &["testkit"], Own::Only(&["tally"]), Outside::AsNeeded),
    layer("side", &["power"], Own::Only(&["testkit"]), Outside::Only(&[])),
    layer("side", &["disk-recorder"], Own::Only(&["power"]), Outside::Only(&["libc"])),
    // What clients and servers read of hostile bytes is fuzzed as well: both lay it open by a feature. The
    // parser of the command is included as a file, with the one crate that it uses.
    layer(
        "side",
        &["trials"],
        Own::Only(&[
            "fields", "machine", "hpack", "h1", "h2", "coding", "client", "server", "store", "driven",
            "tally", "testkit",
        ]),
        Outside::Only(&["percent-encoding", "tokio"]),
    ),
    layer("side", &["tidy"], Own::Only(&[]), Outside::AsNeeded),
    layer("side", &["conformance", "bench", "simulation", "xtask"], Own::Anything, Outside::AsNeeded),
];

const fn layer(name: &'static str, crates: &'static [&'static str], may_use: Own, outside: Outside) -> Layer {
    Layer { name, crates, may_use, outside }
}

/// Everything in the manifests that the table does not allow.
#[must_use]
pub fn check_layers(packages: &[Package]) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Some(layer) = layer_of(&package.name) else {
            found.push(format!("{} is in no layer: add it to the table in crates/tidy", package.name));
            continue;
        };
        // The examples and tests of a crate may turn on more of its own features.
        let others = package.dependencies.iter().filter(|dependency| dependency.name != package.name);
        let refused = others.filter(|dependency| !layer.allows(dependency));
        found.extend(refused.map(|dependency| {
            format!("{} (layer {}) may not depend on {}", package.name, layer.name, dependency.name)
        }));
    }
    found
}

/// The table in Markdown, as ARCHITECTURE.md shows it.
#[must_use]
pub fn layers_as_markdown() -> String {
    let mut text = String::from("| layer | crate | Alula crates it may use | outside crates |\n");
    text.push_str("| --- | --- | --- | --- |\n");
    for layer in LAYERS {
        let (crates, own, outside) =
            (layer.crates.join("; "), layer.own_in_words(), layer.outside_in_words());
        writeln!(text, "| {} | {crates} | {own} | {outside} |", layer.name).expect("a String takes any text");
    }
    text
}

impl Layer {
    fn allows(&self, dependency: &Dependency) -> bool {
        let is_for_tests = dependency.kind == Some(Kind::Dev);
        match short_name(&dependency.name) {
            Some(own) => self.allows_own(own) || is_for_tests && FOR_TESTS.contains(&own),
            None => is_for_tests || self.allows_outside(dependency),
        }
    }

    fn allows_own(&self, name: &str) -> bool {
        match self.may_use {
            Own::Only(names) => names.contains(&name),
            Own::Anything => true,
        }
    }

    fn allows_outside(&self, dependency: &Dependency) -> bool {
        match self.outside {
            Outside::Only(names) => names.contains(&&*dependency.name),
            Outside::Optional(names) => names.contains(&&*dependency.name) && dependency.optional,
            Outside::AsNeeded => true,
        }
    }

    fn own_in_words(&self) -> String {
        match self.may_use {
            Own::Only([]) => "none".into(),
            Own::Only(names) => names.join(", "),
            Own::Anything => "anything; nothing depends on them".into(),
        }
    }

    fn outside_in_words(&self) -> String {
        match self.outside {
            Outside::Only([]) => "none".into(),
            Outside::Only(names) => names.join(", "),
            Outside::Optional(names) => format!("{}, by features that are off by default", names.join(", ")),
            Outside::AsNeeded => "as needed".into(),
        }
    }
}

fn layer_of(package: &str) -> Option<&'static Layer> {
    let name = short_name(package)?;
    LAYERS.iter().find(|layer| layer.crates.contains(&name))
}

/// `fields` for `alula-fields`, `alula` for the facade, `None` for crates that are not ours.
fn short_name(package: &str) -> Option<&str> {
    if package == "alula" { Some(package) } else { package.strip_prefix("alula-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(json: &str) -> Vec<Package> {
        vec![serde_json::from_str(json).expect("a package")]
    }

    fn one(name: &str, dependency: &str, rest: &str) -> Vec<String> {
        check_layers(&package(&format!(
            r#"{{"name":"{name}","features":{{}},"publish":null,"dependencies":
            [{{"name":"{dependency}","kind":null,"optional":false,"uses_default_features":true{rest}}}]}}"#
        )))
    }

    #[test]
    fn siblings_and_higher_layers_are_refused() {
        assert_eq!(one("alula-client", "alula-server", "").len(), 1);
        assert_eq!(one("alula-hpack", "alula-h2", "").len(), 1);
        assert_eq!(one("alula-h2", "tokio", "").len(), 1);
        assert_eq!(one("alula-fields", "http", "").len(), 1, "http must be optional");
        assert_eq!(one("alula-fields", "alula-testkit", "").len(), 1, "only tests may use testkit");
        assert_eq!(
            one("alula-surprise", "tokio", ""),
            ["alula-surprise is in no layer: add it to the table in crates/tidy"]
        );
    }

    #[test]
    fn lower_layers_are_allowed() {
        assert_eq!(one("alula-h2", "alula-hpack", ""), [""; 0]);
        assert_eq!(one("alula-net", "tokio", ""), [""; 0]);
        assert_eq!(one("alula-bench", "alula-net", ""), [""; 0]);
        assert_eq!(one("alula-h2", "alula", "").len(), 1, "only examples may use the facade");
    }

    #[test]
    fn no_layer_may_use_itself_or_one_that_comes_later() {
        for (index, layer) in LAYERS.iter().enumerate() {
            let Own::Only(names) = layer.may_use else { continue };
            for name in names {
                let used = LAYERS.iter().position(|other| other.crates.contains(name));
                assert!(used.is_some_and(|used| used < index), "{:?} uses {name}", layer.crates);
            }
        }
    }
}
