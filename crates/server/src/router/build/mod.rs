//! A router while it is built: its hosts, methods and nested routers, compiled into routes.

pub(in crate::router) mod builder;
pub(in crate::router) mod compile;
pub(in crate::router) mod methods;
pub(in crate::router) mod scopes;
pub(in crate::router) mod site;
