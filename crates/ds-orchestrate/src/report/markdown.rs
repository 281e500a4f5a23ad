//! A document as Markdown: tables without bars, and no curve.

use super::document::{Align, Block, Document, Table};

/// Renders a document as Markdown.
pub fn markdown(document: &Document) -> String {
    let blocks: Vec<String> = document.blocks().iter().filter_map(block).collect();
    blocks.join("\n")
}

/// One block with its line ends; `None` where Markdown shows nothing.
fn block(block: &Block) -> Option<String> {
    Some(match block {
        Block::Title(text) => format!("# {text}\n"),
        Block::Chapter(text) => format!("## {text}\n"),
        Block::Section(text) => format!("### {text}\n"),
        Block::Lead(text) | Block::Paragraph(text) => format!("{text}\n"),
        Block::Verdict { answer, rest } => format!("**{answer}**{rest}\n"),
        Block::Quote(text) => format!("> {text}\n"),
        Block::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("- **{name}** {value}\n"))
            .collect(),
        Block::Bullets(lines) => lines.iter().map(|line| format!("- {line}\n")).collect(),
        Block::Lines(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        Block::Table(table) => self::table(table),
        Block::Curve(_) => return None,
        Block::Diff(diff) => format!("```diff\n{diff}```\n"),
    })
}

fn table(table: &Table) -> String {
    let row = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rules: Vec<&str> = table
        .columns
        .iter()
        .map(|column| match column.align {
            Align::Left => "---",
            Align::Right => "--:",
        })
        .collect();
    let mut out = row(&mut table.columns.iter().map(|column| column.title.clone()));
    out.extend(["|", &rules.join("|"), "|\n"]);
    for cells in &table.rows {
        out.push_str(&row(&mut cells.iter().map(|cell| escape(cell))));
    }
    out
}

/// Cells must not end early or span lines.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
