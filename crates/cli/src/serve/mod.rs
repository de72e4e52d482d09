//! `alula serve`: the flags of the library's file server, and the hooks around it.

mod advice;

use std::net::IpAddr;

use alula::{
    Answer, Exchange, KnownName, OriginGuard, Route, Router, Routes, Sent, Status, files::Folder, routing,
};

use crate::{
    args::{ANY, ServeArgs},
    failure::exit::{Exit, Failure, Outcome},
    hooks::{self, Lines, LogLine},
    listening::{self, Bound, ListenOptions, Service},
};

/// The file that stands for a folder.
const INDEX: &str = "index.html";

/// The page of what is not there.
const NOT_FOUND: &str = "404.html";

/// The end of listings with `--upload`.
const FORM: &str = "\
<form method=\"post\" enctype=\"multipart/form-data\">
<p><input type=\"file\" name=\"file\" multiple required> <input type=\"submit\" value=\"Upload\">
</form>
";

/// Serves until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> Outcome {
    let folder = folder(args);
    folder.open().map_err(|error| advice::no_folder(args, &error))?;
    let (mut router, mut watching) = hooks::router(&args.watch)?;
    advice::tell(args);
    // The writer goes last, when every request has been written down.
    let (lines, _writer) = args.log.then(Lines::to_stderr).unzip();
    if let Some(lines) = lines {
        watching.tell_in(&lines);
        router = router.hook(LogLine(lines));
    }
    // A file is read on a thread, which a client that closes its side and reads on waits for all the same.
    // One that has left altogether is found by the next write.
    let terms = ListenOptions { half_close: true, ..ListenOptions::usual(&watching) };
    listening::run(&args.listen, terms, async |bound: Bound| {
        let router = guarded(router, args, bound.address.ip());
        Ok(Service { routes: routes(router, args, &folder)?, hint: String::new() })
    })
}

/// Returns the folder as the flags have it.
fn folder(args: &ServeArgs) -> Folder {
    let folder = Folder::new(&args.folder).index(INDEX).not_found(NOT_FOUND);
    let folder = if args.no_listing { folder } else { folder.listing() };
    let folder = if args.spa { folder.spa() } else { folder };
    let folder = if args.dot_files { folder.show_hidden() } else { folder };
    let folder = if args.precompressed { folder.precompressed() } else { folder };
    if args.upload { folder.listing_footer(FORM) } else { folder }
}

/// Adds what judges the pages and the hosts that a request comes by, where they are judged.
fn guarded(router: Router, args: &ServeArgs, address: IpAddr) -> Router {
    let is_judged = args.hosts.are_judged(args.upload, address);
    let guard = if is_judged { args.hosts.added_to(page_guard(args)) } else { page_guard(args) };
    if is_judged || args.upload { router.hook(guard) } else { router }
}

/// Returns what judges the pages that store files: those of the origins that are named may. A page of anybody
/// could send a form, for which the browser asks nobody before; and `--cors` without a name is for those who
/// read.
fn page_guard(args: &ServeArgs) -> OriginGuard {
    let named = args.watch.cors.iter().filter(|origin| *origin != ANY);
    named.fold(OriginGuard::new(), OriginGuard::trust)
}

/// Returns the routes to the folder, and to what stores files in it.
///
/// # Errors
/// A path of metrics or probes is that of the files.
fn routes(router: Router, args: &ServeArgs, folder: &Folder) -> Result<Routes, Failure> {
    let mut route: Route = routing::get(folder.handler()).options(options).any(not_allowed);
    if args.upload {
        let uploads = folder.uploads().content_max(args.max_body);
        let uploads = if args.overwrite { uploads.overwrite() } else { uploads };
        route = route.put(uploads.put_handler()).post(uploads.form_handler());
    }
    let routes = router.route("/{*path}", route).fallback(beside).build();
    routes.map_err(|error| Failure::new(Exit::Usage, error))
}

/// Answers 204 with what can be asked (RFC 9110 §9.3.7).
async fn options(exchange: Exchange) -> Result<Sent, Answer> {
    let allow = exchange.allowed().to_owned();
    Ok(exchange.respond(Status::NO_CONTENT).header(KnownName::ALLOW, allow).send([]).await?)
}

/// Answers 405 with what can be asked (RFC 9110 §15.5.6), also to methods that HTTP does not know.
async fn not_allowed(exchange: Exchange) -> Result<Sent, Answer> {
    Err(Answer::new(Status::METHOD_NOT_ALLOWED).header(KnownName::ALLOW, exchange.allowed()))
}

/// Answers for targets that are no path, such as the `*` of OPTIONS.
async fn beside(exchange: Exchange) -> Result<Sent, Answer> {
    match exchange.request().method() {
        "OPTIONS" => {
            let reply = exchange.respond(Status::NO_CONTENT);
            Ok(reply.header(KnownName::ALLOW, "GET, HEAD, OPTIONS").send([]).await?)
        }
        _ => Err(Status::NOT_FOUND.into()),
    }
}

#[cfg(test)]
mod tests;
