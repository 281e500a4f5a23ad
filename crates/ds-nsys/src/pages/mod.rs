//! Tables read straight from the pages of the database file.
//!
//! SQLite's virtual machine spends most of the time of a pass on itself: 50 ns a row that only counts. Exports are written
//! once, by one program, in one plain form, so their event tables can be read as they lie. Whatever is not of that form
//! goes through SQLite as before, which also opens the file, checks it, holds the lock and answers every question that is
//! no pass over a table.
//!
//! # The format
//!
//! As <https://www.sqlite.org/fileformat2.html> has it, as far as a pass needs it:
//!
//! - The file is a row of pages of one size, counted from 1. The first 100 bytes are the file's header.
//! - A table is a tree of pages by row id. An inner page (kind 5) holds, for each child but the last, the child's page
//!   and the largest row id in it, and the last child in its own header. A leaf (kind 13) holds rows.
//! - After its header (8 bytes on a leaf, 12 on an inner page) a page lists where each of its cells begins, in the order of
//!   the row ids; the cells themselves lie in any order.
//! - A row's cell is the length of the record, the row id, and the record. What does not fit lies in a chain of overflow
//!   pages, each of which begins with the number of the next.
//! - A record is the length of its head, then one code a column for type and length, then the values in the same order.
//!   Codes 1 to 6 are integers of 1, 2, 3, 4, 6 and 8 bytes; 8 and 9 the integers 0 and 1; 0 is NULL, 7 a float; from 12 on
//!   an even code is a blob and an odd one a text. A record that ends early lacks columns that were added later.
//! - Lengths, row ids and codes are varints: seven bits a byte, the highest first, and a ninth byte with all eight.
//!
//! # What is checked
//!
//! Everything that SQLite checks when it reads the same rows, and two things that it does not: row ids ascend over the
//! whole table, and no leaf is visited twice. So a damaged page that leads into another table ends the pass. Damage is an
//! error, never a reason to read on.

mod record;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub(crate) use record::{Layout, Place, Record};
pub(crate) use walk::for_each_record;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// The length of the file's header.
const HEADER_LEN: usize = 100;

/// A page must not be smaller or larger than this.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// Why a pass ends early.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The operating system refused to read.
    Read(io::Error),
    /// A page is not what the format demands.
    Page {
        /// Its number, counted from 1.
        number: u32,
        /// A fragment that says what it does.
        problem: &'static str,
    },
}

/// The pages of a database of the plain form.
#[derive(Debug)]
pub(crate) struct Pages<'f> {
    file: &'f File,
    size: usize,
    count: u32,
    /// Changes with every change of a table's shape.
    schema_cookie: u32,
}

impl<'f> Pages<'f> {
    /// The pages; `None` where the file is not of the plain form.
    ///
    /// That form is UTF-8 text, a rollback journal in place of a write-ahead log, which could hold newer pages, and no
    /// bytes kept free at the end of pages for extensions such as encryption.
    pub(crate) fn of(file: &'f File) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER_LEN];
        let len = file.metadata()?.len();
        if len < HEADER_LEN as u64 {
            return Ok(None);
        }
        file.read_exact_at(&mut header, 0)?;
        let size = match be_u16(&header, 16) {
            // The value 1 stands for 65,536, which 16 bits cannot hold.
            1 => 65_536,
            size => usize::from(size),
        };
        let is_plain = PAGE_SIZES.contains(&size)
            && size.is_power_of_two()
            && header.starts_with(b"SQLite format 3\0")
            // Versions of the journal for writing and reading: 2 is a write-ahead log.
            && header[18..20] == [1, 1]
            // No bytes kept free, and the fractions of a page that a cell may fill, which are fixed.
            && header[20..24] == [0, 64, 32, 32]
            && (1..=4).contains(&be_u32(&header, 44))
            && be_u32(&header, 56) == 1;
        let count = u32::try_from(len / size.max(1) as u64);
        let (true, Ok(mut count)) = (is_plain, count) else {
            return Ok(None);
        };
        // The count in the header is valid when the last writer knew of it.
        if header[24..28] == header[92..96] && be_u32(&header, 28) > 0 {
            count = count.min(be_u32(&header, 28));
        }
        Ok(Some(Self {
            file,
            size,
            count,
            schema_cookie: be_u32(&header, 40),
        }))
    }

    /// A number that differs when the tables are not those that were looked at before.
    pub(crate) fn schema_cookie(&self) -> u32 {
        self.schema_cookie
    }

    /// The leaves of the table whose tree begins at `root`, in the order of their rows.
    pub(crate) fn leaves(&self, root: u32) -> Result<Vec<u32>, Fault> {
        tree::leaves(self, root)
    }

    /// Fills `buffer`, as long as some whole pages, from page `first` on.
    fn read(&self, first: u32, buffer: &mut [u8]) -> Result<(), Fault> {
        let pages = buffer.len() / self.size;
        let is_inside = first > 0 && u64::from(first) - 1 + pages as u64 <= u64::from(self.count);
        if !is_inside {
            return Err(Fault::Page {
                number: first,
                problem: "is not in the file",
            });
        }
        let from = (u64::from(first) - 1) * self.size as u64;
        self.file.read_exact_at(buffer, from).map_err(Fault::Read)
    }
}

/// Two bytes, the high one first; the caller knows that they are there.
fn be_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Four bytes, the highest first; the caller knows that they are there.
fn be_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A varint at the start of `bytes` and its length; `None` where the bytes end before it does.
#[inline]
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    let mut value = u64::from(first & 0x7F);
    for at in 1..8 {
        let byte = *bytes.get(at)?;
        value = value << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            return Some((value, at + 1));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(8)?), 9))
}

#[cfg(test)]
mod varints {
    use super::varint;

    #[test]
    fn a_varint_has_one_to_nine_bytes() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7F], 127),
            (&[0x81, 0x00], 128),
            (&[0xFF, 0x7F], 16_383),
            (&[0x81, 0x80, 0x00], 16_384),
            (&[0xFF; 9], u64::MAX),
            // The ninth byte counts with all its bits.
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], 128),
        ] {
            assert_eq!(varint(bytes), Some((value, bytes.len())), "{bytes:02X?}");
            assert_eq!(varint(&bytes[..bytes.len() - 1]), None, "{bytes:02X?} cut");
        }
    }
}
