//! The query of a request as pairs, or as a type of the program.

use std::{
    borrow::Cow,
    error,
    fmt::{self, Write as _},
};

use alula_fields::{OneLine, Status};
use serde_core::de::Deserialize;

use crate::{
    answer::{Answer, IntoAnswer},
    exchange::request::Request,
};

/// The error of a query that does not match the expected type. As an answer it is 400, with the reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueryError(Box<str>);

impl Request {
    /// Returns the pairs of the query in their order, decoded as browsers encode them (the URL standard, `+`
    /// is a space); invalid UTF-8 becomes U+FFFD. Allocates only where there is something to decode.
    ///
    /// ```
    /// # fn page(request: &alula::Request) -> Option<u32> {
    /// let page = request.query_pairs().find(|(name, _)| name == "page");
    /// page.and_then(|(_, page)| page.parse().ok())
    /// # }
    /// ```
    pub fn query_pairs(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        pairs(self.query().unwrap_or_default().as_bytes())
    }

    /// Reads the query as a type of the program, by `serde`: a field for each name. Names that the type has
    /// no field for are passed over, and a field with a default may be missing.
    ///
    /// # Errors
    /// A field is missing, is there twice, or has not the form of its type.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Sent, Status};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Page {
    ///     #[serde(default)]
    ///     offset: usize,
    /// }
    ///
    /// async fn list(exchange: Exchange) -> Result<Sent, Answer> {
    ///     let page: Page = exchange.request().query_as()?;
    ///     Ok(exchange.respond(Status::OK).send(format!("from {}", page.offset)).await?)
    /// }
    /// ```
    #[doc(alias = "Query")]
    pub fn query_as<'r, T: Deserialize<'r>>(&'r self) -> Result<T, QueryError> {
        serde_urlencoded::from_str(self.query().unwrap_or_default())
            .map_err(|error| QueryError(error.to_string().into()))
    }
}

/// Returns the pairs of a query.
pub(crate) fn pairs(query: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(query)
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(OneLine(f), "the query is not what is expected here: {}", self.0)
    }
}

impl error::Error for QueryError {}

impl IntoAnswer for QueryError {
    fn into_answer(self) -> Answer {
        Answer::new(Status::BAD_REQUEST).detail(self.to_string())
    }
}
