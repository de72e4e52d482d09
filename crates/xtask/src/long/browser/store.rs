//! `cargo xtask browser --store`: pages of other origins, a rebinding host and stored pages, against
//! `alula store` in a headless Chromium.
//!
//! The browser is the one judge of what its fields mean: a page reports what it got, and the store is asked
//! for its keys afterwards. A link from elsewhere still shows an object.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use super::{REPORT, chromium, dom, target};
use crate::command::{cargo, run};
use crate::peers;

const SECRET: &str = "an object that no page may read";

/// Names that lead to this machine: one of the pages of another site, one that was rebound to the store.
const RESOLVER: &str = "--host-resolver-rules=MAP attacker.test 127.0.0.1, MAP rebound.test 127.0.0.1";

/// What a script does that must not run.
const SCRIPT: &str =
    "fetch(location.href + '-ran', {method: 'PUT', headers: {'content-type': 'text/plain'}, body: 'x'})";

/// What a page of another origin may report.
const NOTHING: &str = "read: nothing\nread without CORS: nothing\nimage: nothing\nscript: nothing\nframe: nothing\n\
                       PUT: nothing\nPOST: tried\nform: tried\n";

/// Installs Chromium if need be and tries all pages.
pub(crate) fn command() -> Result<ExitCode> {
    peers::install_browser()?;
    let program = match std::env::var_os("ALULA_BIN") {
        Some(program) => PathBuf::from(program),
        None => {
            run(&mut cargo(["build", "--package", "alula-cli"]))?;
            target().join("debug").join("alula")
        }
    };
    let folder = target().join("browser-store");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut trial = Trial { store: Store::start(&program)?, folder, known: Vec::new(), wrong: Vec::new() };
    trial.put_objects()?;
    trial.other_origins()?;
    trial.rebound_host()?;
    trial.stored_pages()?;
    ensure!(trial.wrong.is_empty(), "{}", trial.wrong.join("\n"));
    println!("pages of other origins read and write nothing, and stored pages run no script");
    Ok(ExitCode::SUCCESS)
}

/// A store that pages attack, and what they have got.
struct Trial {
    store: Store,
    folder: PathBuf,
    /// The keys of the store that were told of.
    known: Vec<String>,
    wrong: Vec<String>,
}

/// Pages that are stored: a key, a media type and a content that runs a script.
fn pages() -> [(&'static str, &'static str, String); 3] {
    let document = format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><script>{SCRIPT}</script></html>");
    let image = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><script>{SCRIPT}</script></svg>"
    );
    [
        ("html", "text/html", format!("<!doctype html>{document}")),
        ("xhtml", "application/xhtml+xml", document),
        ("svg", "image/svg+xml", image),
    ]
}

impl Trial {
    fn put_objects(&mut self) -> Result<()> {
        self.store.put("secret", "text/plain", SECRET)?;
        self.store.put("script", "text/javascript", "window.stolen = 'read by a script'")?;
        for (key, media_type, content) in pages() {
            self.store.put(key, media_type, &content)?;
        }
        self.known = self.store.keys()?;
        Ok(())
    }

    /// A page of another site, and one of another port of this site.
    fn other_origins(&mut self) -> Result<()> {
        let link = format!("http://127.0.0.1:{}/buckets/b/keys/secret", self.store.port);
        let site = Site::start(attacking_page(self.store.port), link)?;
        for host in ["attacker.test", "127.0.0.1"] {
            let shown = self.visit(&format!("http://{host}:{}/", site.port))?;
            let [begin, end] = REPORT;
            let report = shown.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
            let (report, _) = report.with_context(|| format!("the page has no report:\n{shown}"))?;
            println!("a page of {host}:\n{report}");
            self.check(report == NOTHING, &format!("a page of {host} reports other than:\n{NOTHING}"));
            self.check(!shown.contains(SECRET), &format!("a page of {host} reads an object"));
            self.check_keys(&format!("a page of {host}"))?;
        }
        let shown = self.visit(&format!("http://attacker.test:{}/link", site.port))?;
        self.check(shown.contains(SECRET), "a link from another site shows no object");
        Ok(())
    }

    /// A page whose own name leads to the store.
    fn rebound_host(&mut self) -> Result<()> {
        for key in ["secret", "html"] {
            let shown =
                self.visit(&format!("http://rebound.test:{}/buckets/b/keys/{key}", self.store.port))?;
            self.check(!shown.contains(SECRET), "a rebound host reads an object");
        }
        let answer = self.store.ask("PUT", "rebound", "rebound.test", "text/plain", "x")?;
        println!("a rebound host that writes: {}", answer.lines().next().unwrap_or_default());
        self.check_keys("a rebound host")
    }

    fn stored_pages(&mut self) -> Result<()> {
        for (key, media_type, _) in pages() {
            self.visit(&format!("http://127.0.0.1:{}/buckets/b/keys/{key}", self.store.port))?;
            self.check_keys(&format!("a stored page of {media_type}"))?;
        }
        Ok(())
    }

    fn visit(&self, url: &str) -> Result<String> {
        let profile = self.folder.join("profile");
        let mut chromium = chromium(&profile);
        chromium.arg(RESOLVER);
        dom(chromium, url)
    }

    fn check(&mut self, is_right: bool, wrong: &str) {
        if !is_right {
            println!("WRONG: {wrong}");
            self.wrong.push(wrong.to_owned());
        }
    }

    /// Tells of the keys that are new in the store.
    fn check_keys(&mut self, by: &str) -> Result<()> {
        for key in self.store.keys()? {
            if !self.known.contains(&key) {
                self.check(false, &format!("{by} has written {key}"));
                self.known.push(key);
            }
        }
        Ok(())
    }
}

/// A page that tries to read and to write, and reports what it got.
fn attacking_page(port: u16) -> String {
    let [begin, end] = REPORT;
    format!(
        "<!doctype html>
<meta charset=\"utf-8\">
{begin}{end}
<iframe name=\"frame\"></iframe>
<form method=\"post\" enctype=\"text/plain\" target=\"frame\"><input name=\"a\" value=\"b\"></form>
<script>
const keys = 'http://127.0.0.1:{port}/buckets/b/keys/', lines = [], plain = {{'content-type': 'text/plain'}};
const loaded = (element) => new Promise((done, failed) => {{ element.onload = done; element.onerror = failed; }});
async function attempt(name, what) {{
  let got = 'nothing';
  // An answer without content loads nothing, and would be waited for without end.
  const late = new Promise((done) => setTimeout(done, 1000, name === 'form' && 'tried'));
  try {{ got = await Promise.race([what(), late]) || 'nothing'; }} catch {{}}
  lines.push(`${{name}}: ${{got}}\\n`);
}}
async function all() {{
  await attempt('read', async () => (await fetch(keys + 'secret')).text());
  await attempt('read without CORS', async () => (await fetch(keys + 'secret', {{mode: 'no-cors'}})).type);
  await attempt('image', async () => {{
    const image = new Image();
    image.src = keys + 'svg';
    await loaded(image);
    return `${{image.naturalWidth}} wide`;
  }});
  await attempt('script', async () => {{
    const script = document.createElement('script');
    script.src = keys + 'script';
    document.body.append(script);
    await loaded(script);
    return window.stolen;
  }});
  await attempt('frame', async () => {{
    const frame = document.querySelector('iframe'), done = loaded(frame);
    frame.src = keys + 'secret';
    await done;
    return frame.contentDocument?.body.textContent;
  }});
  await attempt('PUT', async () => (await fetch(keys + 'put', {{method: 'PUT', headers: plain, body: 'x'}})).status);
  await attempt('POST', async () => {{
    await fetch(keys + 'posted', {{method: 'POST', mode: 'no-cors', headers: plain, body: 'x'}}).catch(() => {{}});
    return 'tried';
  }});
  await attempt('form', async () => {{
    const form = document.forms[0], done = loaded(document.querySelector('iframe'));
    form.action = keys + 'formed';
    form.submit();
    await done;
    return 'tried';
  }});
  document.getElementById('report').textContent = lines.join('');
}}
all();
</script>
"
    )
}

/// A server of one page, of whatever it is asked for, and of a link that leads to an object.
struct Site {
    port: u16,
}

impl Site {
    fn start(page: String, link: String) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (page, link) = (page.clone(), link.clone());
                // A browser opens connections that it does not use.
                thread::spawn(move || answer_with(&stream, &page, &link));
            }
        });
        Ok(Self { port })
    }
}

fn answer_with(mut stream: &TcpStream, page: &str, link: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let is_link = lines.next().transpose()?.is_some_and(|line| line.contains(" /link "));
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (length, close) = (page.len(), "connection: close\r\n");
    match is_link {
        true => write!(stream, "HTTP/1.1 302 Found\r\nlocation: {link}\r\n{close}content-length: 0\r\n\r\n"),
        false => write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{close}content-length: {length}\r\n\r\n{page}"
        ),
    }
}

/// `alula store` in memory, ended with this value.
struct Store {
    child: Child,
    port: u16,
    /// Stays open: the store ends when it cannot say more.
    output: Lines<BufReader<ChildStdout>>,
}

impl Store {
    fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["store", "--engine", "memory", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("`alula store` cannot be run")?;
        let output = child.stdout.take().context("its output is piped")?;
        let mut store = Self { child, port: 0, output: BufReader::new(output).lines() };
        while let Some(line) = store.output.next() {
            if let Some((_, rest)) = line?.split_once("listening on http://127.0.0.1:") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                store.port = digits.parse()?;
                return Ok(store);
            }
        }
        bail!("`alula store` ended before it listened")
    }

    fn put(&self, key: &str, media_type: &str, content: &str) -> Result<()> {
        let answer = self.ask("PUT", key, "localhost", media_type, content)?;
        ensure!(answer.starts_with("HTTP/1.1 204"), "{key} is not stored: {answer}");
        Ok(())
    }

    fn keys(&self) -> Result<Vec<String>> {
        let answer = self.ask("GET", "?keys=true", "localhost", "text/plain", "")?;
        let (_, list) = answer.split_once("{\"keys\":[").with_context(|| format!("no list: {answer}"))?;
        let (list, _) = list.split_once(']').context("the list has no end")?;
        let keys = list.split(',').map(|key| key.trim_matches('"').to_owned());
        Ok(keys.filter(|key| !key.is_empty()).collect())
    }

    /// Sends a request as programs do, and returns all of the answer.
    fn ask(&self, method: &str, key: &str, host: &str, media_type: &str, content: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let length = content.len();
        let target = if key.starts_with('?') {
            format!("/buckets/b/keys{key}")
        } else {
            format!("/buckets/b/keys/{key}")
        };
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: {media_type}\r\n\
             content-length: {length}\r\n\r\n{content}"
        )?;
        let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
        // A store that answers early may reset the connection afterwards.
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            answer.extend_from_slice(&buffer[..count]);
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
