//! Content in JSON.

#[cfg(feature = "json")]
impl crate::request::call::Call<'_> {
    /// Sets a value in JSON (RFC 8259) as the content of the request, of the media type `application/json`.
    /// Allocates.
    ///
    /// Sending it fails when the value cannot be written so: a map has keys that are no text, or its
    /// `Serialize` fails.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.post("https://example.com/ports").json(&[80, 443]).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn json(mut self, value: &(impl serde_core::Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => self.content(super::Content::bytes(text).media_type("application/json")),
            Err(_) => {
                self.note(alula_net::Error::usage("the value cannot be written in JSON"));
                self
            }
        }
    }
}
