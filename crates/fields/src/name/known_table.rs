//! The known field names, written once; every other table of them is derived from this one.
//!
//! A row: constant, lower-case name, HTTP/1 spelling, flags. The names of HPACK's static table come first, in
//! the order in which RFC 7541 Appendix A first mentions them; the rest is alphabetical after `:protocol`. A
//! new row goes at the end of its group: ids are not stable between versions and never leave the process.

use crate::name::known::{CONNECTION, KnownName, LIST, PSEUDO, SECRET, SINGLE};

/// Makes the constants and the three columns from the rows; ids count from one.
macro_rules! known_names {
    ($($constant:ident $lower:literal $canonical:literal $flags:expr;)*) => {
        /// Counts the rows.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Row { $($constant,)* End }

        /// The known names.
        impl KnownName {
            /// The number of known names; ids run from 1 to this.
            pub const COUNT: usize = Row::End as usize;
            $(
                #[doc = concat!("`", $lower, "`")]
                pub const $constant: KnownName = KnownName::row(Row::$constant as u8 + 1);
            )*
        }

        // Tables are as long as the index type has values, so that no access is checked.
        pub(crate) static LOWER: [&str; 256] = column(&["", $($lower,)*]);
        pub(crate) static CANONICAL: [&str; 256] = column(&["", $($canonical,)*]);
        pub(crate) static FLAGS: [u8; 256] = {
            let rows = [0, $($flags,)*];
            let mut column = [0; 256];
            let mut id = 0;
            while id < rows.len() {
                column[id] = rows[id];
                id += 1;
            }
            column
        };
    };
}

known_names! {
    PSEUDO_AUTHORITY ":authority" ":authority" PSEUDO | SINGLE;
    PSEUDO_METHOD ":method" ":method" PSEUDO | SINGLE;
    PSEUDO_PATH ":path" ":path" PSEUDO | SINGLE;
    PSEUDO_SCHEME ":scheme" ":scheme" PSEUDO | SINGLE;
    PSEUDO_STATUS ":status" ":status" PSEUDO | SINGLE;
    ACCEPT_CHARSET "accept-charset" "Accept-Charset" LIST;
    ACCEPT_ENCODING "accept-encoding" "Accept-Encoding" LIST;
    ACCEPT_LANGUAGE "accept-language" "Accept-Language" LIST;
    ACCEPT_RANGES "accept-ranges" "Accept-Ranges" LIST;
    ACCEPT "accept" "Accept" LIST;
    ACCESS_CONTROL_ALLOW_ORIGIN "access-control-allow-origin" "Access-Control-Allow-Origin" SINGLE;
    AGE "age" "Age" SINGLE;
    ALLOW "allow" "Allow" LIST;
    AUTHORIZATION "authorization" "Authorization" SINGLE | SECRET;
    CACHE_CONTROL "cache-control" "Cache-Control" LIST;
    CONTENT_DISPOSITION "content-disposition" "Content-Disposition" SINGLE;
    CONTENT_ENCODING "content-encoding" "Content-Encoding" LIST;
    CONTENT_LANGUAGE "content-language" "Content-Language" LIST;
    CONTENT_LENGTH "content-length" "Content-Length" SINGLE;
    CONTENT_LOCATION "content-location" "Content-Location" SINGLE;
    CONTENT_RANGE "content-range" "Content-Range" SINGLE;
    CONTENT_TYPE "content-type" "Content-Type" SINGLE;
    COOKIE "cookie" "Cookie" SECRET;
    DATE "date" "Date" SINGLE;
    ETAG "etag" "ETag" SINGLE;
    EXPECT "expect" "Expect" LIST;
    EXPIRES "expires" "Expires" SINGLE;
    FROM "from" "From" SINGLE;
    HOST "host" "Host" SINGLE;
    IF_MATCH "if-match" "If-Match" LIST;
    IF_MODIFIED_SINCE "if-modified-since" "If-Modified-Since" SINGLE;
    IF_NONE_MATCH "if-none-match" "If-None-Match" LIST;
    IF_RANGE "if-range" "If-Range" SINGLE;
    IF_UNMODIFIED_SINCE "if-unmodified-since" "If-Unmodified-Since" SINGLE;
    LAST_MODIFIED "last-modified" "Last-Modified" SINGLE;
    LINK "link" "Link" LIST;
    LOCATION "location" "Location" SINGLE;
    MAX_FORWARDS "max-forwards" "Max-Forwards" SINGLE;
    PROXY_AUTHENTICATE "proxy-authenticate" "Proxy-Authenticate" LIST;
    PROXY_AUTHORIZATION "proxy-authorization" "Proxy-Authorization" SINGLE | SECRET;
    RANGE "range" "Range" SINGLE;
    REFERER "referer" "Referer" SINGLE;
    REFRESH "refresh" "Refresh" SINGLE;
    RETRY_AFTER "retry-after" "Retry-After" SINGLE;
    SERVER "server" "Server" SINGLE;
    SET_COOKIE "set-cookie" "Set-Cookie" SECRET;
    STRICT_TRANSPORT_SECURITY "strict-transport-security" "Strict-Transport-Security" SINGLE;
    TRANSFER_ENCODING "transfer-encoding" "Transfer-Encoding" LIST | CONNECTION;
    USER_AGENT "user-agent" "User-Agent" SINGLE;
    VARY "vary" "Vary" LIST;
    VIA "via" "Via" LIST;
    WWW_AUTHENTICATE "www-authenticate" "WWW-Authenticate" LIST;

    PSEUDO_PROTOCOL ":protocol" ":protocol" PSEUDO | SINGLE;

    ACCEPT_PATCH "accept-patch" "Accept-Patch" LIST;
    ACCEPT_POST "accept-post" "Accept-Post" LIST;
    ACCESS_CONTROL_ALLOW_CREDENTIALS "access-control-allow-credentials" "Access-Control-Allow-Credentials" SINGLE;
    ACCESS_CONTROL_ALLOW_HEADERS "access-control-allow-headers" "Access-Control-Allow-Headers" LIST;
    ACCESS_CONTROL_ALLOW_METHODS "access-control-allow-methods" "Access-Control-Allow-Methods" LIST;
    ACCESS_CONTROL_EXPOSE_HEADERS "access-control-expose-headers" "Access-Control-Expose-Headers" LIST;
    ACCESS_CONTROL_MAX_AGE "access-control-max-age" "Access-Control-Max-Age" SINGLE;
    ACCESS_CONTROL_REQUEST_HEADERS "access-control-request-headers" "Access-Control-Request-Headers" LIST;
    ACCESS_CONTROL_REQUEST_METHOD "access-control-request-method" "Access-Control-Request-Method" SINGLE;
    ALT_SVC "alt-svc" "Alt-Svc" LIST;
    ALT_USED "alt-used" "Alt-Used" SINGLE;
    APNS_EXPIRATION "apns-expiration" "Apns-Expiration" SINGLE;
    APNS_ID "apns-id" "Apns-Id" SINGLE;
    APNS_PRIORITY "apns-priority" "Apns-Priority" SINGLE;
    APNS_PUSH_TYPE "apns-push-type" "Apns-Push-Type" SINGLE;
    APNS_TOPIC "apns-topic" "Apns-Topic" SINGLE;
    AUTHENTICATION_INFO "authentication-info" "Authentication-Info" SECRET;
    CACHE_STATUS "cache-status" "Cache-Status" LIST;
    CDN_CACHE_CONTROL "cdn-cache-control" "CDN-Cache-Control" LIST;
    CDN_LOOP "cdn-loop" "CDN-Loop" LIST;
    CLEAR_SITE_DATA "clear-site-data" "Clear-Site-Data" LIST;
    CONNECTION "connection" "Connection" LIST | CONNECTION;
    CONTENT_DIGEST "content-digest" "Content-Digest" LIST;
    CONTENT_MD5 "content-md5" "Content-MD5" SINGLE;
    CONTENT_SECURITY_POLICY "content-security-policy" "Content-Security-Policy" LIST;
    CROSS_ORIGIN_EMBEDDER_POLICY "cross-origin-embedder-policy" "Cross-Origin-Embedder-Policy" SINGLE;
    CROSS_ORIGIN_OPENER_POLICY "cross-origin-opener-policy" "Cross-Origin-Opener-Policy" SINGLE;
    CROSS_ORIGIN_RESOURCE_POLICY "cross-origin-resource-policy" "Cross-Origin-Resource-Policy" SINGLE;
    DNT "dnt" "DNT" SINGLE;
    EARLY_DATA "early-data" "Early-Data" SINGLE;
    FORWARDED "forwarded" "Forwarded" LIST;
    GRPC_ACCEPT_ENCODING "grpc-accept-encoding" "Grpc-Accept-Encoding" LIST;
    GRPC_ENCODING "grpc-encoding" "Grpc-Encoding" SINGLE;
    GRPC_MESSAGE "grpc-message" "Grpc-Message" SINGLE;
    GRPC_STATUS "grpc-status" "Grpc-Status" SINGLE;
    GRPC_TIMEOUT "grpc-timeout" "Grpc-Timeout" SINGLE;
    HTTP2_SETTINGS "http2-settings" "HTTP2-Settings" SINGLE | CONNECTION;
    IDEMPOTENCY_KEY "idempotency-key" "Idempotency-Key" SINGLE;
    KEEP_ALIVE "keep-alive" "Keep-Alive" LIST | CONNECTION;
    LAST_EVENT_ID "last-event-id" "Last-Event-ID" SINGLE;
    NEL "nel" "NEL" SINGLE;
    ORIGIN "origin" "Origin" SINGLE;
    PERMISSIONS_POLICY "permissions-policy" "Permissions-Policy" LIST;
    PRAGMA "pragma" "Pragma" LIST;
    PREFER "prefer" "Prefer" LIST;
    PREFERENCE_APPLIED "preference-applied" "Preference-Applied" LIST;
    PRIORITY "priority" "Priority" LIST;
    PROXY_AUTHENTICATION_INFO "proxy-authentication-info" "Proxy-Authentication-Info" SECRET;
    PROXY_CONNECTION "proxy-connection" "Proxy-Connection" LIST | CONNECTION;
    PROXY_STATUS "proxy-status" "Proxy-Status" LIST;
    RATELIMIT "ratelimit" "RateLimit" LIST;
    RATELIMIT_POLICY "ratelimit-policy" "RateLimit-Policy" LIST;
    REFERRER_POLICY "referrer-policy" "Referrer-Policy" LIST;
    REPORTING_ENDPOINTS "reporting-endpoints" "Reporting-Endpoints" LIST;
    REPORT_TO "report-to" "Report-To" LIST;
    REPR_DIGEST "repr-digest" "Repr-Digest" LIST;
    SEC_CH_UA "sec-ch-ua" "Sec-CH-UA" LIST;
    SEC_CH_UA_MOBILE "sec-ch-ua-mobile" "Sec-CH-UA-Mobile" SINGLE;
    SEC_CH_UA_PLATFORM "sec-ch-ua-platform" "Sec-CH-UA-Platform" SINGLE;
    SEC_FETCH_DEST "sec-fetch-dest" "Sec-Fetch-Dest" SINGLE;
    SEC_FETCH_MODE "sec-fetch-mode" "Sec-Fetch-Mode" SINGLE;
    SEC_FETCH_SITE "sec-fetch-site" "Sec-Fetch-Site" SINGLE;
    SEC_FETCH_USER "sec-fetch-user" "Sec-Fetch-User" SINGLE;
    SEC_GPC "sec-gpc" "Sec-GPC" SINGLE;
    SEC_WEBSOCKET_ACCEPT "sec-websocket-accept" "Sec-WebSocket-Accept" SINGLE;
    SEC_WEBSOCKET_EXTENSIONS "sec-websocket-extensions" "Sec-WebSocket-Extensions" LIST;
    SEC_WEBSOCKET_KEY "sec-websocket-key" "Sec-WebSocket-Key" SINGLE;
    SEC_WEBSOCKET_PROTOCOL "sec-websocket-protocol" "Sec-WebSocket-Protocol" LIST;
    SEC_WEBSOCKET_VERSION "sec-websocket-version" "Sec-WebSocket-Version" LIST;
    SERVER_TIMING "server-timing" "Server-Timing" LIST;
    TE "te" "TE" LIST;
    TIMING_ALLOW_ORIGIN "timing-allow-origin" "Timing-Allow-Origin" LIST;
    TRACEPARENT "traceparent" "Traceparent" SINGLE;
    TRACESTATE "tracestate" "Tracestate" LIST;
    TRAILER "trailer" "Trailer" LIST;
    UPGRADE "upgrade" "Upgrade" LIST | CONNECTION;
    UPGRADE_INSECURE_REQUESTS "upgrade-insecure-requests" "Upgrade-Insecure-Requests" SINGLE;
    WARNING "warning" "Warning" LIST;
    X_API_KEY "x-api-key" "X-Api-Key" SECRET;
    X_AUTH_TOKEN "x-auth-token" "X-Auth-Token" SECRET;
    X_CACHE "x-cache" "X-Cache" 0;
    X_CONTENT_TYPE_OPTIONS "x-content-type-options" "X-Content-Type-Options" SINGLE;
    X_CORRELATION_ID "x-correlation-id" "X-Correlation-ID" SINGLE;
    X_CSRF_TOKEN "x-csrf-token" "X-CSRF-Token" SECRET;
    X_FORWARDED_FOR "x-forwarded-for" "X-Forwarded-For" LIST;
    X_FORWARDED_HOST "x-forwarded-host" "X-Forwarded-Host" 0;
    X_FORWARDED_PROTO "x-forwarded-proto" "X-Forwarded-Proto" 0;
    X_FRAME_OPTIONS "x-frame-options" "X-Frame-Options" SINGLE;
    X_POWERED_BY "x-powered-by" "X-Powered-By" 0;
    X_REAL_IP "x-real-ip" "X-Real-IP" SINGLE;
    X_REQUESTED_WITH "x-requested-with" "X-Requested-With" SINGLE;
    X_REQUEST_ID "x-request-id" "X-Request-ID" SINGLE;
    X_RIAK_CLIENTID "x-riak-clientid" "X-Riak-ClientId" SINGLE;
    X_RIAK_VCLOCK "x-riak-vclock" "X-Riak-Vclock" SINGLE;
    X_XSS_PROTECTION "x-xss-protection" "X-XSS-Protection" SINGLE;
}

/// The bytes of [`STARTS`] that begin a line.
pub(crate) const START_BYTES_MAX: usize = 32;

/// The canonical spellings with the colon and the space of an HTTP/1 line, padded with zeros; all zeros if a
/// spelling is too long.
pub(crate) static STARTS: [[u8; START_BYTES_MAX]; 256] = {
    let mut starts = [[0; START_BYTES_MAX]; 256];
    let mut id = 1;
    while id <= KnownName::COUNT {
        let (name, mut at) = (CANONICAL[id].as_bytes(), 0);
        if name.len() + 2 <= START_BYTES_MAX {
            while at < name.len() {
                starts[id][at] = name[at];
                at += 1;
            }
            (starts[id][at], starts[id][at + 1]) = (b':', b' ');
        }
        id += 1;
    }
    starts
};

/// Returns a column of text, padded to the length of the index type.
const fn column(rows: &[&'static str]) -> [&'static str; 256] {
    let mut column = [""; 256];
    let mut id = 0;
    while id < rows.len() {
        column[id] = rows[id];
        id += 1;
    }
    column
}

// A name that is not in lower case, or a spelling that is not the name in another case, does not compile.
const _: () = {
    let mut id = 1;
    while id <= KnownName::COUNT {
        let (lower, canonical) = (LOWER[id].as_bytes(), CANONICAL[id].as_bytes());
        assert!(lower.len() == canonical.len(), "a spelling is longer or shorter than its name");
        let mut at = 0;
        while at < lower.len() {
            assert!(
                lower[at] == canonical[at].to_ascii_lowercase(),
                "a spelling is not its name in another case"
            );
            at += 1;
        }
        id += 1;
    }
};
