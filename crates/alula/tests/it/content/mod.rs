//! Content of requests and responses: its forms, its codings, its pace, and content that nobody reads.

mod expect_continue;
mod gathered;
mod received_forms;
mod request_coding;
mod request_forms;
mod response_coding;
mod slow;
mod unread_requests;
mod unread_responses;
mod windows_grow;
