//! The captures of a request's path, the state of its router, and its query.

use std::{borrow::Cow, str::FromStr};

use super::{
    State,
    param_error::{ParamError, Why},
};
#[cfg(feature = "files")]
use crate::route::Segments;
use crate::{exchange::Exchange, route::decode};

impl<S: Send + Sync + 'static> Exchange<S> {
    /// Returns the state of the router, as an owned handle.
    ///
    /// # Panics
    /// The exchange was not handed out by a router of this state.
    #[doc(alias = "Extension")]
    pub fn state(&self) -> State<S> {
        let state =
            self.app().map_or_else(|| State::for_connection(&std::sync::Arc::new(())), |app| app.state());
        State::of(state).expect("a router hands out exchanges of its own state")
    }
}

impl<S> Exchange<S> {
    /// Returns the part of the path that `{name}` captured, decoded (RFC 3986 §2.1). Allocates only where
    /// there is something to decode.
    ///
    /// # Errors
    /// The pattern has no such capture; it has a malformed escape, or is no UTF-8.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Sent, Status};
    ///
    /// async fn read(exchange: Exchange) -> Result<Sent, Answer> {
    ///     let greeting = format!("hello, {}", exchange.param("name")?);
    ///     Ok(exchange.respond(Status::OK).send(greeting).await?)
    /// }
    /// ```
    pub fn param(&self, name: &str) -> Result<Cow<'_, str>, ParamError> {
        let text = |bytes| match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        text(self.param_bytes(name)?).ok_or_else(|| ParamError::new(name, Why::NotText))
    }

    /// Parses a [`param`](Self::param) into a number or another type that is read from text.
    ///
    /// # Errors
    /// As [`param`](Self::param), or it cannot be read so.
    #[doc(alias = "Path")]
    pub fn param_as<T: FromStr>(&self, name: &str) -> Result<T, ParamError> {
        self.param(name)?.parse().map_err(|_| ParamError::new(name, Why::NotParsed))
    }

    /// Returns a [`param`](Self::param) as bytes, for keys that need not be text.
    ///
    /// # Errors
    /// The pattern has no such capture, or it has a malformed escape.
    pub fn param_bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, ParamError> {
        let not_captured = || ParamError::new(name, Why::NotCaptured);
        let captured =
            self.app().and_then(|app| app.routes.names_of(self.entry())).ok_or_else(not_captured)?;
        let number = captured.names.iter().position(|own| **own == *name).ok_or_else(not_captured)?;
        let raw = self.request().capture(number).ok_or_else(not_captured)?;
        decode(raw, captured.options).map_err(|_| ParamError::new(name, Why::BadEscape))
    }

    /// Returns the part of the path that the last capture of the route stands for, as it was written, and the
    /// options of its router: nothing of the path for a route without captures, all behind the slash for a
    /// request that has no route. `None` for a target that is no path.
    #[cfg(feature = "files")]
    pub(crate) fn last_capture(&self) -> Option<(&str, Segments)> {
        let request = self.request();
        let place = self.app().and_then(|app| app.routes.place_of(self.entry()));
        let (bytes, options) = match place {
            None => (request.path_alone().strip_prefix(b"/")?, Segments::STRICT),
            Some(place) => match place.names.len().checked_sub(1) {
                Some(last) => (request.capture(last)?, place.options),
                None => (&[][..], place.options),
            },
        };
        std::str::from_utf8(bytes).ok().map(|path| (path, options))
    }

    /// Returns the pattern of the route, such as `/lists/{list}`; `None` for a path that no route has.
    #[doc(alias = "MatchedPath")]
    pub fn route(&self) -> Option<&str> {
        self.app()?.routes.place_of(self.entry()).map(|place| place.pattern)
    }

    /// Returns the methods that the path has handlers for, as `allow` lists them (RFC 9110 §10.2.1); for
    /// handlers that answer 405.
    pub fn allowed(&self) -> &str {
        let place = self.app().and_then(|app| app.routes.place_of(self.entry()));
        place.map_or("", |place| &place.value.allow)
    }
}
