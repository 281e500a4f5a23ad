//! What a report says, before it is known how it is shown: headings, sentences, tables and one curve.
//!
//! The content is written once, in `content/`; Markdown, text and HTML are three ways of showing it.

/// A report as a list of blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    blocks: Vec<Block>,
}

/// One part of a document. Text between backticks is literal text, in every block.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The title of the whole.
    Title(String),
    /// The answer in one sentence.
    Lead(String),
    /// Something that a reader has to know before the numbers.
    Quote(String),
    /// The heading of a chapter.
    Chapter(String),
    /// The heading of a section.
    Section(String),
    /// A sentence or several.
    Paragraph(String),
    /// A sentence whose first words are the answer.
    Verdict {
        /// The answer.
        answer: String,
        /// How the sentence goes on.
        rest: String,
    },
    /// Names and what is known under them.
    Facts(Vec<(String, String)>),
    /// Short sentences.
    Bullets(Vec<String>),
    /// Lines as they are, for programs that read them.
    Lines(Vec<String>),
    /// Rows and columns.
    Table(Table),
    /// Rate over batch; only where curves can be drawn, everywhere else the table beside it has bars.
    Curve(Curve),
    /// Changes of files, as a unified diff.
    Diff(String),
}

/// Rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with one cell a column.
    pub rows: Vec<Vec<String>>,
    /// Bars beside the rows.
    pub bars: Option<Bars>,
    /// What happens to cells that are longer than the page is wide.
    pub long_cells: LongCells,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// On which side its cells stand.
    pub align: Align,
}

/// On which side cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One bar a row, where bars can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The index of the column in front of which they stand.
    pub before: usize,
    /// The share of the full length, from 0 to 1; `None` where nothing is known.
    pub shares: Vec<Option<f64>>,
}

/// What happens to cells that are longer than the page is wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongCells {
    /// They go on in the next line.
    Wrapped,
    /// They are cut, because their beginning tells enough.
    Cut,
}

/// Rate over batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The batches, ascending.
    pub points: Vec<CurvePoint>,
    /// The batch of the plateau.
    pub plateau: Option<u32>,
    /// The batch to configure.
    pub final_batch: Option<u32>,
}

/// A batch of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The batch.
    pub batch: u32,
    /// Its rate, or why there is none.
    pub rate: Result<CurveRate, String>,
}

/// A rate of the curve, in frames per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveRate {
    /// The mean.
    pub fps: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

impl Document {
    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Adds a block at the end.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds sentences, one a bullet; none adds nothing.
    pub fn bullets(&mut self, sentences: impl IntoIterator<Item = String>) {
        let sentences: Vec<String> = sentences.into_iter().collect();
        if !sentences.is_empty() {
            self.push(Block::Bullets(sentences));
        }
    }

    /// The document with the blocks of `other` behind its own.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }
}

impl FromIterator<Block> for Document {
    fn from_iter<T: IntoIterator<Item = Block>>(blocks: T) -> Self {
        Self {
            blocks: blocks.into_iter().collect(),
        }
    }
}

impl Table {
    /// A table without bars whose long cells are wrapped.
    pub fn new(columns: &[(&str, Align)], rows: Vec<Vec<String>>) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|(title, align)| Column {
                    title: (*title).to_owned(),
                    align: *align,
                })
                .collect(),
            rows,
            bars: None,
            long_cells: LongCells::Wrapped,
        }
    }

    /// With bars in front of the column `before`. Values are shares of `full`; a value above it fills the bar.
    #[must_use]
    pub fn with_bars(mut self, before: usize, values: &[Option<f64>], full: f64) -> Self {
        let share = |value: &Option<f64>| {
            let share = (*value)? / full;
            share.is_finite().then(|| share.clamp(0.0, 1.0))
        };
        self.bars = Some(Bars {
            before,
            shares: values.iter().map(share).collect(),
        });
        self
    }

    /// With long cells cut.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.long_cells = LongCells::Cut;
        self
    }
}
