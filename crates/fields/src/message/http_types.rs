//! Conversions to and from methods and statuses of the `http` crate; feature `http`.

use crate::message::{method::Method, status::Status};

impl<'a> From<&'a http::Method> for Method<'a> {
    fn from(method: &'a http::Method) -> Self {
        Self::parse(method.as_str()).unwrap_or(Self::Other(method.as_str()))
    }
}

impl TryFrom<Method<'_>> for http::Method {
    type Error = http::method::InvalidMethod;

    /// Allocates for long methods that are not standard.
    fn try_from(method: Method<'_>) -> Result<Self, Self::Error> {
        Self::from_bytes(method.as_str().as_bytes())
    }
}

impl From<http::StatusCode> for Status {
    fn from(status: http::StatusCode) -> Self {
        // Both types hold 100 to 999.
        Self::new(status.as_u16()).unwrap_or(Self::INTERNAL_SERVER_ERROR)
    }
}

impl From<Status> for http::StatusCode {
    fn from(status: Status) -> Self {
        // Both types hold 100 to 999.
        Self::from_u16(status.as_u16()).unwrap_or(Self::INTERNAL_SERVER_ERROR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_statuses() {
        for text in ["GET", "PURGE", "get"] {
            let theirs = http::Method::try_from(Method::parse(text).unwrap()).unwrap();
            assert_eq!((theirs.as_str(), Method::from(&theirs).as_str()), (text, text));
        }
        for code in 100..=999 {
            let theirs = http::StatusCode::from(Status::new(code).unwrap());
            assert_eq!((theirs.as_u16(), Status::from(theirs).as_u16()), (code, code));
        }
    }
}
