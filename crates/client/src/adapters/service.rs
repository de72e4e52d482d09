//! The client as a service of `tower`.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_body::Body;
use tower_service::Service;

use super::{content::ResponseContent, error::ExecuteError};
use crate::client::Client;

/// As [`Client::execute`], with one allocation more, for the future. It is always ready: what waits for
/// connections and streams is the call. By name it is `Service::call`: [`Client::call`] is another.
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
