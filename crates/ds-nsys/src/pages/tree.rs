//! From a table's root to its leaves.

use super::{Fault, Pages, be_u16, be_u32, varint};

/// The kinds of pages that a table has.
const INNER: u8 = 5;
pub(super) const LEAF: u8 = 13;

/// The header of an inner page.
const INNER_HEADER: usize = 12;

/// SQLite gives up on deeper trees: even with two children a page no file is that large.
const MAX_DEPTH: usize = 20;

/// The leaves in the order of their rows.
///
/// All leaves lie equally deep, so the tree is read level by level, and the first page of a level tells what its pages are.
/// The others have to be the same, which is checked when they are read: inner pages here, leaves by the pass.
pub(super) fn leaves(pages: &Pages<'_>, root: u32) -> Result<Vec<u32>, Fault> {
    let mut page = vec![0; pages.size];
    let mut level = vec![root];
    for _ in 0..MAX_DEPTH {
        pages.read(level[0], &mut page)?;
        if page[0] == LEAF {
            return Ok(level);
        }
        let mut below = Vec::new();
        let mut last = None;
        for number in level {
            let fault = |problem| Fault::Page { number, problem };
            pages.read(number, &mut page)?;
            children(&page, &mut last, &mut below).map_err(fault)?;
            if below.len() > pages.count as usize {
                return Err(fault("is visited twice"));
            }
        }
        level = below;
    }
    Err(Fault::Page {
        number: root,
        problem: "begins a tree that is too deep",
    })
}

/// Appends the children of an inner page; `last` is the largest row id that the pages before promise.
fn children(page: &[u8], last: &mut Option<i64>, below: &mut Vec<u32>) -> Result<(), &'static str> {
    if page[0] != INNER {
        return Err("is no inner page of a table");
    }
    let count = usize::from(be_u16(page, 3));
    let pointers = page.get(INNER_HEADER..INNER_HEADER + 2 * count);
    let pointers = pointers.filter(|pointers| !pointers.is_empty());
    for pointer in pointers
        .ok_or("has an impossible number of cells")?
        .chunks_exact(2)
    {
        let cell = page.get(usize::from(be_u16(pointer, 0))..);
        let cell = cell.filter(|cell| cell.len() > 4);
        let cell = cell.ok_or("has a cell beyond its end")?;
        let (key, _) = varint(&cell[4..]).ok_or("has a cell that reaches beyond its end")?;
        let key = key.cast_signed();
        if last.is_some_and(|last| key <= last) {
            return Err("has row ids out of order");
        }
        *last = Some(key);
        below.push(be_u32(cell, 0));
    }
    below.push(be_u32(page, 8));
    Ok(())
}
