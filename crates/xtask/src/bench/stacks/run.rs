//! The programs of stacks: their arguments, their servers, and the loads.

use super::*;

impl Stacks<'_> {
    /// The command that does so many units, under something.
    pub(super) fn command(
        &mut self,
        under: Under<'_>,
        contest: &Contest<Work>,
        entry: &Entry,
        units: u64,
    ) -> Result<std::process::Command> {
        let [answers, bare] = match contest.work {
            Work::Client(asking) => self.ports(contest, asking)?,
            _ => [0, 0],
        };
        let (programs, units, port) = (self.programs, units.to_string(), answers.to_string());
        let lists = programs.lists();
        let lists = lists.to_string_lossy();
        let rest = [&*entry.work, &units, &lists, &port];
        let (program, all) = match entry.by {
            By::Alula => (programs.bench()?, args(["time", &entry.work, &units])),
            By::Rust => (programs.rust()?, args([entry.peer].iter().chain(&rest))),
            By::Nghttp2 => (programs.nghttp2()?, args(rest)),
            By::Floor => (programs.rust()?, bare_client(contest.work, entry, &units, bare)?),
            other => bail!("{other:?} is a server only"),
        };
        under.command(&program, &all, self.core)
    }

    /// The ports of the servers that a contest of clients asks, which are started when they are first asked.
    fn ports(&mut self, contest: &Contest<Work>, asking: Asking) -> Result<[u16; 2]> {
        if !self.asked.contains_key(&contest.title) {
            let floor::Bytes { up, down } = floor::of_client(asking);
            let bare = args(["floor", "block", "serve", &up.to_string(), &down.to_string()]);
            let start = |program: PathBuf, all: &[OsString], name: &str| {
                let log = self.programs.folder.join(format!("{name}-{}.log", self.asked.len()));
                Server::start(Under::OneCore.command(&program, all, self.core)?, None, log, self.core)
            };
            let both = [
                start(self.programs.bench()?, &args(fixed(asking)), "answers")?,
                start(self.programs.rust()?, &bare, "floor")?,
            ];
            self.asked.insert(contest.title.clone(), both);
        }
        let both = self.asked.get(&contest.title).context("both run")?;
        Ok(both.each_ref().map(|server| server.port))
    }
}

/// The arguments of `alula-bench` for its fixed server.
fn fixed(asking: Asking) -> Vec<String> {
    let words: &[&str] = match (asking.version, asking.varies) {
        (Version::Http1, false) => &["peer", "http1-answers"],
        (Version::Http1, true) => &["peer", "http1-varied-answers"],
        (Version::Http2, false) => &["peer", "answers"],
        (Version::Http2, true) => &["peer", "answers", "varied"],
    };
    words.iter().map(|word| (*word).to_owned()).chain([asking.content.to_string()]).collect()
}

/// The floor's arguments: where requests of HTTP/1.1 are in flight, each has a connection.
fn bare_client(work: Work, entry: &Entry, units: &str, port: u16) -> Result<Vec<OsString>> {
    let Work::Client(asking) = work else { bail!("the floor does nothing in memory") };
    let floor::Bytes { up, down } = floor::of_client(asking);
    let (connections, each) = match asking.version {
        Version::Http1 => (asking.in_flight, 1),
        Version::Http2 => (1, asking.in_flight),
    };
    let mut all = args(["floor", &entry.work, "client", units]);
    all.extend(args([connections, each, up, down, port.into()].map(|number| number.to_string())));
    Ok(all)
}

/// Starts a server under something.
pub(super) fn start(
    programs: &Programs,
    entry: &Entry,
    load: Load,
    under: Under<'_>,
    core: Core,
) -> Result<Server> {
    let (program, all, port) = server(programs, entry, load)?;
    let log = programs.folder.join(format!("{}-{:?}.log", entry.label.replace(' ', "-"), load.version));
    Server::start(under.command(&program, &all, core)?, port, log, core).with_context(|| entry.label)
}

/// Ends it; returns what callgrind has said.
pub(super) fn stop(entry: &Entry, server: Server) -> Result<String> {
    server.stop(matches!(entry.by, By::Nghttpd | By::Nginx | By::H2o))
}

fn server(programs: &Programs, entry: &Entry, load: Load) -> Result<Started> {
    let (port, site) = (free_port()?, programs.site());
    Ok(match entry.by {
        By::Alula => (programs.bench()?, args(entry.work.replace("serve-", "serve ").split(' ')), None),
        By::Rust => (programs.rust()?, args([entry.peer, &entry.work]), None),
        By::Floor => {
            let floor::Bytes { up, down } = floor::of_server(load);
            let (up, down) = (up.to_string(), down.to_string());
            (programs.rust()?, args(["floor", &entry.work, "serve", &up, &down]), None)
        }
        By::Nghttpd => {
            let mut all = args(["--no-tls", "--address", "127.0.0.1", "--htdocs"]);
            all.extend([site.into_os_string(), port.to_string().into()]);
            (needed_program("nghttpd")?, all, Some(port))
        }
        By::Nginx => Configuration {
            connections: 256,
            is_http2: load.version == Version::Http2,
            locations: nginx_memory("/hello", "Hello, World!"),
            ..Configuration::default()
        }
        .nginx(&programs.folder, port)?,
        By::H2o => Configuration { locations: h2o_files(&site), ..Configuration::default() }
            .h2o(&programs.folder, port)?,
        other => bail!("{other:?} is no server"),
    })
}

/// Returns requests per second under so many requests: of h2load, where they repeat.
pub(super) fn drive(
    programs: &Programs,
    entry: &Entry,
    server: &Server,
    load: Load,
    requests: u64,
) -> Result<f64> {
    let Load { connections, in_flight, .. } = load;
    let batch = connections * in_flight;
    // Whole batches only.
    let requests = requests.div_ceil(batch) * batch;
    if !entry.is_floor() && load.traffic != Traffic::Repeated {
        return drive_counted(programs, entry, server, load, requests);
    }
    if !entry.is_floor() {
        let url = format!("http://127.0.0.1:{}/hello", server.port);
        let is_http1 = load.version == Version::Http1;
        return load::h2load(server, is_http1, [requests, connections, in_flight], &[&url])
            .with_context(|| entry.label);
    }
    let floor::Bytes { up, down } = floor::of_server(load);
    let numbers = [requests, connections, in_flight, up, down, server.port.into()];
    let words = ["floor", "drive"].map(str::to_owned).into_iter();
    let all = args(words.chain(numbers.map(|number: u64| number.to_string())));
    rate(Under::OneCore.command(&programs.rust()?, &all, server.core)?, entry)
}

/// Has the driver of `crates/bench` make so many requests on one connection: for figures that must not depend
/// on how h2load cuts batches. The requests that repeat are byte for byte those of h2load.
pub(super) fn drive_counted(
    programs: &Programs,
    entry: &Entry,
    server: &Server,
    load: Load,
    requests: u64,
) -> Result<f64> {
    if entry.is_floor() {
        return drive(programs, entry, server, load, requests);
    }
    let version = if load.version == Version::Http1 { "h1" } else { "h2" };
    let numbers = [load.in_flight, server.port.into(), requests].map(|number: u64| number.to_string());
    let words = ["load", version, load.traffic.name()].map(str::to_owned);
    let all = args(words.into_iter().chain(numbers));
    rate(Under::OneCore.command(&programs.bench()?, &all, server.core)?, entry)
}

/// Requests per second, which is all that a driver prints.
fn rate(command: std::process::Command, entry: &Entry) -> Result<f64> {
    let (printed, _) = output(command).with_context(|| entry.label)?;
    printed.trim().parse().with_context(|| format!("{} did not answer all:\n{printed}", entry.label))
}
