//! The heads and trailers of an exchange, where they are shown and in the file of -D.

use alula::Response;

use super::{Exchange, Session};
use crate::{
    failure::exit::{Failure, Outcome},
    fetch::{
        content::{Input, Source},
        output::{Output, There, destination::Destination},
        show::{self, Show},
    },
    terminal::Painted,
};

impl Exchange<'_> {
    /// Returns the lines that are shown of the request before the response, as they look where that goes.
    pub(super) fn preface(&self, to: &Destination) -> Painted {
        let Session { plan, options, .. } = self.session;
        let show = Show::of(&options.output, self.shown_as(), to);
        let mut preface = show.painted();
        if show.request_head {
            show::request_head(self.method(), &self.target.url, &self.fields, &show, &mut preface);
        }
        let content = plan.content_for(self.target).map(|content| &content.source);
        if let Some(Source::Input(Input::Text(text))) = content.filter(|_| show.request_content) {
            match show.json(text) {
                Some(json) => preface.append(json),
                None => preface.text(text),
            }
            preface.own(if preface.last() == Some(b'\n') { "\n" } else { "\n\n" });
        }
        preface
    }

    /// The head of the response, with those of redirects before it where they are wanted.
    pub(super) fn shown_head(&self, response: &Response, show: &Show) -> Painted {
        let mut head = show.painted();
        if self.session.shows_hops() {
            self.facts.seen().hops.iter().for_each(|hop| hop.paint(show, &mut head));
        }
        show::response_head(response, show, &mut head);
        head
    }

    /// The trailers, if they are shown with the head; they are added to what -D writes.
    pub(super) async fn shown_trailers(
        &self,
        response: &mut Response,
        show: &Show,
    ) -> Result<Option<Painted>, Failure> {
        let version = response.version();
        let Some(fields) = self.trailers(response).await? else { return Ok(None) };
        self.dump(|plain| show::trailers(version, fields, plain))?;
        Ok(show.head.then(|| show::trailers(version, fields, show)))
    }

    /// Writes the head to the file of -D.
    pub(super) fn dump_head(&self, response: &Response) -> Outcome {
        self.dump(|plain| {
            let mut head = plain.painted();
            self.facts.seen().hops.iter().for_each(|hop| hop.paint(plain, &mut head));
            show::response_head(response, plain, &mut head);
            head
        })
    }

    /// Adds something to the file of -D, which has the heads of all responses.
    fn dump(&self, paint: impl FnOnce(&Show) -> Painted) -> Outcome {
        let args = &self.session.options.output;
        let Some(path) = &args.dump_header else { return Ok(()) };
        let to = Destination::named(path);
        let mut dump = self.session.dump.borrow_mut();
        let output = match &mut *dump {
            Some(output) => output,
            none => none.insert(Output::open(&to, There::IsReplaced, args.create_dirs)?),
        };
        output.show(paint(&Show::plain(to.is_terminal())))
    }
}
