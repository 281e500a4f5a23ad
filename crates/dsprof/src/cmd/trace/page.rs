//! A page of headings, lines and tables, for a terminal or as Markdown.

use crate::args::ReportFormat;
use crate::table::in_format;

/// A page that grows from top to bottom.
pub(super) struct Page {
    format: ReportFormat,
    text: String,
}

impl Page {
    pub(super) fn new(format: ReportFormat) -> Self {
        Self {
            format,
            text: String::new(),
        }
    }

    /// Begins a section.
    pub(super) fn heading(&mut self, heading: &str) {
        self.separate();
        self.text.push_str(if self.format == ReportFormat::Md {
            "## "
        } else {
            ""
        });
        self.line(heading);
        if self.format == ReportFormat::Md {
            self.text.push('\n');
        }
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds an item of a list.
    pub(super) fn item(&mut self, item: &str) {
        self.text.push_str("- ");
        self.line(item);
    }

    /// Adds a table; columns in `right` hold numbers.
    pub(super) fn table(&mut self, heading: &[&str], rows: &[Vec<String>], right: &[usize]) {
        self.text
            .push_str(&in_format(heading, rows, right, self.format));
    }

    /// Leaves a line free, unless the page is empty or one is free already.
    pub(super) fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
