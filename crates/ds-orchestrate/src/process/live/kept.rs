//! What is kept of an output stream.

use std::collections::VecDeque;

/// The first half and the last half of a cap: how a program began, and what it said last, which is where an error stands.
#[derive(Debug)]
pub(super) struct Kept {
    head: Vec<u8>,
    head_cap: usize,
    tail: VecDeque<u8>,
    tail_cap: usize,
    /// How many bytes were between the two.
    dropped: u64,
}

impl Kept {
    pub(super) fn new(cap: usize) -> Self {
        Self {
            head: Vec::new(),
            head_cap: cap - cap / 2,
            tail: VecDeque::new(),
            tail_cap: cap / 2,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let (head, rest) = chunk.split_at(chunk.len().min(self.head_cap - self.head.len()));
        self.head.extend_from_slice(head);
        // Of a piece that is longer than the tail only its end stays.
        let (over, rest) = rest.split_at(rest.len().saturating_sub(self.tail_cap));
        let pushed_out = (self.tail.len() + rest.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..pushed_out.min(self.tail.len()));
        self.tail.extend(rest);
        self.dropped += (over.len() + pushed_out) as u64;
    }

    /// The kept bytes and how many are missing. Where some are, the line before and the line behind the gap go as well:
    /// their halves together would make a line that nobody printed.
    pub(super) fn finish(mut self) -> (Vec<u8>, u64) {
        if self.dropped > 0 {
            let is_end = |byte: &u8| *byte == b'\n';
            if let Some(end) = self.head.iter().rposition(is_end) {
                self.dropped += (self.head.len() - end - 1) as u64;
                self.head.truncate(end + 1);
            }
            if let Some(end) = self.tail.iter().position(is_end) {
                self.dropped += end as u64 + 1;
                self.tail.drain(..=end);
            }
        }
        self.head.extend(self.tail);
        (self.head, self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[track_caller]
    fn check(cap: usize, chunks: &[&str], kept: &str, dropped: u64) {
        let mut all = Kept::new(cap);
        for chunk in chunks {
            all.push(chunk.as_bytes());
        }
        let (bytes, missing) = all.finish();
        assert_eq!(
            (String::from_utf8_lossy(&bytes).as_ref(), missing),
            (kept, dropped)
        );
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        check(10, &["abc\n", "", "defghi"], "abc\ndefghi", 0);
    }

    #[test]
    fn of_more_the_two_ends_are_kept_in_whole_lines() {
        // Five bytes a side: `a\nbb\n` and `f\ngg\n`; behind the gap the rest of a line goes.
        check(
            10,
            &["a\nbb\nccc\nddd\n", "eeee\nf\ngg\n"],
            "a\nbb\ngg\n",
            15,
        );
        check(10, &["a\nbbbbbbbbbbbb\nzz\n"], "a\nzz\n", 13);
    }

    #[test]
    fn without_lines_bytes_count() {
        check(4, &["abcdefgh"], "abgh", 4);
        check(4, &["a", "b", "c", "d", "e", "f", "g", "h"], "abgh", 4);
        check(0, &["abc"], "", 3);
        check(1, &["abc"], "a", 2);
    }
}
