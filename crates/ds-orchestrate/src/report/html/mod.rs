//! A document as one HTML file: style and drawings inside it, no script, nothing from a network.

mod chart;

use std::fmt::Write as _;

use super::document::{Align, Block, Document, LongCells, Table};

/// The style sheet: light and dark as the reader's system says, and for paper.
const STYLE: &str = include_str!("style.css");

/// Renders a document as one HTML file.
pub fn html(document: &Document) -> String {
    let title = document
        .blocks()
        .iter()
        .find_map(|block| match block {
            Block::Title(text) => Some(text.as_str()),
            _ => None,
        })
        .unwrap_or("dsprof");
    let body: String = document.blocks().iter().map(block).collect();
    // The policy holds the page to its word: nothing is loaded and no script runs.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"dsprof {}\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n<footer>dsprof {0}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        escape(title),
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("<h1>{}</h1>\n", inline(text)),
        Block::Chapter(text) => format!("<h2>{}</h2>\n", inline(text)),
        Block::Section(text) => format!("<h3>{}</h3>\n", inline(text)),
        Block::Lead(text) => format!("<p class=\"lead\">{}</p>\n", inline(text)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", inline(text)),
        Block::Verdict { answer, rest } => format!(
            "<p class=\"verdict\"><strong>{}</strong>{}</p>\n",
            inline(answer),
            inline(rest)
        ),
        Block::Quote(text) => format!("<blockquote>{}</blockquote>\n", inline(text)),
        Block::Facts(facts) => {
            let rows: String = facts
                .iter()
                .map(|(name, value)| {
                    format!("<dt>{}</dt><dd>{}</dd>\n", inline(name), inline(value))
                })
                .collect();
            format!("<dl>\n{rows}</dl>\n")
        }
        Block::Bullets(lines) | Block::Lines(lines) => {
            let rows: String = lines
                .iter()
                .map(|line| format!("<li>{}</li>\n", inline(line)))
                .collect();
            format!("<ul>\n{rows}</ul>\n")
        }
        Block::Table(table) => self::table(table),
        Block::Curve(curve) => chart::curve(curve),
        Block::Diff(diff) => self::diff(diff),
    }
}

fn table(table: &Table) -> String {
    let bars_at = table.bars.as_ref().map(|bars| bars.before);
    let mut out = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    for (index, column) in table.columns.iter().enumerate() {
        if bars_at == Some(index) {
            out.push_str("<th></th>");
        }
        let _ = write!(
            out,
            "<th{}>{}</th>",
            class(column.align, table.long_cells),
            inline(&column.title)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (at, row) in table.rows.iter().enumerate() {
        out.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            if let Some(bars) = &table.bars
                && bars.before == index
            {
                let share = bars.shares.get(at).copied().flatten();
                let _ = write!(out, "<td class=\"bar\">{}</td>", bar(share));
            }
            let align = table
                .columns
                .get(index)
                .map_or(Align::Left, |column| column.align);
            let _ = write!(
                out,
                "<td{}>{}</td>",
                class(align, table.long_cells),
                inline(cell)
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn class(align: Align, long_cells: LongCells) -> &'static str {
    match (align, long_cells) {
        (Align::Right, _) => " class=\"number\"",
        (Align::Left, LongCells::Cut) => " class=\"cut\"",
        (Align::Left, LongCells::Wrapped) => "",
    }
}

/// A drawing, because browsers leave out backgrounds on paper.
fn bar(share: Option<f64>) -> String {
    let Some(share) = share else {
        return String::new();
    };
    format!(
        "<svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"track\" width=\"100\" height=\"10\"/><rect class=\"fill\" width=\"{:.2}\" height=\"10\"/></svg>",
        share * 100.0
    )
}

fn diff(diff: &str) -> String {
    let lines: String = diff
        .lines()
        .map(|line| {
            let kind = match line.as_bytes().first() {
                _ if line.starts_with("+++") || line.starts_with("---") => "file",
                Some(b'+') => "added",
                Some(b'-') => "removed",
                Some(b'@') => "place",
                _ => "same",
            };
            format!("<span class=\"{kind}\">{}</span>", escape(line))
        })
        .collect();
    format!("<pre class=\"diff\">{lines}</pre>\n")
}

/// Text with what stands between backticks set as literal text.
fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split('`');
    out.push_str(&escape(parts.next().unwrap_or_default()));
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(after) => {
                let _ = write!(out, "<code>{}</code>{}", escape(code), escape(after));
            }
            // A backtick without its partner is one.
            None => {
                let _ = write!(out, "`{}", escape(code));
            }
        }
    }
    out
}

/// Text that cannot end an element or an attribute.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters have no place in HTML; a program's output may hold them.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escape, inline};

    #[test]
    fn nothing_of_the_text_is_markup() {
        assert_eq!(
            escape("<a href=\"x\" on='y'>&\u{1b}"),
            "&lt;a href=&quot;x&quot; on=&#39;y&#39;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn literals_stand_between_backticks() {
        assert_eq!(
            inline("set `<b>` and `c` to 1"),
            "set <code>&lt;b&gt;</code> and <code>c</code> to 1"
        );
        assert_eq!(inline("a ` alone"), "a ` alone");
        assert_eq!(inline("`a` and ` alone"), "<code>a</code> and ` alone");
    }
}
