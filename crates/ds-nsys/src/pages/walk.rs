//! A pass over leaves.

use super::record::{Decoder, Layout, Record, Source, Unread};
use super::tree::LEAF;
use super::{Fault, Pages, be_u16, be_u32, varint};

/// The header of a leaf.
const LEAF_HEADER: usize = 8;

/// How many bytes are asked of the operating system at once: many pages a call, and few enough for the processor's cache.
const RUN_BYTES: usize = 128 << 10;

/// Leaves of one table follow each other in the file but for an inner page here and there, which is read along.
const GAP: u32 = 4;

/// Calls `step` for every row of the leaves, in their order.
pub(crate) fn for_each_record<E>(
    pages: &Pages<'_>,
    leaves: &[u32],
    layout: &Layout,
    failed: impl Fn(Fault) -> E,
    mut step: impl FnMut(&Record<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let run_pages = (RUN_BYTES / pages.size).max(1);
    let mut buffer = vec![0; run_pages * pages.size];
    let mut pass = Pass {
        pages,
        decoder: Decoder::new(layout),
        leaf: 0,
        last: None,
        long: Vec::new(),
    };
    let may_be_empty = leaves.len() == 1;
    let mut rest = leaves;
    while let Some(first) = rest.first().copied() {
        let (run, later) = rest.split_at(run_len(rest, run_pages));
        rest = later;
        let span = run.last().map_or(0, |last| last - first) as usize + 1;
        let run_bytes = &mut buffer[..span * pages.size];
        pages.read(first, run_bytes).map_err(&failed)?;
        for number in run {
            let from = (number - first) as usize * pages.size;
            let page = &run_bytes[from..from + pages.size];
            if be_u16(page, 3) == 0 && !may_be_empty {
                let problem = "is empty";
                return Err(failed(Fault::Page {
                    number: *number,
                    problem,
                }));
            }
            pass.leaf(*number, page, &failed, &mut step)?;
            pass.leaf += 1;
        }
    }
    Ok(())
}

/// How many of the leaves can be read in one go.
fn run_len(leaves: &[u32], most: usize) -> usize {
    let mut last = leaves[0];
    1 + leaves[1..]
        .iter()
        .take_while(|next| {
            let follows = **next > last && **next - last <= GAP;
            last = **next;
            follows && ((**next - leaves[0]) as usize) < most
        })
        .count()
}

/// What a pass keeps from row to row.
struct Pass<'p, 'l> {
    pages: &'p Pages<'p>,
    decoder: Decoder<'l>,
    /// How many leaves were read.
    leaf: usize,
    /// The row id of the row before.
    last: Option<i64>,
    /// A record that spreads over several pages.
    long: Vec<u8>,
}

/// A row as it lies on its page.
struct Cell<'b> {
    row_id: i64,
    /// How long the record is.
    len: usize,
    /// The page from the record on.
    bytes: &'b [u8],
    /// How much of the record lies on the page.
    local: usize,
}

impl Pass<'_, '_> {
    fn leaf<E>(
        &mut self,
        number: u32,
        page: &[u8],
        failed: &impl Fn(Fault) -> E,
        step: &mut impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let damaged = |problem| failed(Fault::Page { number, problem });
        if page[0] != LEAF {
            return Err(damaged("is no leaf of a table"));
        }
        let count = usize::from(be_u16(page, 3));
        let pointers_end = LEAF_HEADER + 2 * count;
        // A row takes four bytes at least, and its pointer two.
        if count > (page.len() - LEAF_HEADER) / 6 {
            return Err(damaged("has an impossible number of rows"));
        }
        for pointer in page[LEAF_HEADER..pointers_end].chunks_exact(2) {
            let at = usize::from(be_u16(pointer, 0));
            if at < pointers_end {
                return Err(damaged("has a row within its header"));
            }
            let cell = self.cell(page, at).map_err(damaged)?;
            if self.last.is_some_and(|last| cell.row_id <= last) {
                return Err(damaged("has row ids out of order"));
            }
            self.last = Some(cell.row_id);
            let source = Source {
                leaf: self.leaf,
                row_id: cell.row_id,
                len: cell.len,
                bytes: cell.bytes,
                at_hand: cell.local,
            };
            match self.decoder.decode(&source) {
                Ok(record) => step(&record)?,
                Err(Unread::Damaged(problem)) => return Err(damaged(problem)),
                Err(Unread::More) => {
                    let chain = gathered(self.pages, number, &cell, &mut self.long);
                    chain.map_err(failed)?;
                    let source = Source {
                        bytes: &self.long,
                        at_hand: self.long.len(),
                        ..source
                    };
                    match self.decoder.decode(&source) {
                        Ok(record) => step(&record)?,
                        Err(Unread::Damaged(problem)) => return Err(damaged(problem)),
                        Err(Unread::More) => return Err(damaged("has a row that breaks off")),
                    }
                }
            }
        }
        Ok(())
    }

    /// The row at a place of a page.
    #[inline]
    fn cell<'b>(&self, page: &'b [u8], at: usize) -> Result<Cell<'b>, &'static str> {
        const BEYOND: &str = "has a row that reaches beyond its end";
        let (len, len_len) = page.get(at..).and_then(varint).ok_or(BEYOND)?;
        let (row_id, id_len) = page.get(at + len_len..).and_then(varint).ok_or(BEYOND)?;
        let bytes = &page[at + len_len + id_len..];
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let local = local_len(len, page.len());
        // The number of the first overflow page stands behind what lies on the page.
        let taken = if local < len { local + 4 } else { local };
        if taken > bytes.len() {
            return Err(BEYOND);
        }
        Ok(Cell {
            row_id: row_id.cast_signed(),
            len,
            bytes,
            local,
        })
    }
}

/// How much of a record of `len` bytes lies on its leaf, by the rule of the format: a leaf holds four rows at least.
#[inline]
fn local_len(len: usize, page_size: usize) -> usize {
    let most = page_size - 35;
    if len <= most {
        return len;
    }
    let least = (page_size - 12) * 32 / 255 - 23;
    let fitting = least + (len - least) % (page_size - 4);
    if fitting <= most { fitting } else { least }
}

/// Puts a record together out of its leaf and its chain of overflow pages.
fn gathered(
    pages: &Pages<'_>,
    leaf: u32,
    cell: &Cell<'_>,
    long: &mut Vec<u8>,
) -> Result<(), Fault> {
    let fault = |problem| Fault::Page {
        number: leaf,
        problem,
    };
    // A record is not longer than the file; the chain of a longer one would have to go in circles.
    if cell.len > pages.count as usize * pages.size {
        return Err(fault("has a row that is longer than the file"));
    }
    long.clear();
    long.extend_from_slice(&cell.bytes[..cell.local]);
    if cell.local == cell.len {
        return Ok(());
    }
    let mut next = be_u32(cell.bytes, cell.local);
    let mut page = vec![0; pages.size];
    while long.len() < cell.len {
        pages.read(next, &mut page)?;
        next = be_u32(&page, 0);
        let missing = (cell.len - long.len()).min(pages.size - 4);
        long.extend_from_slice(&page[4..4 + missing]);
    }
    Ok(())
}
