//! The client as a service of `tower`.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_body::Body;
use tower_service::Service;

use super::{content::ResponseContent, error::ExecuteError};
use crate::client::Client;

/// Sends a request as [`Client::execute`] does, with one more allocation, for the future. The service is
/// always ready: the future waits for connections and streams. It is called by its path, `Service::call`,
/// since [`Client::call`] is another function.
///
/// ```no_run
/// use tower_service::Service;
///
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = alula::Client::new()?;
/// let request = http::Request::get("https://example.com/").body(String::new())?;
/// println!("{}", Service::call(&mut client, request).await?.status());
/// # Ok(())
/// # }
/// ```
impl<B> Service<http::Request<B>> for Client
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = http::Response<ResponseContent>;
    type Error = ExecuteError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ExecuteError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ExecuteError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move { client.execute(request).await })
    }
}
