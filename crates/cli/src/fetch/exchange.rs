//! One exchange: the request goes out, the response comes in.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use alula::{Call, Client, Content, Jar, Response, Status, Version};

use super::{
    client::client,
    content::{Octets, Source},
    cookies,
    destination::Destination,
    frames,
    output::{Output, There},
    plan::Plan,
    progress::Progress,
    report::Report,
    resume::{self, Rest},
    show::{self, Show, Sink},
    target::Target,
    timing, upload,
    write_out::WriteOut,
};
use crate::{
    args::Options,
    exit::{Exit, Failure, Outcome},
};

/// What all exchanges of a run have in common.
pub(super) struct Session<'a> {
    client: Client,
    jar: Option<Jar>,
    plan: &'a Plan,
    options: &'a Options,
    write_out: Option<WriteOut>,
    destinations: Vec<Destination>,
}

/// What one of them has for itself.
struct Exchange<'a> {
    session: &'a Session<'a>,
    target: &'a Target,
    fields: Vec<(String, String)>,
    to: Destination,
    /// What is there already, with -C.
    offset: Option<u64>,
    /// Octets of content.
    sent: Arc<AtomicU64>,
}

impl<'a> Session<'a> {
    /// Finds out what can be wrong before anything is sent.
    pub(super) fn new(plan: &'a Plan, options: &'a Options) -> Result<Self, Failure> {
        let destinations = plan.targets.iter().enumerate();
        let destinations =
            destinations.map(|(place, target)| Destination::of(&options.output, place, target));
        let destinations = destinations.collect::<Result<_, _>>()?;
        let write_out = options.output.write_out.as_deref().map(WriteOut::of).transpose()?;
        let jar = cookies::jar(&options.request)?;
        let client = client(options, plan, jar.as_ref())?;
        Ok(Self { client, jar, plan, options, write_out, destinations })
    }

    /// Writes the cookies that are kept to the file for them, if there is one.
    pub(super) fn keep_cookies(&self) -> Outcome {
        cookies::keep(&self.options.request, self.jar.as_ref())
    }

    pub(super) fn targets(&self) -> usize {
        self.plan.targets.len()
    }

    /// Asks the target in this place.
    pub(super) async fn exchange(&self, place: usize) -> Outcome {
        let target = &self.plan.targets[place];
        let mut report = Report::new(&self.plan.method, target.url.as_str(), place);
        let sent = Arc::<AtomicU64>::default();
        let outcome = match self.begin(place, sent.clone()) {
            Ok(exchange) => exchange.run(&mut report).await,
            Err(failure) => Err(failure),
        };
        let outcome = outcome.map_err(|failure| failure.with(self.options.output.exit_codes));
        report.ends(&outcome, sent.load(Relaxed));
        if self.options.output.timing {
            let _ = anstream::stderr().write_all(timing::table(&report).as_bytes());
        }
        match &self.write_out {
            Some(write_out) => {
                let text = write_out.print(&report);
                let written = Output::stdout().write(text.as_bytes());
                outcome.and(written)
            }
            None => outcome,
        }
    }

    fn begin(&self, place: usize, sent: Arc<AtomicU64>) -> Result<Exchange<'_>, Failure> {
        let target = &self.plan.targets[place];
        let to = self.destinations[place].clone();
        let offset = resume::offset(self.options.output.continue_at, &to)?;
        let mut fields = self.plan.fields_for(target);
        fields.extend(offset.map(|octets| ("range".to_owned(), format!("bytes={octets}-"))));
        Ok(Exchange { session: self, target, fields, to, offset, sent })
    }
}

impl Exchange<'_> {
    async fn run(&self, report: &mut Report) -> Outcome {
        let plan = self.session.plan;
        let content = plan.content.as_ref().map(|content| self.content(&content.source)).transpose()?;
        let preface = self.preface(Show::of(&self.session.options.output, &plan.method, &self.to));
        if self.to.path().is_none() {
            Output::stdout().write(&preface)?;
        }
        let call = self.call();
        let response = match (content, &*plan.method) {
            (Some(content), _) => call.content(content).send().await?,
            // What usually has content says that there is none (RFC 9110 §8.6).
            (None, "POST" | "PUT" | "PATCH") => call.send_body(&[]).await?,
            (None, _) => call.send().await?,
        };
        self.download(response, &preface, report).await
    }

    fn content(&self, source: &Source) -> Result<Content, Failure> {
        let connection = &self.session.options.connection;
        let is_replayed = connection.location || connection.retry > 0;
        Ok(upload::open(source, is_replayed)?.counted(self.sent.clone()))
    }

    fn call(&self) -> Call<'_> {
        let Session { client, plan, options, .. } = self.session;
        let mut call = client.request(&plan.method, self.target.url.as_str());
        for (name, value) in &self.fields {
            call = call.field(name.as_str(), value);
        }
        match options.connection.max_time {
            Some(after) => call.deadline(after),
            None => call,
        }
    }

    /// What is shown of the request.
    fn preface(&self, show: Show) -> Vec<u8> {
        let plan = self.session.plan;
        let mut preface = Vec::new();
        if show.request_head {
            let url = &self.target.url;
            preface.extend(show::request_head(&plan.method, url, &self.fields, show.is_coloured));
        }
        let content = plan.content.as_ref().map(|content| &content.source);
        if let Some(Source::Octets(Octets::Text(text))) = content.filter(|_| show.request_content) {
            preface.extend(show.json(text.clone()));
            preface.extend(if preface.ends_with(b"\n") { &b"\n"[..] } else { b"\n\n" });
        }
        preface
    }

    async fn download(&self, mut response: Response, preface: &[u8], report: &mut Report) -> Outcome {
        report.begins(&response);
        let Session { plan, options, .. } = self.session;
        let args = &options.output;
        let there = match self.what_is_there(&response)? {
            Some(there) => there,
            None => return Ok(()),
        };
        if let Some(tls) = response.tls().filter(|_| args.verbose) {
            frames::print_tls(&tls);
        }
        if let Some(path) = &args.dump_header {
            let mut output = Output::open(&Destination::named(path), There::IsReplaced, args.create_dirs)?;
            output.write(&show::response_head(&response, false))?;
        }
        let to = self.to.clone().named_by(args, &response);
        let show = Show::of(args, &plan.method, &to);
        if args.verbose && response.version() == Version::Http1 && !(show.head && show.is_seen) {
            // There are no frames to show.
            let _ = anstream::stderr().write_all(&show::response_head(&response, false));
        }
        let mut output = Output::open(&to, there, args.create_dirs)?;
        report.file = to.path().map(|path| path.display().to_string());
        if there == There::IsReplaced {
            if to.path().is_some() {
                output.write(preface)?;
            }
            if show.head {
                output.write(&show::response_head(&response, show.is_coloured))?;
            }
        }
        let mut progress = Progress::new(&response, args, &to);
        let mut sink = Sink::new(output, show, show.holds(&response));
        loop {
            match response.body().chunk().await {
                Ok(Some(chunk)) => {
                    report.octets_received += chunk.len() as u64;
                    sink.write(chunk)?;
                    progress.add(chunk.len());
                }
                Ok(None) => {
                    report.timing = response.timing();
                    sink.finish()?;
                    return if args.fail_with_body { refused(response.status()) } else { Ok(()) };
                }
                Err(error) => {
                    sink.release()?;
                    return Err(error.into());
                }
            }
        }
    }

    /// What becomes of a file that is there, by what the response says; nothing when it is whole already.
    fn what_is_there(&self, response: &Response) -> Result<Option<There>, Failure> {
        let status = response.status();
        let is_end = self.offset.is_some() && status.code() == 416;
        if self.session.options.output.fail && !is_end {
            refused(status)?;
        }
        let Some(offset) = self.offset else { return Ok(Some(There::IsReplaced)) };
        let rest = resume::rest_of(response, offset)?;
        Ok((rest == Rest::Follows).then_some(There::IsContinued))
    }
}

/// Fails when the status says that the request did.
fn refused(status: Status) -> Outcome {
    if status.code() < 400 {
        return Ok(());
    }
    let sentence = format!("the server answered {} {}", status.code(), status.reason().unwrap_or_default());
    Err(Failure::new(Exit::Status, sentence.trim_end()))
}
