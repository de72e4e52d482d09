//! The resources: their paths, their handlers, and what a user needs for each of them.
//!
//! Rule: a path has a resource, and a resource says what it needs. Without either, this file does not
//! compile.

use alula::routing::get;
use alula::{Request, Route};

use super::checks::conditions::Conditions;
use super::list::{Asked, Listed};
use super::{
    answer::unrouted,
    checks::query,
    datatype::{self, counter},
    index, list, object, old, props, service, walk,
};
use crate::access::Permission::{Admin, Delete, Get, Index, List, Put};
use crate::access::{Permission, Permissions};
use crate::engine::Engine;
use crate::store::Store;

/// The handlers of one kind of path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Root,
    Ping,
    Statistics,
    MapReduce,
    Buckets,
    TypeProperties,
    Properties,
    Keys,
    Object,
    Walk,
    Index,
    /// A query of an index with more than two bounds, which is refused.
    IndexWithMore,
    Counter,
    DataTypes,
    DataType,
    OldBuckets,
    OldBucket,
}

/// The paths of all resources.
pub(super) const PATHS: [(&str, Resource); 28] = [
    ("/", Resource::Root),
    ("/ping", Resource::Ping),
    ("/stats", Resource::Statistics),
    ("/mapred", Resource::MapReduce),
    ("/buckets", Resource::Buckets),
    ("/types/{type}/buckets", Resource::Buckets),
    ("/types/{type}/props", Resource::TypeProperties),
    ("/buckets/{bucket}/props", Resource::Properties),
    ("/types/{type}/buckets/{bucket}/props", Resource::Properties),
    ("/buckets/{bucket}/keys", Resource::Keys),
    ("/types/{type}/buckets/{bucket}/keys", Resource::Keys),
    ("/buckets/{bucket}/keys/{key}", Resource::Object),
    ("/types/{type}/buckets/{bucket}/keys/{key}", Resource::Object),
    ("/buckets/{bucket}/keys/{key}/{*steps}", Resource::Walk),
    ("/types/{type}/buckets/{bucket}/keys/{key}/{*steps}", Resource::Walk),
    ("/riak/{bucket}/{key}/{*steps}", Resource::Walk),
    ("/buckets/{bucket}/index/{field}/{low}", Resource::Index),
    ("/buckets/{bucket}/index/{field}/{low}/{high}", Resource::Index),
    ("/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}", Resource::IndexWithMore),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}", Resource::Index),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}", Resource::Index),
    ("/types/{type}/buckets/{bucket}/index/{field}/{low}/{high}/{*rest}", Resource::IndexWithMore),
    ("/buckets/{bucket}/counters/{key}", Resource::Counter),
    ("/types/{type}/buckets/{bucket}/datatypes", Resource::DataTypes),
    ("/types/{type}/buckets/{bucket}/datatypes/{key}", Resource::DataType),
    ("/riak", Resource::OldBuckets),
    ("/riak/{bucket}", Resource::OldBucket),
    ("/riak/{bucket}/{key}", Resource::Object),
];

/// The conditions on which a request is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// The request needs no user.
    Nothing,
    /// The request needs a user, with any permissions.
    User,
    /// The request needs a user who has all of these permissions.
    Permissions(Permissions),
}

impl Resource {
    pub(super) fn route<E: Engine>(self, object_max: usize) -> Route<Store<E>> {
        match self {
            Self::Root => get(service::root),
            Self::Ping => get(service::ping),
            Self::Statistics => get(service::stats),
            Self::MapReduce => get(service::map_reduce_usage).post(service::map_reduce),
            Self::Buckets => get(list::list_buckets),
            Self::TypeProperties => get(props::read_type).put(props::write_type),
            Self::Properties => get(props::read).put(props::write).delete(props::reset),
            Self::Keys => get(list::list_keys).post(object::create).content_max(object_max),
            Self::Object => get(object::read)
                .put(object::put)
                .post(object::put)
                .delete(object::delete)
                .content_max(object_max),
            Self::Walk => get(walk::walk).post(walk::walk),
            Self::Index => get(index::query),
            Self::IndexWithMore => get(index::refuse_more_terms),
            Self::Counter => get(counter::read).head(unrouted::other_method).post(counter::change),
            Self::DataTypes => get(datatype::no_key).post(datatype::create),
            Self::DataType => get(datatype::read).post(datatype::change),
            Self::OldBuckets => get(old::list_buckets),
            Self::OldBucket => get(old::read).put(old::write).post(object::create).content_max(object_max),
        }
    }

    /// Returns what a request to the resource needs. One of another method than its own is taken for a write.
    pub(super) fn needs(self, request: &Request) -> Needs {
        let is_read = matches!(request.method(), "GET" | "HEAD");
        let permission = match self {
            Self::Statistics => return Needs::Nothing,
            // Its handler answers 405, which goes before access.
            Self::Counter if request.method() == "HEAD" => return Needs::Nothing,
            Self::Root | Self::Ping | Self::MapReduce => return Needs::User,
            Self::Buckets | Self::OldBuckets => List,
            Self::Properties | Self::TypeProperties => {
                if is_read {
                    Get
                } else {
                    Admin
                }
            }
            Self::Index | Self::IndexWithMore => Index,
            Self::Walk => Get,
            Self::Keys if is_read => List,
            Self::OldBucket if is_read => return Needs::Permissions(of_old_bucket(request)),
            Self::OldBucket if request.method() == "PUT" => Admin,
            Self::Object | Self::Counter | Self::DataTypes | Self::DataType if is_read => Get,
            Self::Object if request.method() == "DELETE" => {
                return Needs::Permissions(of_write(request, Delete));
            }
            Self::Keys
            | Self::OldBucket
            | Self::Object
            | Self::Counter
            | Self::DataTypes
            | Self::DataType => {
                return Needs::Permissions(of_write(request, Put));
            }
        };
        Needs::Permissions(Permissions::of(permission))
    }
}

/// Returns the permissions that a write needs. A write that answers with what is stored, or whose outcome
/// depends on it, reads it as well.
fn of_write(request: &Request, permission: Permission) -> Permissions {
    let returns = |name| query::value(request, name).is_some_and(|value| *value != *b"false");
    let reads =
        Conditions::are_in_write(request.headers()) || returns("returnbody") || returns("returnvalue");
    let permissions = Permissions::of(permission);
    if reads { permissions.and(Get) } else { permissions }
}

/// Returns the permissions that a read of a bucket needs on the path of older clients, which lists its keys,
/// its properties, or both.
fn of_old_bucket(request: &Request) -> Permissions {
    let has_no_keys = Asked::read(request, Listed::Keys).is_ok_and(|asked| asked.form().is_none());
    match (has_no_keys, old::shows_properties(request)) {
        (true, _) => Permissions::of(Get),
        (false, true) => Permissions::of(List).and(Get),
        (false, false) => Permissions::of(List),
    }
}
