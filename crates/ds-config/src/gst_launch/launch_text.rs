//! A launch text whose characters know the bytes of the file they came from.

use std::ops::Range;

use super::edit::WordState;
use super::shell::{Glyph, Word};
use super::token::EXPANSION;
use crate::text_edit::Span;

/// A launch text whose characters know the bytes of the file they came from.
pub(super) struct LaunchText {
    pub(super) text: String,
    /// The character behind each byte of `text`.
    origin: Vec<Glyph>,
    /// The words of the command line; empty where the text is one string.
    words: Vec<Span>,
}

impl LaunchText {
    /// Joins the arguments as `gst_parse_launchv` does: blanks inside an argument are escaped
    /// unless they stand in double quotes.
    pub(super) fn from_words(words: &[Word]) -> Self {
        let mut out = Self::empty();
        for word in words {
            if let Some(first) = word.glyphs.first().filter(|_| !out.text.is_empty()) {
                out.push_synthetic(' ', first);
            }
            let mut in_quotes = false;
            let mut before = None;
            for glyph in &word.glyphs {
                if glyph.c == '"' && (!in_quotes || before != Some('\\')) {
                    in_quotes = !in_quotes;
                }
                if glyph.c == ' ' && !in_quotes && !glyph.expands {
                    out.push_synthetic('\\', glyph);
                }
                out.push(glyph);
                before = Some(glyph.c);
            }
            out.words.push(word.span);
        }
        out
    }

    /// Takes one string, as `gst_parse_launch` does.
    pub(super) fn from_string(glyphs: &[Glyph]) -> Self {
        let mut out = Self::empty();
        for glyph in glyphs {
            out.push(glyph);
        }
        out
    }

    fn empty() -> Self {
        Self {
            text: String::new(),
            origin: Vec::new(),
            words: Vec::new(),
        }
    }

    pub(super) fn word_state(&self) -> WordState {
        if self.words.is_empty() {
            WordState::OneString
        } else {
            WordState::Words
        }
    }

    fn push(&mut self, glyph: &Glyph) {
        let c = if glyph.expands { EXPANSION } else { glyph.c };
        self.text.push(c);
        self.origin.resize(self.text.len(), *glyph);
    }

    /// A character that stands in no file, before the one given.
    fn push_synthetic(&mut self, c: char, before: &Glyph) {
        self.text.push(c);
        let span = Span::at(before.span.start);
        self.origin
            .resize(self.text.len(), Glyph { c, span, ..*before });
    }

    /// The bytes of the file behind a part of the text.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        match self.origin.get(range.clone()) {
            Some([first, .., last]) => Span::new(first.span.start, last.span.end),
            Some([only]) => only.span,
            _ => Span::at(self.offset(range.start)),
        }
    }

    /// The offset in the file of a place in the text.
    pub(super) fn offset(&self, at: usize) -> usize {
        match (self.origin.get(at), self.origin.last()) {
            (Some(glyph), _) => glyph.span.start,
            (None, Some(last)) => last.span.end,
            (None, None) => 0,
        }
    }

    /// The glyphs of a part of the text, each once.
    pub(super) fn glyphs(&self, range: &Range<usize>) -> impl Iterator<Item = &Glyph> {
        let origin = &self.origin;
        self.text[range.clone()]
            .char_indices()
            .map(move |(offset, _)| &origin[range.start + offset])
    }

    /// A part of the text as the file has it, expansions included.
    pub(super) fn written(&self, range: &Range<usize>) -> String {
        self.glyphs(range).map(|glyph| glyph.c).collect()
    }

    /// A part of the text without the backslashes that escape.
    pub(super) fn unescaped(&self, range: &Range<usize>) -> String {
        let mut out = String::new();
        let mut escaped = false;
        for glyph in self.glyphs(range) {
            escaped = glyph.c == '\\' && !glyph.expands && !escaped;
            if !escaped {
                out.push(glyph.c);
            }
        }
        out
    }

    /// Widens a span to the whole words that it touches; words are in the order of the text.
    pub(super) fn whole_words(&self, span: Span) -> Span {
        let first = self.words.iter().rfind(|word| word.start <= span.start);
        let last = self.words.iter().find(|word| span.end <= word.end);
        Span::new(
            first.map_or(span.start, |word| word.start.min(span.start)),
            last.map_or(span.end, |word| word.end.max(span.end)),
        )
    }
}
