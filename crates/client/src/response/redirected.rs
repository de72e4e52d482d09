//! The redirects that led to a response.

use crate::response::Response;

/// The redirects of a response.
pub(crate) struct Redirected {
    pub(crate) url: String,
    pub(crate) count: u16,
}

impl Response {
    /// Returns the number of redirects before this response. Allocates nothing.
    pub fn redirects(&self) -> u16 {
        self.redirected.as_ref().map_or(0, |redirected| redirected.count)
    }

    /// Returns the URL that answered, fragment included, after redirects; nothing without redirects. An IPv6
    /// address has the zone that it was called with. Allocates nothing.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let url = "https://example.com/old";
    /// let response = client.get(url).send().await?;
    /// println!("{} answered", response.final_url().unwrap_or(url));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "url")]
    pub fn final_url(&self) -> Option<&str> {
        self.redirected.as_ref().map(|redirected| &*redirected.url)
    }
}
