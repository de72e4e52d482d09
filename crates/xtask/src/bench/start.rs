//! Whole programs from their start to their end: `alula get` and curl fetch a few octets from the same server, in turns.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use super::program::{Core, Server, Under, args, free_port};
use super::section;
use super::spread::Spread;
use super::table::{fine, spread};
use crate::command::{answer, cargo, needed_program, run};
use crate::costs::table::document;
use crate::tools;

const BEGIN: &str = "<!-- start: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of start -->\n";

/// Both programs fetch so often in each way; once more, before that, without being timed.
const RUNS: usize = 30;

/// What is fetched.
const CONTENT: &str = "hello\n";

/// The authorities that the system trusts, on Debian.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A request, and what each program is told to make it.
struct Way {
    name: &'static str,
    is_secure: bool,
    alula: &'static [&'static str],
    curl: &'static [&'static str],
}

const WAYS: [Way; 5] = [
    Way { name: "HTTP/1.1", is_secure: false, alula: &["--http1.1"], curl: &["--http1.1"] },
    Way {
        name: "HTTP/2, prior knowledge",
        is_secure: false,
        alula: &["--http2-prior-knowledge"],
        curl: &["--http2-prior-knowledge"],
    },
    Way {
        name: "TLS, HTTP/1.1, any certificate",
        is_secure: true,
        alula: &["-k", "--http1.1"],
        curl: &["-k", "--http1.1"],
    },
    Way { name: "TLS, HTTP/2, any certificate", is_secure: true, alula: &["-k"], curl: &["-k"] },
    Way { name: "TLS, HTTP/2, the system's roots", is_secure: true, alula: &[], curl: &[] },
];

/// Milliseconds of each run.
#[derive(Debug, Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// A way with what Alula and curl took.
type Row = (&'static str, [Times; 2]);

/// Builds the program, measures, and gives the section in Markdown.
pub(super) fn measure() -> Result<String> {
    run(&mut cargo(["build", "--release", "--package", "alula-cli"]))?;
    let alula = tools::folder().with_file_name("release").join("alula");
    let curl = needed_program("curl")?;
    let folder = tools::folder().join("bench/start");
    fs::create_dir_all(folder.join("site"))?;
    fs::write(folder.join("site/hello"), CONTENT)?;
    certify(&folder)?;
    let (core, port) = (Core::last()?, free_port()?);
    let server = Server::start(serve(&alula, &folder, port, core)?, Some(port), folder.join("log"), core)?;
    let programs = [&alula, &curl].map(PathBuf::as_path);
    let mut rows = WAYS.map(|way| (way.name, <[Times; 2]>::default()));
    for round in 0..=RUNS {
        for (way, (_, times)) in WAYS.iter().zip(&mut rows) {
            for who in 0..2 {
                let args = [way.alula, way.curl][who];
                let (wall, cpu) = timed(fetch(programs[who], who, way, args, &folder, port, core)?)?;
                if round > 0 {
                    times[who].wall.push(wall);
                    times[who].cpu.push(cpu);
                }
            }
        }
    }
    server.stop(true)?;
    Ok(markdown(&version(&curl)?, &rows))
}

/// Puts the section into the document.
pub(super) fn write(markdown: &str) -> Result<()> {
    let old = fs::read_to_string(document())?;
    Ok(fs::write(document(), section::between(&old, BEGIN, END, markdown)?)?)
}

/// An authority beside those of the system, and a certificate that it has signed for this machine.
pub(super) fn certify(folder: &Path) -> Result<()> {
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

fn serve(alula: &Path, folder: &Path, port: u16, core: Core) -> Result<Command> {
    let listen = format!("127.0.0.1:{port}");
    let mut all = args(["serve"]);
    all.push(folder.join("site").into());
    all.extend(args(["--listen", &listen, "--cert"]));
    all.push(folder.join("certificate.pem").into());
    all.push("--key".into());
    all.push(folder.join("key.pem").into());
    Under::OneCore.command(alula, &all, core)
}

fn fetch(
    program: &Path,
    who: usize,
    way: &Way,
    flags: &[&str],
    folder: &Path,
    port: u16,
    core: Core,
) -> Result<Command> {
    let scheme = if way.is_secure { "https" } else { "http" };
    let mut all: Vec<OsString> = args([["get"], ["-s"]][who]);
    all.extend(args(flags));
    all.push(format!("{scheme}://127.0.0.1:{port}/hello").into());
    let mut command = Under::OneCore.command(program, &all, core)?;
    command.env("SSL_CERT_FILE", folder.join("roots.pem"));
    Ok(command)
}

/// Runs it: milliseconds until it had ended, and those it has computed.
fn timed(mut command: Command) -> Result<(f64, f64)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (before, start) = (getrusage(UsageWho::RUSAGE_CHILDREN)?, Instant::now());
    let output = command.output()?;
    let wall = start.elapsed();
    let cpu = computed(&getrusage(UsageWho::RUSAGE_CHILDREN)?) - computed(&before);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && output.stdout == CONTENT.as_bytes(), "{command:?}: {said}");
    Ok((milliseconds(wall), milliseconds(cpu)))
}

fn computed(usage: &Usage) -> Duration {
    let duration = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs());
    duration(usage.user_time()) + duration(usage.system_time())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// `curl 7.88.1`.
fn version(curl: &Path) -> Result<String> {
    let said = answer(Command::new(curl).arg("--version")).context("curl tells its version")?;
    Ok(said.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

fn markdown(curl: &str, rows: &[Row]) -> String {
    let roots = fs::read_to_string(SYSTEM_ROOTS).unwrap_or_default().matches("BEGIN CERTIFICATE").count() + 1;
    let mut text = format!(
        "{RUNS} runs of each beside {curl}; median (least–most). The roots are {roots}.\n\n\
         | request | who | wall, ms | CPU, ms | wall, × curl | CPU, × curl |\n\
         | --- | --- | ---: | ---: | ---: | ---: |\n"
    );
    for (name, times) in rows {
        let [_, curl] = times;
        for (who, own) in ["Alula", "curl"].iter().zip(times) {
            let figures = |values: &[f64]| spread(Spread::of(values.iter().copied()), fine);
            let ratio = |own: &[f64], by: &[f64]| spread(Spread::of_ratios(own, by), fine);
            let Times { wall, cpu } = own;
            let (walls, cpus) = (ratio(wall, &curl.wall), ratio(cpu, &curl.cpu));
            writeln!(text, "| {name} | {who} | {} | {} | {walls} | {cpus} |", figures(wall), figures(cpu))
                .expect("a String takes any text");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let times = |wall: f64, cpu: f64| Times { wall: vec![wall; 2], cpu: vec![cpu; 2] };
        let table = markdown("curl 8", &[("TLS", [times(3.0, 2.0), times(6.0, 8.0)])]);
        let columns: Vec<usize> = table.lines().skip(2).map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [7; 4], "{table}");
        assert!(table.contains("| 0.50 (0.50–0.50) | 0.25 (0.25–0.25) |"), "{table}");
    }

    #[test]
    fn the_document_has_the_marks() {
        let text = fs::read_to_string(document()).expect("it is there");
        section::between(&text, BEGIN, END, "new").expect("both marks");
    }
}
