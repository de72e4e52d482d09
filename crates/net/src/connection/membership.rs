//! The news of a connection for the pool of its client.

/// The news of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum News {
    /// It takes a request, and then no other.
    Free,
    /// It takes another request beside those that it has.
    Room,
    /// It has ended.
    Lost,
}

/// The membership of a connection in a pool, with the news that the pool was not told yet.
#[derive(Default)]
pub(crate) struct Membership {
    is_member: bool,
    news: Option<News>,
}

impl Membership {
    /// The connection is one of a pool from now on, which counts it; one that has ended is lost to it at
    /// once.
    pub(crate) fn begin(&mut self, has_ended: bool) {
        self.is_member = true;
        if has_ended {
            self.news = Some(News::Lost);
        }
    }

    /// Returns true if the connection is one of a pool.
    #[inline]
    pub(crate) fn is_member(&self) -> bool {
        self.is_member
    }

    /// Notes what the pool is to be told; what it was not told before is outdated.
    #[inline]
    pub(crate) fn tell(&mut self, news: News) {
        if self.is_member {
            self.news = Some(news);
        }
    }

    /// Returns true if the pool is to be told something.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.news.is_some()
    }

    /// Takes what the pool is to be told.
    #[inline]
    pub(crate) fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// Returns true if the pool still counts the connection, of which `has_ended` says whether it has ended.
    pub(crate) fn is_counted(&self, has_ended: bool) -> bool {
        self.is_member && (!has_ended || self.news == Some(News::Lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_counts_its_connections_until_it_is_told_that_they_ended() {
        let mut membership = Membership::default();
        membership.tell(News::Free);
        assert!(!membership.has_news() && !membership.is_counted(false), "it is in no pool");
        membership.begin(false);
        membership.tell(News::Free);
        assert_eq!((membership.take_news(), membership.is_counted(false)), (Some(News::Free), true));
        membership.tell(News::Lost);
        assert!(membership.is_counted(true), "the pool does not know yet");
        assert_eq!((membership.take_news(), membership.is_counted(true)), (Some(News::Lost), false));
    }

    #[test]
    fn one_that_has_ended_before_is_lost_at_once() {
        let mut membership = Membership::default();
        membership.begin(true);
        assert_eq!(membership.take_news(), Some(News::Lost));
    }
}
