//! The values of one row.

use rusqlite::types::ValueRef;

use super::varint;

/// Where a wanted column is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: it reads as NULL.
    Absent,
    /// It is the row id.
    RowId,
    /// In the record, at this position among the table's columns.
    Stored(usize),
}

/// Which columns of a table a pass reads.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// In the order in which the pass asks for them.
    places: Vec<Place>,
    /// How many columns from the first on have to be looked at.
    reach: usize,
}

impl Layout {
    pub(crate) fn new(places: Vec<Place>) -> Self {
        let reach = places
            .iter()
            .map(|place| match place {
                Place::Stored(at) => at + 1,
                Place::Absent | Place::RowId => 0,
            })
            .max();
        Self {
            places,
            reach: reach.unwrap_or_default(),
        }
    }
}

/// The code of a value and where it begins in the record.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    code: u64,
    at: usize,
}

/// The current row of a pass.
#[derive(Debug)]
pub(crate) struct Record<'b> {
    leaf: usize,
    row_id: i64,
    places: &'b [Place],
    values: &'b [Value],
    /// The record, and behind it whatever follows on its page.
    bytes: &'b [u8],
}

impl<'b> Record<'b> {
    /// The position of its leaf in the pass.
    pub(crate) fn leaf(&self) -> usize {
        self.leaf
    }

    /// The value of a column, by its position among those that the pass asked for.
    #[inline]
    pub(crate) fn value(&self, at: usize) -> ValueRef<'b> {
        match self.places.get(at) {
            Some(Place::Stored(at)) => self.values[*at].read(self.bytes),
            Some(Place::RowId) => ValueRef::Integer(self.row_id),
            Some(Place::Absent) | None => ValueRef::Null,
        }
    }
}

/// Finds the values of one record after the other.
#[derive(Debug)]
pub(super) struct Decoder<'l> {
    layout: &'l Layout,
    values: Vec<Value>,
}

/// What a record is read from.
pub(super) struct Source<'b> {
    /// The position of its leaf in the pass.
    pub(super) leaf: usize,
    pub(super) row_id: i64,
    /// How long the record is, wherever it lies.
    pub(super) len: usize,
    /// The record, as far as it is at hand, and possibly more.
    pub(super) bytes: &'b [u8],
    /// How many of those bytes belong to the record.
    pub(super) at_hand: usize,
}

/// Why there is no row.
pub(super) enum Unread {
    /// A wanted value lies beyond what is at hand.
    More,
    /// The record is not what the format demands.
    Damaged(&'static str),
}

impl<'l> Decoder<'l> {
    pub(super) fn new(layout: &'l Layout) -> Self {
        Self {
            layout,
            values: vec![Value::default(); layout.reach],
        }
    }

    /// Reads the head of a record.
    #[inline]
    pub(super) fn decode<'b>(&'b mut self, source: &Source<'b>) -> Result<Record<'b>, Unread> {
        let record = &source.bytes[..source.at_hand];
        let (head, first) = varint(record).ok_or(Unread::Damaged("has a row without a head"))?;
        let head = usize::try_from(head).unwrap_or(usize::MAX);
        if head > source.len || head < first {
            return Err(Unread::Damaged(
                "has a row whose head is longer than the row",
            ));
        }
        let Some(codes) = record.get(..head) else {
            return Err(Unread::More);
        };
        let (mut code_at, mut at) = (first, head);
        for value in &mut self.values {
            let code = match codes.get(code_at) {
                // Columns that were added to the table later.
                None => 0,
                Some(code) if *code < 0x80 => {
                    code_at += 1;
                    u64::from(*code)
                }
                Some(_) => {
                    let (code, len) = varint(&codes[code_at..])
                        .ok_or(Unread::Damaged("has a row whose head breaks off"))?;
                    code_at += len;
                    code
                }
            };
            *value = Value { code, at };
            at = at.saturating_add(length(code));
        }
        let is_whole = code_at == head;
        if at > source.len || (is_whole && at != source.len) {
            return Err(Unread::Damaged(
                "has a row whose head does not fit its length",
            ));
        }
        if at > source.at_hand {
            return Err(Unread::More);
        }
        Ok(Record {
            leaf: source.leaf,
            row_id: source.row_id,
            places: &self.layout.places,
            values: &self.values,
            bytes: source.bytes,
        })
    }
}

/// How many bytes each code below 12 stands for. Codes 10 and 11 are reserved and in no file: no record is that long.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, usize::MAX, usize::MAX];

#[inline]
fn length(code: u64) -> usize {
    match usize::try_from(code) {
        Ok(code) if code < 12 => LENGTHS[code],
        Ok(code) => (code - 12) / 2,
        Err(_) => usize::MAX,
    }
}

impl Value {
    #[inline]
    fn read<'b>(self, bytes: &'b [u8]) -> ValueRef<'b> {
        match self.code {
            0 => ValueRef::Null,
            8 => ValueRef::Integer(0),
            9 => ValueRef::Integer(1),
            1..=6 => ValueRef::Integer(integer(&bytes[self.at..], length(self.code))),
            7 => {
                let float = f64::from_bits(integer(&bytes[self.at..], 8).cast_unsigned());
                // SQLite has no NaN: it reads as NULL.
                if float.is_nan() {
                    ValueRef::Null
                } else {
                    ValueRef::Real(float)
                }
            }
            code => {
                let bytes = &bytes[self.at..self.at + length(code)];
                if code % 2 == 0 {
                    ValueRef::Blob(bytes)
                } else {
                    ValueRef::Text(bytes)
                }
            }
        }
    }
}

/// A signed integer of `len` bytes, the highest first.
#[inline]
fn integer(bytes: &[u8], len: usize) -> i64 {
    // Eight bytes are read at once where the page goes on, which it does for all but its last values.
    if let Some(eight) = bytes.first_chunk::<8>() {
        return i64::from_be_bytes(*eight) >> (64 - 8 * len);
    }
    let (sign, rest) = bytes[..len]
        .split_first()
        .map_or((0, &[][..]), |(first, rest)| {
            (i64::from(first.cast_signed()), rest)
        });
    rest.iter()
        .fold(sign, |value, byte| value << 8 | i64::from(*byte))
}
