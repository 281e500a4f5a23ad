//! From byte offsets to the lines and columns that people and editors count.

use std::fmt;

/// A line and a column, both counted from 1. Displays as `line:column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, from 1. Only `\n` ends a line, as for GLib, the shell and most editors.
    pub line: usize,
    /// The column in characters, from 1. A byte that is no valid UTF-8 counts as one character.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Where each line of a text begins.
///
/// Holds offsets only, so the text is passed again when a column is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    /// The byte offset of the first byte of each line; the first entry is 0.
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let after_newline = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(offset, _)| offset + 1);
        Self {
            starts: std::iter::once(0).chain(after_newline).collect(),
        }
    }

    /// The line that holds a byte offset, from 1. An offset past the end is on the last line.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and column of a byte offset in `text`, which must be the text that was indexed.
    ///
    /// An offset past the end is taken as the end.
    #[must_use]
    pub fn place(&self, text: &[u8], offset: usize) -> Place {
        let offset = offset.min(text.len());
        let line = self.line(offset);
        let before = &text[self.starts[line - 1]..offset];
        // A lossy conversion would merge several invalid bytes into one character.
        let chars: usize = before
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum();
        Place {
            line,
            column: chars + 1,
        }
    }

    /// The byte offset at which a line begins; `None` past the last line.
    #[must_use]
    pub fn start_of_line(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }
}
