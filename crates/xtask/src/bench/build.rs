//! Building everything that takes part, when it is first needed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use alula_tidy::repository_root;
use anyhow::{Context, Result, ensure};

use crate::command::{cargo, find_program, needed_program, run};
use crate::costs::measure::Bench;
use crate::{package, tools};

/// The authorities that the system trusts, on Debian.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The content of most answers: 1 KiB.
pub(super) const CONTENT_BYTES: usize = 1024;

/// The programs that were built so far, and the folder of what they share.
pub(super) struct Programs {
    built: RefCell<BTreeMap<&'static str, PathBuf>>,
    /// Certificates, sites, configurations, logs and lists of fields.
    pub(super) folder: PathBuf,
}

impl Programs {
    /// Makes the folder, a certificate and a site.
    pub(super) fn new() -> Result<Self> {
        let folder = tools::folder().join("bench");
        fs::create_dir_all(folder.join("site"))?;
        fs::create_dir_all(folder.join("lists"))?;
        for (name, content) in [("hello", "Hello, World!"), ("kib.txt", &content()), ("memory", &content())] {
            fs::write(folder.join("site").join(name), content)?;
        }
        certify(&folder)?;
        Ok(Self { built: RefCell::default(), folder })
    }

    fn built(&self, name: &'static str, build: impl FnOnce() -> Result<PathBuf>) -> Result<PathBuf> {
        if let Some(program) = self.built.borrow().get(name) {
            return Ok(program.clone());
        }
        let program = build().with_context(|| format!("{name} could not be built"))?;
        self.built.borrow_mut().insert(name, program.clone());
        Ok(program)
    }

    /// `alula-bench`, as `cargo xtask costs` has it; it writes the lists of fields as files.
    pub(super) fn bench(&self) -> Result<PathBuf> {
        self.built("alula-bench", || {
            let bench = Bench::build()?;
            run(Command::new(bench.program()).arg("export").arg(self.lists()))?;
            Ok(bench.program().to_owned())
        })
    }

    /// The lists of fields as files.
    pub(super) fn lists(&self) -> PathBuf {
        self.folder.join("lists")
    }

    pub(super) fn site(&self) -> PathBuf {
        self.folder.join("site")
    }

    /// The certificate and its key.
    pub(super) fn identity(&self) -> [PathBuf; 2] {
        ["certificate.pem", "key.pem"].map(|file| self.folder.join(file))
    }

    /// The program as users have it.
    pub(super) fn alula(&self) -> Result<PathBuf> {
        self.built("alula", || {
            package::build_program()?;
            Ok(package::program())
        })
    }

    /// An example of `crates/bench`.
    pub(super) fn example(&self, name: &'static str) -> Result<PathBuf> {
        self.built(name, || {
            run(&mut cargo(["build", "--profile", "bench", "--package", "alula-bench", "--example", name]))?;
            Ok(tools::folder().with_file_name("release").join("examples").join(name))
        })
    }

    /// The load of stores, which need not be quicker than a release build is.
    pub(super) fn store_load(&self) -> Result<PathBuf> {
        self.built("store-load", || {
            run(&mut cargo(["build", "--release", "--package", "alula-bench", "--bin", "store-load"]))?;
            Ok(tools::folder().with_file_name("release").join("store-load"))
        })
    }

    /// The peers in Rust: about three minutes the first time, most of them for libcurl and fat LTO.
    pub(super) fn rust(&self) -> Result<PathBuf> {
        self.built("the peers in Rust", || rust("rust", "bench-peers", "alula-bench-peers"))
    }

    pub(super) fn store_rust(&self) -> Result<PathBuf> {
        self.built("the store on axum", || rust("store-rust", "bench-store", "alula-bench-store"))
    }

    pub(super) fn nghttp2(&self) -> Result<PathBuf> {
        self.built("nghttp2's peer", || {
            let (program, sources) = (self.folder.join("nghttp2-peer"), sources("c"));
            let mut files: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
                files.push(entry?.path());
            }
            files.retain(|file| file.extension() == Some(OsStr::new("c")));
            files.sort();
            run(compiler().arg("-o").arg(&program).args(&files).arg("-lnghttp2"))?;
            Ok(program)
        })
    }

    /// The counter that the conformance tests preload.
    pub(super) fn malloc_counter(&self) -> Result<PathBuf> {
        self.built("the counter of allocations", || {
            let library = self.folder.join("malloc_counter.so");
            let source = repository_root().join("crates/conformance/peers/malloc_counter.c");
            run(compiler().args(["-fPIC", "-shared", "-o"]).arg(&library).arg(source))?;
            Ok(library)
        })
    }
}

fn sources(language: &str) -> PathBuf {
    repository_root().join("bench-peers").join(language)
}

fn rust(folder: &str, target: &str, name: &str) -> Result<PathBuf> {
    let target = tools::folder().with_file_name(target);
    let mut build = cargo(["build", "--release", "--locked"]);
    run(build.current_dir(sources(folder)).env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release").join(name))
}

fn compiler() -> Command {
    let mut cc = Command::new(find_program("cc").unwrap_or_else(|| "cc".into()));
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror"]);
    cc
}

pub(super) fn content() -> String {
    "a".repeat(CONTENT_BYTES)
}

/// Makes an authority beside those of the system, and a certificate that it has signed for this machine.
fn certify(folder: &Path) -> Result<()> {
    let openssl = needed_program("openssl")?;
    let key = "-nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256";
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")?;
    for line in [
        format!("req -x509 {key} -days 30 -subj /CN=bench -keyout authority-key.pem -out authority.pem"),
        format!("req {key} -subj /CN=127.0.0.1 -keyout key.pem -out request.pem"),
        "x509 -req -in request.pem -CA authority.pem -CAkey authority-key.pem -CAcreateserial -days 30 \
         -extfile names -out certificate.pem"
            .to_owned(),
    ] {
        let made = Command::new(&openssl).args(line.split(' ')).current_dir(folder).output()?;
        ensure!(made.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&made.stderr));
    }
    // Elsewhere there is one root, which favours nobody.
    let system = fs::read_to_string(SYSTEM_ROOTS).unwrap_or_default();
    let own = fs::read_to_string(folder.join("authority.pem"))?;
    Ok(fs::write(folder.join("roots.pem"), own + &system)?)
}
