//! `cargo xtask browser`: a page with fifty images, served by `alula serve` over TLS, in a headless Chromium.
//!
//! What the browser saw is told by the page itself: its script counts the images that have a width and asks
//! which protocol brought each of them. The screenshot is for people.

mod store;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use alula_tidy::repository_root;
use anyhow::{Context, Result, bail, ensure};

use crate::command::{answer, cargo, run};
use crate::{peers, tools};

pub(crate) use store::command as store_command;

const IMAGES: usize = 50;
/// More than a browser needs for a page on a slow machine.
const SECONDS_MAX: &str = "120";
/// Between these the page says what the browser saw.
const REPORT: [&str; 2] = ["<pre id=\"report\">", "</pre>"];

/// Installs Chromium if need be, runs it once and holds its report against what was served.
pub(crate) fn command() -> Result<ExitCode> {
    peers::install_browser()?;
    run(&mut cargo(["build", "--package", "alula-cli"]))?;
    let folder = target().join("browser");
    // What an earlier run has left, its profile above all, would be another browser.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    write_site(&folder.join("site"))?;
    let server = Server::start(&folder)?;
    let dom = visit(&server.url, &folder.join("profile"))?;
    drop(server);
    check_report(&dom)?;
    check_log(&fs::read_to_string(folder.join("log"))?)?;
    ensure!(screenshot().is_file(), "Chromium made no screenshot");
    println!("{IMAGES} images and their page came by HTTP/2: {}", screenshot().display());
    Ok(ExitCode::SUCCESS)
}

fn target() -> PathBuf {
    tools::folder().with_file_name("")
}

fn screenshot() -> PathBuf {
    target().join("browser.png")
}

/// The page, and its images in a folder beside it.
fn write_site(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("images"))?;
    let mut images = String::new();
    for number in 1..=IMAGES {
        fs::write(folder.join(format!("images/{number}.svg")), image(number))?;
        writeln!(images, "<img src=\"images/{number}.svg\" alt=\"{number}\">")?;
    }
    fs::write(folder.join("index.html"), page(&images))?;
    Ok(())
}

/// A number on a colour of its own.
fn image(number: usize) -> String {
    let hue = number * 360 / IMAGES;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"88\" height=\"60\">\
         <rect width=\"88\" height=\"60\" rx=\"8\" fill=\"hsl({hue} 60% 45%)\"/>\
         <text x=\"44\" y=\"40\" fill=\"white\" font-family=\"sans-serif\" font-size=\"28\" \
         text-anchor=\"middle\">{number}</text></svg>\n"
    )
}

/// The report has a line for the count of images, and one for each protocol with how many things it brought.
fn page(images: &str) -> String {
    let [begin, end] = REPORT;
    format!(
        "<!doctype html>
<meta charset=\"utf-8\">
<title>alula serve</title>
<style>body {{ font: 16px sans-serif; margin: 16px; }} img {{ margin: 2px; }}</style>
<h1>{IMAGES} images \u{2013} served by Alula</h1>
<p>{images}
{begin}{end}
<script>
addEventListener('load', () => {{
  const shown = [...document.images].filter((image) => image.naturalWidth > 0).length;
  const entries = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  const wanted = entries.filter((entry) => !entry.name.endsWith('favicon.ico'));
  const counts = {{}};
  for (const entry of wanted) {{
    const protocol = entry.nextHopProtocol || 'unknown';
    counts[protocol] = (counts[protocol] || 0) + 1;
  }}
  const lines = Object.entries(counts).map(([protocol, count]) => `${{protocol}}: ${{count}}`);
  document.getElementById('report').textContent = [`images: ${{shown}}`, ...lines].join('\\n');
}});
</script>
"
    )
}

/// `alula serve`, ended with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts it on the site in this folder, its log beside the site.
    fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new(target().join("debug").join("alula"));
        command.arg("serve").arg(folder.join("site")).args([
            "--listen",
            "127.0.0.1:0",
            "--self-signed",
            "--log",
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(folder.join("log"))?);
        let mut child = command.spawn().context("`alula serve` cannot be run")?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut server = Self { child, url: String::new() };
        for line in BufReader::new(output).lines() {
            if let Some(url) = line?.strip_prefix("listening on https") {
                server.url = format!("https{url}/");
                return Ok(server);
            }
        }
        bail!("`alula serve` ended before it listened")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has Chromium load the page and draw it, and answers the document as it is afterwards.
fn visit(url: &str, profile: &Path) -> Result<String> {
    let mut chromium = chromium(profile);
    chromium.args(["--ignore-certificate-errors", "--hide-scrollbars", "--window-size=1000,640"]);
    chromium.arg(format!("--screenshot={}", screenshot().display()));
    let _ = fs::remove_file(screenshot());
    dom(chromium, url)
}

/// A headless Chromium with this profile, which prints the document as it is when the page has come to rest.
fn chromium(profile: &Path) -> Command {
    let mut chromium = Command::new("timeout");
    chromium.args([SECONDS_MAX, "chromium", "--headless", "--disable-gpu"]);
    chromium.args(["--no-first-run", "--disable-background-networking"]);
    // Drawing begins when the page has had so many milliseconds of its own time, which rests while it waits
    // for us.
    chromium.args(["--virtual-time-budget=10000", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", profile.display()));
    if answer(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0") {
        // The sandbox needs a user who has something to lose.
        chromium.arg("--no-sandbox");
    }
    chromium
}

/// Has Chromium load a page, and returns the document as it is afterwards.
fn dom(mut chromium: Command, url: &str) -> Result<String> {
    println!("$ chromium --headless --dump-dom {url}");
    let output = chromium.arg(url).stdin(Stdio::null()).current_dir(repository_root()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "Chromium ended with {}:\n{said}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Every image was shown, and HTTP/2 brought them and the page.
fn check_report(dom: &str) -> Result<()> {
    let [begin, end] = REPORT;
    let report = dom.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
    let (report, _) = report.with_context(|| format!("the page has no report:\n{dom}"))?;
    println!("{report}");
    let expected = format!("images: {IMAGES}\nh2: {}", IMAGES + 1);
    ensure!(report == expected, "the page should have said:\n{expected}");
    Ok(())
}

/// The server sent each of them once, and whole.
fn check_log(log: &str) -> Result<()> {
    let is_sent = |path: &str| log.lines().filter(|line| is_answered(line, path)).count() == 1;
    for path in (1..=IMAGES).map(|number| format!("/images/{number}.svg")).chain(["/".to_owned()]) {
        ensure!(is_sent(&path), "{path} was not sent once and whole:\n{log}");
    }
    Ok(())
}

fn is_answered(line: &str, path: &str) -> bool {
    line.contains(&format!("\"GET {path} HTTP/2\" 200 "))
        && !line.ends_with(" cut off")
        && !line.ends_with(" client left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_must_say_all_images_and_http2() {
        let dom = |report: &str| format!("<body>{}{report}{}</body>", REPORT[0], REPORT[1]);
        assert!(check_report(&dom("images: 50\nh2: 51")).is_ok());
        for wrong in ["images: 49\nh2: 51", "images: 50\nh2: 50\nhttp/1.1: 1", "images: 50\nunknown: 51", ""]
        {
            assert!(check_report(&dom(wrong)).is_err(), "{wrong}");
        }
        assert!(check_report("<body></body>").is_err());
    }

    #[test]
    fn a_log_must_have_each_once_and_whole() {
        let line = |path: &str| format!("127.0.0.1 - - [] \"GET {path} HTTP/2\" 200 9 0.000100\n");
        let paths = (1..=IMAGES).map(|number| format!("/images/{number}.svg"));
        let log: String = paths.chain(["/".to_owned()]).map(|path| line(&path)).collect();
        assert!(check_log(&log).is_ok());
        assert!(check_log(&format!("{log}{}", line("/images/7.svg"))).is_err());
        assert!(check_log(&log.replacen("0.000100\n", "0.000100 cut off\n", 1)).is_err());
        assert!(check_log(&log.replacen("0.000100\n", "0.000100 client left\n", 1)).is_err());
        assert!(check_log(&log.replace("/images/50.svg", "/images/51.svg")).is_err());
    }
}
