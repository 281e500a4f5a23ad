//! The one way in which this crate changes a file: replace some byte ranges, keep every other byte.

use crate::error::{Error, ErrorKind};

/// A range of bytes in a text, `start` included, `end` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The offset of the first byte.
    pub(crate) start: usize,
    /// The offset after the last byte; never before `start`.
    pub(crate) end: usize,
}

impl Span {
    /// A range of bytes. An `end` before `start` gives the empty range at `start`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// The empty range at an offset.
    #[must_use]
    pub fn at(offset: usize) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// The offset of the first byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.start
    }

    /// The offset after the last byte; never before [`Span::start`].
    #[must_use]
    pub fn end(self) -> usize {
        self.end
    }

    /// How many bytes the range holds.
    #[must_use]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the range holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `text` in this range; `None` where it reaches past the end.
    #[must_use]
    pub fn of(self, text: &[u8]) -> Option<&[u8]> {
        text.get(self.start..self.end)
    }

    /// Whether two ranges share a byte, or one is an insertion strictly inside the other.
    ///
    /// Ranges that only touch are disjoint: an insertion beside a replacement is unambiguous.
    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// One replacement: the bytes of `delete` give way to `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indel {
    /// The bytes that go; empty for a pure insertion.
    pub delete: Span,
    /// The text that comes in their place.
    pub insert: String,
}

/// A set of replacements against one text.
///
/// Invariant: the indels are sorted by `delete` and disjoint. Insertions at one offset keep the
/// order in which they were added, and stand before a replacement that begins there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextEdit {
    indels: Vec<Indel>,
}

impl TextEdit {
    /// The edit that changes nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Replaces a range.
    #[must_use]
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self {
            indels: vec![Indel {
                delete: span,
                insert: text.into(),
            }],
        }
    }

    /// Inserts at an offset.
    #[must_use]
    pub fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self::replace(Span::at(offset), text)
    }

    /// Removes a range.
    #[must_use]
    pub fn delete(span: Span) -> Self {
        Self::replace(span, "")
    }

    /// The replacements, sorted and disjoint.
    #[must_use]
    pub fn indels(&self) -> &[Indel] {
        &self.indels
    }

    /// Whether applying this edit changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indels.is_empty()
    }

    /// Joins two edits that were made against the same text.
    ///
    /// An indel that both hold is kept once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if both change the same bytes in different ways.
    pub fn union(mut self, other: Self) -> Result<Self, Error> {
        for indel in other.indels {
            self.add(indel)?;
        }
        Ok(self)
    }

    /// Adds one replacement at its sorted position. What is held is disjoint and sorted, so that only
    /// the neighbours can touch it.
    fn add(&mut self, indel: Indel) -> Result<(), Error> {
        let position = self
            .indels
            .partition_point(|held| held.delete <= indel.delete);
        let (before, after) = self.indels.split_at(position);
        let is_held = before
            .iter()
            .rev()
            .take_while(|held| held.delete == indel.delete)
            .any(|held| *held == indel);
        if is_held {
            return Ok(());
        }
        let clash = before
            .last()
            .into_iter()
            .chain(after.first())
            .find(|held| held.delete.overlaps(indel.delete));
        if let Some(held) = clash {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "two edits change bytes {}..{} and {}..{}",
                    held.delete.start, held.delete.end, indel.delete.start, indel.delete.end
                ),
            ));
        }
        self.indels.insert(position, indel);
        Ok(())
    }

    /// The text after the edit. Bytes outside the replaced ranges are copied unchanged.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfBounds`] if a range reaches past the end of `text`.
    pub fn apply(&self, text: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(text.len());
        let mut copied = 0;
        for indel in &self.indels {
            if indel.delete.end > text.len() {
                return Err(Error::new(
                    ErrorKind::OutOfBounds,
                    format!(
                        "an edit of bytes {}..{} does not fit a text of {} bytes",
                        indel.delete.start,
                        indel.delete.end,
                        text.len()
                    ),
                ));
            }
            out.extend_from_slice(&text[copied..indel.delete.start]);
            out.extend_from_slice(indel.insert.as_bytes());
            copied = indel.delete.end;
        }
        out.extend_from_slice(&text[copied..]);
        Ok(out)
    }
}
