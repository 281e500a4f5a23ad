//! A document for a terminal: tables and bars that fit its width.
//!
//! The same document and the same page give the same bytes. What the terminal is like is the caller's to find out; a
//! pipe gets [`Page::PIPED`].

mod ascii;
mod table;

use super::document::{Block, Document};

/// What the text is laid out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns of a line.
    pub width: u16,
    /// Which characters there are.
    pub glyphs: Glyphs,
    /// Whether colour supports what the words already say.
    pub colour: Colour,
}

/// Which characters there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// All of them.
    Unicode,
    /// Those of ASCII, for locales that are not UTF-8; bars and signs have their replacements.
    Ascii,
}

/// Whether colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// None.
    Plain,
    /// Bold headings and coloured bars, by the escape sequences that every terminal knows (ECMA-48).
    Ansi,
}

impl Page {
    /// The page of a pipe or a file: nothing of the terminal or the locale reaches it.
    pub const PIPED: Self = Self {
        width: 100,
        glyphs: Glyphs::Unicode,
        colour: Colour::Plain,
    };

    /// Narrower than this, tables have no room; such a terminal gets lines that it breaks itself.
    const NARROWEST: u16 = 60;

    fn width(&self) -> u16 {
        self.width.max(Self::NARROWEST)
    }

    fn bold(&self, text: &str) -> String {
        match self.colour {
            Colour::Plain => text.to_owned(),
            Colour::Ansi => format!("\x1b[1m{text}\x1b[0m"),
        }
    }
}

/// Renders a document as text.
pub fn text(document: &Document, page: Page) -> String {
    let blocks: Vec<String> = document
        .blocks()
        .iter()
        .filter_map(|shown| match shown {
            // Blanks at the end of a line are part of a change.
            Block::Diff(diff) => Some(diff.clone()),
            shown => block(shown, page).map(|text| trimmed(&text)),
        })
        .collect();
    let mut out = String::new();
    for block in blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&block);
    }
    out
}

fn block(block: &Block, page: Page) -> Option<String> {
    let said = |text: &str| match page.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => ascii::replaced(text),
    };
    Some(match block {
        Block::Title(text) => heading(&said(text), '═', '=', page),
        Block::Chapter(text) | Block::Section(text) => heading(&said(text), '─', '-', page),
        Block::Lead(text) => bold_lines(&table::wrapped(&said(text), page.width()), page),
        Block::Paragraph(text) => table::wrapped(&said(text), page.width()),
        Block::Verdict { answer, rest } => {
            let answer = said(answer);
            let shown = table::wrapped(&format!("{answer}{}", said(rest)), page.width());
            match shown.strip_prefix(&answer) {
                Some(rest) => page.bold(&answer) + rest,
                // The answer itself went on in a second line.
                None => shown,
            }
        }
        Block::Quote(text) => {
            let bar = match page.glyphs {
                Glyphs::Unicode => "│ ",
                Glyphs::Ascii => "| ",
            };
            table::wrapped(&said(text), page.width() - 2)
                .lines()
                .map(|line| format!("{bar}{line}\n"))
                .collect()
        }
        Block::Facts(facts) => {
            let rows: Vec<(String, String)> = facts
                .iter()
                .map(|(name, value)| (said(name), said(value)))
                .collect();
            table::beside(&rows, page.width())
        }
        Block::Bullets(lines) => {
            let rows: Vec<(String, String)> = lines
                .iter()
                .map(|line| ("-".to_owned(), said(line)))
                .collect();
            table::beside(&rows, page.width())
        }
        Block::Table(shown) => table::table(shown, page, &said),
        Block::Lines(lines) => lines.join("\n") + "\n",
        Block::Curve(_) => return None,
        Block::Diff(diff) => diff.clone(),
    })
}

/// The lines without the blanks that fill their columns.
fn trimmed(text: &str) -> String {
    text.lines()
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect()
}

fn heading(text: &str, line: char, ascii_line: char, page: Page) -> String {
    let line = match page.glyphs {
        Glyphs::Unicode => line,
        Glyphs::Ascii => ascii_line,
    };
    let shown = table::wrapped(text, page.width());
    let longest = shown.lines().map(|line| line.trim_end().chars().count());
    let rule: String = std::iter::repeat_n(line, longest.max().unwrap_or(0)).collect();
    bold_lines(&shown, page) + &rule + "\n"
}

fn bold_lines(text: &str, page: Page) -> String {
    text.lines()
        .map(|line| page.bold(line.trim_end()) + "\n")
        .collect()
}
