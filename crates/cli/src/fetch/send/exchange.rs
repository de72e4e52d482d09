//! The exchanges of a run: each request is sent, and its response received.

mod heads;

use std::{
    cell::{Cell, RefCell},
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use alula::{
    Call, Client, Content, ExchangeEvent, FieldSection, Jar, KnownName, Observer as _, Response, Retry,
    Status, masked_url,
};
use anstyle::Style;

use super::{
    client::client,
    cookies,
    following::Following,
    login::{Asked, Login, Logins},
    lookup,
    pace::Pace,
    speed::SpeedLimit,
    tries::{self, Tries},
};
use crate::fetch::{
    content::{stdin::Deadline, upload},
    output::{
        Output, There,
        cut::{Begun, Cut},
        destination::Destination,
        resume::{self, Coming, Rest},
    },
    plan::{
        Plan, condition,
        target::{self, Target},
    },
    show::{Show, Sink},
    tell::{
        all_progress::AllProgress,
        progress::Progress,
        report::Report,
        seen::Facts,
        timing,
        trace::Trace,
        verbose::{Direction, Verbose},
        watch::Watch,
    },
    tls::roots::Roots,
    write_out::WriteOut,
};
use crate::{
    args::Options,
    failure::exit::{Exit, Failure, Outcome},
    terminal,
};

/// The state that all exchanges of a run share.
pub(in crate::fetch) struct Session<'a> {
    client: Client,
    jar: Option<Jar>,
    plan: &'a Plan,
    options: &'a Options,
    write_out: Option<WriteOut>,
    trace: Option<Arc<Trace>>,
    watch: Option<Watch>,
    destinations: Vec<Destination>,
    logins: Logins,
    progress: AllProgress,
    /// The file of -D, once a head has come.
    dump: RefCell<Option<Output>>,
}

/// The state of one exchange.
struct Exchange<'a> {
    session: &'a Session<'a>,
    facts: &'a Facts,
    target: &'a Target,
    fields: Vec<(String, String)>,
    to: Destination,
    /// The content that is there already, with -C or after a try that broke off.
    offset: Option<u64>,
    /// The try before, if its content broke off.
    cut: Option<Cut>,
    /// The state in which this one broke off, if another try may go better.
    broke_off: Cell<Option<Cut>>,
    /// Bytes of content in either direction.
    sent: Arc<AtomicU64>,
    received: Cell<u64>,
    /// The end of the time that -m leaves.
    deadline: Deadline,
    /// A request was sent, or is about to be.
    has_called: Cell<bool>,
    /// The tries that it is one of, unless the library makes them.
    tries: Option<&'a Tries>,
    /// The wait after which the response asks to be asked for again.
    asked_wait: Cell<Option<Duration>>,
}

impl<'a> Session<'a> {
    /// Finds out what can be wrong before anything is sent.
    pub(in crate::fetch) fn new(plan: &'a Plan, options: &'a Options) -> Result<Self, Failure> {
        let destinations = plan.targets.iter().map(|target| Destination::of(&options.output, target));
        let destinations: Vec<Destination> = destinations.collect::<Result<_, _>>()?;
        plan.warn_of_outputs(&options.output);
        let write_out = options.output.write_out.as_deref().map(WriteOut::of).transpose()?;
        cookies::check(&options.request)?;
        condition::check(&options.transfer)?;
        let is_quiet = options.output.silent && !options.output.show_error;
        let jar = jar(plan, options, is_quiet)?;
        let verbose = Verbose {
            roots: Roots::of(&options.connection),
            shows_secrets: options.output.show_secrets,
            keeps_credentials: options.connection.location_trusted,
        };
        let trace = Trace::of(&options.output, verbose.clone())?.map(Arc::new);
        let verbose = (options.output.verbose > 0).then_some(verbose);
        let is_watched = verbose.is_some()
            || trace.is_some()
            || write_out.is_some()
            || options.connection.follows()
            || options.connection.retry > 0
            || SpeedLimit::of(&options.transfer).is_some()
            || options.output.timing;
        // With -v there is a line for it anyway.
        let tells_retries = options.connection.retry > 0 && !options.output.silent && verbose.is_none();
        let watch = is_watched.then(|| Watch::new(verbose, trace.clone(), tells_retries));
        let client = client(options, plan, jar.as_ref(), watch.as_ref())?;
        let logins = Logins::default();
        let progress = AllProgress::of(&options.output, &destinations);
        let dump = RefCell::default();
        Ok(Self { client, jar, plan, options, write_out, trace, watch, destinations, logins, progress, dump })
    }

    /// Writes what is kept to the files for it: cookies, and the session.
    pub(in crate::fetch) fn keep(&self) -> Outcome {
        let jar = self.jar.as_ref();
        let kept = self.plan.session.as_ref().map_or(Ok(()), |session| session.keep(jar));
        cookies::keep(&self.options.request, jar).and(kept)
    }

    /// The progress of all transfers, which -Z shows.
    pub(in crate::fetch) fn progress(&self) -> &AllProgress {
        &self.progress
    }

    pub(in crate::fetch) fn targets(&self) -> usize {
        self.plan.targets.len()
    }

    /// Returns true if the heads of responses that redirect are shown as well: where heads were asked for
    /// outright.
    fn shows_hops(&self) -> bool {
        self.options.output.include
            || self.options.httpie.all
            || self.options.request.head
            || self.plan.method == "HEAD"
    }

    /// Asks the target in this place.
    pub(in crate::fetch) async fn exchange(&self, place: usize) -> Outcome {
        let target = &self.plan.targets[place];
        let _transfer = self.progress.begin();
        let asked = format!("{} {}", self.plan.method_for(target), masked_url(target.url.as_str()));
        self.tell(place, &Facts::new(asked)).await
    }

    async fn tell(&self, place: usize, facts: &Facts) -> Outcome {
        let target = &self.plan.targets[place];
        let mut report = Report::new(self.plan.method_for(target), target.url.as_str(), place);
        let sent = Arc::<AtomicU64>::default();
        let outcome = self.try_often(place, facts, &sent, &mut report).await;
        self.leave_file(&outcome, &report);
        if let Err(failure) = &outcome {
            facts.fail(failure.is_of_proxy());
        }
        let seen = facts.seen();
        let following = Following::of(self.options, self.plan);
        let forbidden = seen.refused.as_deref().filter(|url| following.forbids(url));
        let outcome = outcome.map_err(|failure| forbidden.map_or(failure, target::forbidden));
        let outcome = outcome.map_err(|failure| failure.with(self.options.output.exit_codes));
        report.ends(&outcome, sent.load(Relaxed));
        report.seen = seen;
        if self.options.output.timing {
            terminal::tell(Style::new(), timing::table(&report).as_bytes());
        }
        match &self.write_out {
            Some(write_out) => outcome.and(write_out.print(&report)),
            None => outcome,
        }
    }

    /// Makes one try after the other, where the library does not.
    async fn try_often(
        &self,
        place: usize,
        facts: &Facts,
        sent: &Arc<AtomicU64>,
        report: &mut Report,
    ) -> Outcome {
        let method = self.plan.method_for(&self.plan.targets[place]);
        let deadline = self.plan.deadline(place, self.options.connection.max_time);
        let Some(mut tries) = Tries::of(self.options, method, deadline) else {
            return self.begin(place, facts, sent.clone(), deadline, None, None)?.run_in_time(report).await;
        };
        let mut cut = None;
        loop {
            let exchange = self.begin(place, facts, sent.clone(), deadline, Some(&tries), cut.clone())?;
            let outcome = exchange.run_in_time(report).await;
            let asked_wait = exchange.asked_wait.take();
            let broke_off = exchange.broke_off.take();
            let cut_wait = broke_off.as_ref().and_then(|_| tries.after_cut());
            let Err(failure) = outcome else { return Ok(()) };
            let Some(wait) = asked_wait.or(cut_wait).or_else(|| tries.after_failure(&failure)) else {
                return Err(failure);
            };
            // A try that did not come as far as its content leaves the file as the one before did.
            cut = broke_off.or(cut);
            if !self.options.output.silent {
                tries::tell(failure.sentence(), wait);
            }
            tokio::time::sleep(wait).await;
            tries.count();
            facts.begin_again();
        }
    }

    /// Does with the file that was written what is wanted at its end.
    fn leave_file(&self, outcome: &Outcome, report: &Report) {
        let (args, file) = (&self.options.transfer, report.file.as_deref().map(Path::new));
        let Some(file) = file.filter(|file| file.is_file()) else { return };
        match outcome {
            Ok(()) if args.remote_time => condition::set_time(file, report.header("last-modified")),
            // A file that cannot be removed is no other failure.
            Err(_) if args.remove_on_error => drop(fs::remove_file(file)),
            _ => {}
        }
    }

    fn begin<'s>(
        &'s self,
        place: usize,
        facts: &'s Facts,
        sent: Arc<AtomicU64>,
        deadline: Deadline,
        tries: Option<&'s Tries>,
        cut: Option<Cut>,
    ) -> Result<Exchange<'s>, Failure> {
        let target = &self.plan.targets[place];
        lookup::check_family(&self.options.connection, target)?;
        let to = cut.as_ref().map_or_else(|| self.destinations[place].clone(), Cut::destination);
        let offset = match &cut {
            Some(cut) => cut.cut_back().map(|()| cut.offset())?,
            None => resume::offset(self.options.output.continue_at, &to)?,
        };
        let mut fields = self.plan.fields_for(target);
        fields
            .extend(cut.as_ref().and_then(Cut::if_range).map(|tag| ("if-range".to_owned(), tag.to_owned())));
        fields.extend(offset.map(|bytes| ("range".to_owned(), format!("bytes={bytes}-"))));
        let (received, asked_wait) = (Cell::default(), Cell::default());
        let broke_off = Cell::default();
        Ok(Exchange {
            session: self,
            facts,
            target,
            fields,
            to,
            offset,
            cut,
            broke_off,
            sent,
            received,
            deadline,
            has_called: Cell::default(),
            tries,
            asked_wait,
        })
    }
}

impl Exchange<'_> {
    /// Gives up when it is too slow for too long.
    async fn run_in_time(&self, report: &mut Report) -> Outcome {
        let Some(limit) = SpeedLimit::of(&self.session.options.transfer) else {
            return self.run(report).await;
        };
        let moved = || self.received.get() + self.sent.load(Relaxed);
        tokio::select! {
            biased;
            outcome = self.run(report) => outcome,
            failure = limit.missed(moved, || self.facts.is_request_sent()) => Err(failure),
        }
    }

    fn method(&self) -> &str {
        self.session.plan.method_for(self.target)
    }

    /// The method by which the response is shown: -I asks for its head, also where -X names another method.
    fn shown_as(&self) -> &str {
        if self.session.options.request.head { "HEAD" } else { self.method() }
    }

    async fn run(&self, report: &mut Report) -> Outcome {
        let plan = self.session.plan;
        let content = self.content()?;
        if self.to.path().is_none() {
            Output::stdout().show(self.preface(&self.to))?;
        }
        let response = match plan.user_for(self.target) {
            Some(user) => self.log_in(&Asked::new(self.method(), self.target, &user), content).await?,
            None => self.send(None, content).await?,
        };
        self.download(response, report).await
    }

    /// Sends the request, and again with credentials when the server asks for them.
    async fn log_in(&self, asked: &Asked<'_>, content: Option<Content>) -> Result<Response, Failure> {
        let Session { plan, logins, .. } = self.session;
        let known = logins.known(asked);
        // A server that is sure to ask for a digest is spared the content that it would not take.
        let is_probe = known.is_none() && plan.login == Login::Digest && content.is_some();
        let mut response = self.send(known.as_deref(), content.filter(|_| !is_probe)).await?;
        // The server asked for nothing: the request is sent once more, now with its content.
        if is_probe && response.status().is_success() {
            self.facts.answer_challenge();
            return self.send(None, self.content()?).await;
        }
        let mut has_answered = false;
        while let Some(answer) = logins.answer(&response, plan.login, asked) {
            // The credentials were refused; only a stale nonce is worth another answer (RFC 7616 §3.3).
            if has_answered && !answer.is_renewed {
                break;
            }
            has_answered = true;
            self.drain(response).await;
            self.facts.answer_challenge();
            response = self.send(Some(&answer.authorization), self.content()?).await?;
        }
        Ok(response)
    }

    /// Reads and drops a response with a challenge, if that is little.
    async fn drain(&self, mut response: Response) {
        let mut bytes = 0;
        while bytes < DRAINED_BYTES_MAX
            && let Ok(Some(chunk)) = response.body().chunk().await
        {
            bytes += chunk.len();
        }
        if response.body().is_ended() {
            // It breaks off as content does, of which nobody is told either.
            let _ = self.trailers(&mut response).await;
        }
    }

    /// Returns the fields behind content that has ended, and shows them with -v.
    async fn trailers<'r>(&self, response: &'r mut Response) -> Result<Option<&'r FieldSection>, Failure> {
        let version = response.version();
        let trailers = response.trailers().await?;
        if let (Some(trailers), Some(watch)) = (trailers, &self.session.watch) {
            watch.of(self.facts).event(&ExchangeEvent::Trailers(version, trailers));
        }
        Ok(trailers)
    }

    /// Sends the request once, as far as the library does, with these credentials.
    async fn send(&self, authorization: Option<&str>, content: Option<Content>) -> Result<Response, Failure> {
        let mut call = self.call();
        if let Some(authorization) = authorization {
            call = call.header("authorization", authorization);
        }
        let sent = match (content, self.method()) {
            (Some(content), _) => {
                let given = self.session.plan.content_for(self.target);
                let length = given.and_then(|content| upload::length_of(&content.source));
                let progress = Progress::of_request(
                    length,
                    &self.session.options.output,
                    &self.to,
                    &self.session.progress,
                );
                progress.during(call.content(content).send(), &self.sent).await
            }
            // A method that usually has content says that there is none (RFC 9110 §8.6).
            (None, "POST" | "PUT" | "PATCH") => call.send_body(&[]).await,
            (None, _) => call.send().await,
        };
        Ok(sent?)
    }

    /// The content, from its beginning.
    fn content(&self) -> Result<Option<Content>, Failure> {
        let Session { plan, options, .. } = self.session;
        let Some(content) = plan.content_for(self.target) else { return Ok(None) };
        let stdin = match () {
            // A redirect or another try may need the content once more, and stdin is read only once.
            () if options.connection.follows() || options.connection.retry > 0 => upload::Stdin::Held,
            () if self.target.upload.is_some() => upload::Stdin::Streamed,
            () => upload::Stdin::Measured,
        };
        let content = match plan.is_chunked {
            true => upload::open_in_chunks(&content.source)?,
            false => upload::open(&content.source, stdin, self.deadline)?,
        };
        let content = content.counted(self.sent.clone());
        Ok(Some(match self.session.trace.clone() {
            Some(trace) => content.observed(move |bytes| trace.content(Direction::Sent, bytes)),
            None => content,
        }))
    }

    fn call(&self) -> Call<'_> {
        let Session { client, options, .. } = self.session;
        let mut call = client.request(self.method(), self.target.called());
        if let Some(path) = &self.target.path_as_is {
            call = call.path(path);
        }
        if let Some(watch) = &self.session.watch {
            call = call.observe(watch.of(self.facts));
        }
        for (name, value) in &self.fields {
            call = call.header(name.as_str(), value);
        }
        if self.target.url.scheme() == "http" && options.connection.names_http_proxy() {
            for field in options.connection.proxy_header.iter().flat_map(|fields| &fields.0) {
                call = call.header(&*field.name, field.value.as_deref().unwrap_or_default());
            }
        }
        let is_first = !self.has_called.replace(true) && self.tries.is_none_or(Tries::is_first);
        match self.deadline.for_call(is_first) {
            Some(after) => call.timeout(after),
            None => call,
        }
    }

    async fn download(&self, mut response: Response, report: &mut Report) -> Outcome {
        report.begins(&response);
        report.bytes_received = 0;
        let options = self.session.options;
        let args = &options.output;
        self.refuse(&response)?;
        self.check_coding(&mut response)?;
        condition::keep_etag(&options.transfer, &response)?;
        if let Err(failure) = self.refused_by_status(&response) {
            return self.show_refused(&response, report).and(Err(failure));
        }
        let there = match self.what_is_there(&response)? {
            Some(there) => there,
            None => return Ok(()),
        };
        self.dump_head(&response)?;
        let to = self.to.clone().named_by(args, &response);
        let show = Show::of(args, self.shown_as(), &to);
        let is_unmet = self.offset.is_none() && condition::is_unmet(&options.transfer, &response);
        if is_unmet {
            report.has_status(condition::NOT_MODIFIED);
        }
        let is_old = is_unmet || response.status().as_u16() == condition::NOT_MODIFIED;
        if is_old && !show.head && to.path().is_some() {
            return Ok(());
        }
        let there = self.spared(there);
        let mut output = Output::open(&to, there, args.create_dirs)?;
        report.file = output.path().map(|path| path.display().to_string());
        if let (Some(file), true) = (&report.file, args.is_download && !args.no_progress_meter) {
            terminal::tell(Style::new(), format!("Downloading to {file}").as_bytes());
        }
        // A head in the middle of a continued file would damage it.
        if !matches!(there, There::IsContinued(_)) {
            if to.path().is_some() {
                output.show(self.preface(&to))?;
            }
            if show.head {
                output.show(self.shown_head(&response, &show))?;
            }
        }
        if is_unmet {
            return Ok(());
        }
        // As with curl the content of another method than HEAD is not read with -I.
        if self.shown_as() != self.method() {
            return self.judged(&response);
        }
        let pace = Pace::new(self.session.options.connection.limit_rate);
        let mut begun = self.begun(&response, output.path());
        let (coming, url) = (self.coming(&response), self.target.url.as_str());
        let offset = self.offset.filter(|_| matches!(there, There::IsContinued(_)));
        let mut progress = Progress::of_response(
            &response,
            args,
            &to,
            (offset, self.sent.load(Relaxed)),
            &self.session.progress,
        );
        let mut sink = Sink::new(output, show, show.holding(&response), show.charset_of(&response));
        loop {
            match response.body().chunk().await {
                Ok(Some(chunk)) => {
                    report.bytes_received += chunk.len() as u64;
                    self.received.set(report.bytes_received);
                    self.check_size(report.bytes_received)?;
                    coming.as_ref().map_or(Ok(()), |coming| coming.check(report.bytes_received, url))?;
                    if let Some(trace) = &self.session.trace {
                        trace.content(Direction::Received, chunk);
                    }
                    sink.write(chunk)?;
                    progress.add(chunk.len());
                    pace.keep(report.bytes_received).await;
                }
                Ok(None) => {
                    report.timing = response.timing();
                    let trailers = self.shown_trailers(&mut response, &show).await?;
                    sink.finish(trailers, report.since.elapsed())?;
                    progress.end(to.path());
                    let end = coming.map_or(Ok(()), |coming| coming.check_end(report.bytes_received, url));
                    return end.map_or_else(
                        |short| {
                            self.broke_off.set(begun.map(|begun| begun.cut_after(report.bytes_received)));
                            Err(short)
                        },
                        |()| self.judged(&response),
                    );
                }
                Err(error) => {
                    sink.release()?;
                    // A broken rule of the protocol would be broken by the next try as well.
                    let begun = begun.take().filter(|_| error.retry() != Retry::Pointless);
                    self.broke_off.set(begun.map(|begun| begun.cut_after(report.bytes_received)));
                    return Err(error.into());
                }
            }
        }
    }

    /// The part that a response says to have, where the rest was asked for.
    fn coming(&self, response: &Response) -> Option<Coming> {
        let whole = self.cut.as_ref().and_then(Cut::whole);
        self.offset.and_then(|_| Coming::of(response, whole))
    }

    /// The facts that a further try needs, if there may be one that goes on.
    fn begun(&self, response: &Response, path: Option<&Path>) -> Option<Begun> {
        if self.tries.is_none() || self.method() != "GET" {
            return None;
        }
        let base = match &self.cut {
            Some(cut) => cut.base(),
            None => self.offset,
        };
        let whole = self.cut.as_ref().and_then(Cut::whole);
        Begun::of(response, path, base, self.offset).map(|begun| begun.of_whole(whole))
    }

    /// Keeps a file that would be replaced, with --no-clobber.
    fn spared(&self, there: There) -> There {
        match there {
            There::IsReplaced if self.session.options.transfer.no_clobber && self.cut.is_none() => {
                There::Stays
            }
            there => there,
        }
    }

    /// Fails on a status of failure, with -f.
    fn refused_by_status(&self, response: &Response) -> Outcome {
        // With -C, 416 can mean that the file is whole already, which is no failure (RFC 9110 §15.5.17).
        let is_end = self.offset.is_some() && response.status().as_u16() == 416;
        if self.session.options.output.fail && !is_end { refused(response) } else { Ok(()) }
    }

    /// Shows of a response that is refused what was asked for outright: its head.
    fn show_refused(&self, response: &Response, report: &mut Report) -> Outcome {
        self.dump_head(response)?;
        let args = &self.session.options.output;
        let is_wanted = args.include || self.shown_as() == "HEAD";
        // A file that was to be gone on with stays as it is.
        if !is_wanted || self.offset.is_some() && self.to.path().is_some() {
            return Ok(());
        }
        let to = self.to.clone().named_by(args, response);
        let show = Show::of(args, self.shown_as(), &to);
        let mut output = Output::open(&to, self.spared(There::IsReplaced), args.create_dirs)?;
        report.file = output.path().map(|path| path.display().to_string());
        output.show(self.shown_head(response, &show))
    }

    /// The outcome of content that came whole.
    fn judged(&self, response: &Response) -> Outcome {
        let options = self.session.options;
        if options.output.fail_with_body || options.httpie.check_status {
            refused(response)?;
        }
        match response.status().as_u16() {
            status @ 300..=399 if options.httpie.check_status => {
                let sentence = format_args!(
                    "{}: {status}, a redirect that was not followed (-L follows it)",
                    masked_url(self.target.url.as_str())
                );
                Err(Failure::of_status(status, sentence))
            }
            _ => Ok(()),
        }
    }

    /// Fails with a response that is too large or, if there are tries left, transient.
    fn refuse(&self, response: &Response) -> Outcome {
        if let Some(wait) = self.tries.and_then(|tries| tries.after_response(response)) {
            self.asked_wait.set(Some(wait));
            refused(response)?;
        }
        // Also of content that is decoded: what comes is what --max-filesize is to spare.
        let length = response.received_headers().get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        length.map_or(Ok(()), |length| self.check_size(length))
    }

    /// Fails with content that was to be decoded, and is in a coding that the library leaves as it came.
    fn check_coding(&self, response: &mut Response) -> Outcome {
        // A part of coded content is not decodable by itself, and is kept as it comes.
        let is_left = response.status() != Status::PARTIAL_CONTENT
            && !response.is_decoded()
            && !response.body().is_ended();
        let codings = response.headers().get_all(KnownName::CONTENT_ENCODING);
        let mut names = codings.flat_map(|list| list.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
        let coding = names.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
        let is_asked = is_left && self.session.options.request.compressed;
        let Some(coding) = coding.filter(|_| is_asked) else { return Ok(()) };
        let url = masked_url(self.target.url.as_str());
        let sentence = format_args!(
            "{url}: the content is coded as {}, which cannot be decoded (without --compressed it is kept as it comes)",
            coding.escape_ascii()
        );
        Err(Failure::new(Exit::Protocol, sentence).curl(61))
    }

    /// Fails when content of so many bytes is too large.
    fn check_size(&self, bytes: u64) -> Outcome {
        match self.session.options.transfer.max_filesize {
            Some(max) if max > 0 && bytes > max => {
                let url = masked_url(self.target.url.as_str());
                let sentence =
                    format_args!("{url}: the content has more than the {max} bytes of --max-filesize");
                Err(Failure::new(Exit::TooLarge, sentence))
            }
            _ => Ok(()),
        }
    }

    /// Returns the treatment of a file that exists already, by the response; `None` when it is whole
    /// already.
    fn what_is_there(&self, response: &Response) -> Result<Option<There>, Failure> {
        if let Some(cut) = &self.cut {
            return cut.there(response, self.target.url.as_str());
        }
        let Some(offset) = self.offset else { return Ok(Some(There::IsReplaced)) };
        let rest = resume::rest_of(response, offset, self.target.url.as_str())?;
        Ok((rest == Rest::Follows).then_some(There::IsContinued(offset)))
    }
}

/// The jar for all requests, with the cookies of files and of the session; nothing when no cookies are kept.
pub(in crate::fetch) fn jar(plan: &Plan, options: &Options, is_quiet: bool) -> Result<Option<Jar>, Failure> {
    let jar = cookies::jar(&options.request, is_quiet)?;
    let Some(session) = &plan.session else { return Ok(jar) };
    let jar = jar.unwrap_or_default();
    session.fill(&jar);
    Ok(Some(jar))
}

/// The bytes of a response with a challenge that are read and dropped, to use its connection again.
const DRAINED_BYTES_MAX: usize = 64 * 1024;

/// Fails when the status says that the request did.
fn refused(response: &Response) -> Outcome {
    match response.status_error() {
        Some(error) if response.status().as_u16() >= 400 => {
            Err(Failure::of_status(response.status().as_u16(), error))
        }
        _ => Ok(()),
    }
}
