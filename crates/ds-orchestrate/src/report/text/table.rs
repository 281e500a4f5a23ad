//! Tables, bars and wrapped lines.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table as Grid, TableStyle,
    presets,
};

use super::super::document::{Align, Bars, LongCells, Table};
use super::{Colour, Glyphs, Page};

/// A bar is no longer than this: beyond it a reader sees no more.
const LONGEST_BAR: u16 = 40;

/// A bar is no shorter than this: below it a reader sees nothing.
const SHORTEST_BAR: u16 = 8;

/// Columns between the cells of a table.
const GAP: u16 = 2;

/// A table that fits the page; cells pass through `said`. Where there is too little room, long cells are cut, or what the
/// last columns hold goes on below each row.
pub(super) fn table(table: &Table, page: Page, said: &dyn Fn(&str) -> String) -> String {
    let mut cells = Cells::of(table, said);
    let room_for_bars = |cells: &Cells| match &table.bars {
        Some(_) => SHORTEST_BAR + GAP,
        None => 0,
    } + cells.width();
    let mut below: Vec<Vec<String>> = vec![Vec::new(); cells.rows.len()];
    if table.long_cells == LongCells::Wrapped {
        let fewest = table.bars.as_ref().map_or(2, |bars| bars.before.max(1) + 1);
        while room_for_bars(&cells) > page.width() && cells.heading.len() > fewest {
            for (row, below) in cells.pop_column().into_iter().zip(&mut below) {
                below.insert(0, row);
            }
        }
    }
    if let Some(bars) = &table.bars {
        let room = page.width().saturating_sub(cells.width() + GAP);
        cells.insert_bars(bars, room.clamp(SHORTEST_BAR, LONGEST_BAR), page.glyphs);
    }
    let mut grid = cells.grid(page.glyphs);
    let is_too_wide = width_of(&grid) > page.width();
    if is_too_wide {
        grid.set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(page.width());
        if table.long_cells == LongCells::Cut {
            // No cell holds a line end, so that cells are cut where the room ends and not behind a word.
            grid.set_delimiter('\n');
            grid.set_truncation_indicator(match page.glyphs {
                Glyphs::Unicode => "…",
                Glyphs::Ascii => "...",
            });
            for row in grid.row_iter_mut() {
                row.max_height(1);
            }
        }
    }
    let shown = painted(&grid.to_string(), page.colour);
    if below.iter().all(Vec::is_empty) || is_too_wide {
        return with_rows_below(&shown, &[], page.width());
    }
    with_rows_below(&shown, &below, page.width())
}

/// What a table shows: its cells as they are printed.
struct Cells {
    heading: Vec<String>,
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Cells {
    fn of(table: &Table, said: &dyn Fn(&str) -> String) -> Self {
        Self {
            heading: table.columns.iter().map(|c| said(&c.title)).collect(),
            aligns: table.columns.iter().map(|c| c.align).collect(),
            rows: table
                .rows
                .iter()
                .map(|row| row.iter().map(|cell| said(&one_line(cell))).collect())
                .collect(),
        }
    }

    /// Takes the last column away and gives its cells.
    fn pop_column(&mut self) -> Vec<String> {
        self.heading.pop();
        self.aligns.pop();
        self.rows
            .iter_mut()
            .map(|row| row.pop().unwrap_or_default())
            .collect()
    }

    fn insert_bars(&mut self, bars: &Bars, length: u16, glyphs: Glyphs) {
        self.heading.insert(bars.before, String::new());
        self.aligns.insert(bars.before, Align::Left);
        let shares = bars.shares.iter().copied().chain(std::iter::repeat(None));
        for (row, share) in self.rows.iter_mut().zip(shares) {
            let bar = share.map_or_else(String::new, |share| bar(share, length, glyphs));
            row.insert(bars.before, bar);
        }
    }

    fn width(&self) -> u16 {
        width_of(&self.grid(Glyphs::Ascii))
    }

    fn grid(&self, glyphs: Glyphs) -> Grid {
        let line = match glyphs {
            Glyphs::Unicode => '─',
            Glyphs::Ascii => '-',
        };
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new().header_separator(LineStyle::none().fill(line)))
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(&self.heading);
        for row in &self.rows {
            grid.add_row(Row::from(row));
        }
        let last = self.aligns.len().saturating_sub(1);
        for (index, align) in self.aligns.iter().enumerate() {
            if let Some(column) = grid.column_mut(index) {
                column.set_padding((0, if index == last { 0 } else { GAP }));
                column.set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        grid
    }
}

/// The lines of a table whose rows take a line each, with what else belongs to a row below it.
fn with_rows_below(shown: &str, below: &[Vec<String>], width: u16) -> String {
    const INDENT: &str = "    ";
    /// The heading, and the line under it.
    const ABOVE: usize = 2;
    let mut out = String::new();
    for (index, line) in shown.lines().enumerate() {
        out.push_str(line);
        out.push('\n');
        let cells = index.checked_sub(ABOVE).and_then(|row| below.get(row));
        for cell in cells.into_iter().flatten().filter(|cell| !cell.is_empty()) {
            for line in wrapped(cell, width - 4).lines() {
                out.extend([INDENT, line, "\n"]);
            }
        }
    }
    out
}

/// Text in lines no longer than `width`.
pub(super) fn wrapped(text: &str, width: u16) -> String {
    let mut grid = bare(width);
    grid.add_row([one_line(text)]);
    unpad(&mut grid);
    grid.to_string() + "\n"
}

/// Names with their texts beside them, all texts beginning in one column.
pub(super) fn beside(rows: &[(String, String)], width: u16) -> String {
    let mut grid = bare(width);
    for (name, text) in rows {
        grid.add_row([one_line(name), one_line(text)]);
    }
    unpad(&mut grid);
    let longest = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    if let Some(column) = grid.column_mut(0) {
        // A bullet stands closer to its sentence than a name to its text.
        column.set_padding((0, if longest > 1 { GAP } else { 1 }));
        // Names are never broken to leave their texts more room.
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    grid.to_string() + "\n"
}

fn bare(width: u16) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    grid
}

fn unpad(grid: &mut Grid) {
    for column in grid.column_iter_mut() {
        column.set_padding((0, 0));
    }
}

fn width_of(grid: &Grid) -> u16 {
    grid.column_iter()
        .zip(grid.column_max_content_widths())
        .map(|(column, content)| content.saturating_add(column.padding_width()))
        .fold(0, u16::saturating_add)
}

/// The bar of a share, to an eighth of a column. A share above 0 is never invisible.
fn bar(share: f64, length: u16, glyphs: Glyphs) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most 1 of at most 40 columns"
    )]
    let in_parts = |parts: f64| (share * f64::from(length) * parts).round() as usize;
    match glyphs {
        Glyphs::Unicode => {
            let eighths = in_parts(8.0).max(usize::from(share > 0.0));
            "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
        }
        Glyphs::Ascii => "#".repeat(in_parts(1.0).max(usize::from(share > 0.0))),
    }
}

/// Bars in colour, after everything has its place: escape sequences take no room on a terminal.
fn painted(text: &str, colour: Colour) -> String {
    let is_bar = |c: char| matches!(c, '█'..='▏');
    if colour == Colour::Plain {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        if is_bar(c) != inside {
            out.push_str(if inside { "\x1b[0m" } else { "\x1b[36m" });
            inside = !inside;
        }
        out.push(c);
    }
    if inside {
        out.push_str("\x1b[0m");
    }
    out
}

/// Cells and paragraphs are one line each before they are wrapped.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_exact_to_an_eighth() {
        // 0.5 of 10 columns is 5; 0.33 of 10 is 3.3, that is 3 columns and 2.4 eighths, printed as 2.
        assert_eq!(bar(0.5, 10, Glyphs::Unicode), "█████");
        assert_eq!(bar(0.33, 10, Glyphs::Unicode), "███▎");
        assert_eq!(bar(1.0, 10, Glyphs::Unicode), "██████████");
        assert_eq!(bar(0.0, 10, Glyphs::Unicode), "");
        assert_eq!(bar(0.0001, 10, Glyphs::Unicode), "▏");
        assert_eq!(bar(0.33, 10, Glyphs::Ascii), "###");
        assert_eq!(bar(0.0001, 10, Glyphs::Ascii), "#");
    }

    #[test]
    fn colour_takes_no_room() {
        assert_eq!(painted("a ██▌ b", Colour::Ansi), "a \x1b[36m██▌\x1b[0m b");
        assert_eq!(painted("a ██▌ b", Colour::Plain), "a ██▌ b");
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        let long = "a word ".repeat(60);
        for width in [60, 80, 100] {
            let page = Page {
                width,
                ..Page::PIPED
            };
            let shown = Table::new(
                &[("Name", Align::Left), ("Why", Align::Left)],
                vec![vec![long.clone(), long.clone()]],
            )
            .with_bars(1, &[Some(1.0)], 2.0);
            for text in [
                table(&shown, page, &str::to_owned),
                table(&shown.clone().cut(), page, &str::to_owned),
                wrapped(&long, width),
                beside(&[("Name".to_owned(), long.clone())], width),
            ] {
                for line in text.lines() {
                    assert!(line.chars().count() <= usize::from(width), "{line}");
                }
            }
        }
    }
}
