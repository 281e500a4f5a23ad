//! The binary form of protobuf, read forward: tags, varints, and lengths that say how far to go.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::{Error, ErrorKind};

/// The longest name that is kept: a bound of ours, far above the module paths of which exporters
/// build names.
const MAX_TEXT: u64 = 1 << 16;

/// The bytes of a varint of 64 bits at most: ten groups of seven bits.
const MAX_VARINT_BYTES: u32 = 10;

/// A source of protobuf that is read once from front to back.
pub(super) struct Wire<'a> {
    source: BufReader<&'a mut dyn Read>,
    /// The offset of the next byte.
    at: u64,
    /// Where the message ends that is being read; the outermost one ends with the source.
    end: Option<u64>,
}

/// A field whose payload is next to be read or skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) payload: Payload,
}

/// The payload of a field: what is small is read with the tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    Varint(u64),
    /// Four or eight bytes.
    Fixed(u64),
    /// As many bytes as it says: a text, a message, packed numbers.
    Bytes(u64),
}

impl<'a> Wire<'a> {
    pub(super) fn new(source: BufReader<&'a mut dyn Read>) -> Self {
        Self {
            source,
            at: 0,
            end: None,
        }
    }

    /// The next field of the message; `None` at its end.
    pub(super) fn next_field(&mut self) -> Result<Option<Field>, Error> {
        let at_end = match self.end {
            Some(end) => self.at == end,
            None => self
                .source
                .fill_buf()
                .map_err(|error| Error::unreadable(&error))?
                .is_empty(),
        };
        if at_end {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3)
            .ok()
            .filter(|number| *number != 0)
            .ok_or_else(|| self.refuse("a tag names no field"))?;
        let payload = match tag & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed(8),
            2 => {
                let len = self.varint()?;
                let end = self.at.checked_add(len);
                if end.is_none_or(|end| self.end.is_some_and(|outer| end > outer)) {
                    return Err(self.refuse("a field reaches past the end of its message"));
                }
                Payload::Bytes(len)
            }
            5 => Payload::Fixed(4),
            _ => return Err(self.refuse("a tag is of no known wire type")),
        };
        Ok(Some(Field { number, payload }))
    }

    /// Reads an inner message, each field by `take`, which reads or skips its payload.
    pub(super) fn message(
        &mut self,
        len: u64,
        mut take: impl FnMut(&mut Self, Field) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let outer = self.end.replace(self.at + len);
        while let Some(field) = self.next_field()? {
            take(self, field)?;
        }
        self.end = outer;
        Ok(())
    }

    /// Reads a text. Bytes that are not UTF-8 are replaced: names are compared and shown only.
    pub(super) fn text(&mut self, len: u64) -> Result<String, Error> {
        if len > MAX_TEXT {
            return Err(self.refuse("a name is longer than any name"));
        }
        let mut bytes = Vec::new();
        let read = Read::by_ref(&mut self.source)
            .take(len)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::unreadable(&error))?;
        self.advance(len, u64::try_from(read).unwrap_or(u64::MAX))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads past a payload.
    pub(super) fn skip(&mut self, payload: Payload) -> Result<(), Error> {
        let len = match payload {
            Payload::Varint(_) => return Ok(()),
            Payload::Fixed(len) | Payload::Bytes(len) => len,
        };
        let mut rest = Read::by_ref(&mut self.source).take(len);
        let read =
            io::copy(&mut rest, &mut io::sink()).map_err(|error| Error::unreadable(&error))?;
        self.advance(len, read)
    }

    /// A refusal at the next byte.
    pub(super) fn refuse(&self, what: &str) -> Error {
        let message = format!("this is no ONNX model: {what}, before byte {}", self.at);
        Error::new(ErrorKind::Refused, message)
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for group in 0..MAX_VARINT_BYTES {
            let byte = self.byte()?;
            // The bits that a tenth byte has too many fall away, as they do in protobuf.
            value |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.refuse("a number has more than ten bytes"))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        if self.end == Some(self.at) {
            return Err(self.refuse("a field reaches past the end of its message"));
        }
        let next = self
            .source
            .fill_buf()
            .map_err(|error| Error::unreadable(&error))?
            .first()
            .copied();
        let Some(byte) = next else {
            return Err(self.refuse("the file ends inside of a field"));
        };
        self.source.consume(1);
        self.at += 1;
        Ok(byte)
    }

    /// Notes that `read` of `wanted` bytes came.
    fn advance(&mut self, wanted: u64, read: u64) -> Result<(), Error> {
        self.at = self.at.saturating_add(read);
        if read < wanted {
            return Err(self.refuse("the file ends inside of a field"));
        }
        if self.end.is_some_and(|end| self.at > end) {
            return Err(self.refuse("a field reaches past the end of its message"));
        }
        Ok(())
    }
}
