//! The news of a connection for the pool of its client.

/// The news of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum News {
    /// The connection can take one request, and then no other.
    Free,
    /// The connection can take another request beside the present ones.
    Room,
    /// The connection has ended.
    Lost,
}

/// The membership of a connection in a pool, with the news that the pool does not know yet.
#[derive(Default)]
pub(crate) struct Membership {
    is_member: bool,
    news: Option<News>,
}

impl Membership {
    /// Makes the connection a member of a pool, which counts it; a connection that has ended is reported as
    /// lost at once.
    pub(crate) fn begin(&mut self, has_ended: bool) {
        self.is_member = true;
        if has_ended {
            self.news = Some(News::Lost);
        }
    }

    /// Returns true if the connection belongs to a pool.
    #[inline]
    pub(crate) fn is_member(&self) -> bool {
        self.is_member
    }

    /// Sets the news for the pool; earlier news that it does not know are outdated.
    #[inline]
    pub(crate) fn tell(&mut self, news: News) {
        if self.is_member {
            self.news = Some(news);
        }
    }

    /// Returns true if there is news for the pool.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.news.is_some()
    }

    /// Takes the news for the pool.
    #[inline]
    pub(crate) fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// Returns true if the pool still counts the connection; `has_ended` says whether the connection has
    /// ended.
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
