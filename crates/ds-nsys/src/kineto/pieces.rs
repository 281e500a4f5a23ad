//! Cuts a trace into its members and events while it is read.
//!
//! A trace of several gigabytes is one JSON object whose member `traceEvents` is one array. Only the brackets and quotes
//! are looked at here, so that one event at a time is held in memory, and an event that cannot be understood costs itself
//! and not the file. What an event says is the next module's business.

use std::io::{self, Read};

use memchr::memchr2;

/// How much is read at once.
const AT_ONCE: usize = 256 << 10;

/// A longer member or event is passed over. The events of PyTorch 2.11 take some hundred bytes, and lists of process
/// groups a few megabytes in the largest jobs.
const LONGEST: usize = 16 << 20;

/// One piece of the file.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'b> {
    /// A member of the outer object other than the events: its name as written between the quotes, and its value.
    Member(&'b [u8], &'b [u8]),
    /// One element of `traceEvents`.
    Event(&'b [u8]),
    /// A member or event of more than 16 MiB, passed over.
    TooLong,
}

/// How the file ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// With the bracket that closes the object.
    Whole,
    /// In the middle, after so many bytes of JSON.
    CutOff {
        at: u64,
        /// What the decompressor said, where it was the one that stopped.
        why: Option<String>,
    },
    /// What stands at a byte cannot be JSON of this kind.
    Broken { at: u64, found: char },
}

/// Where in the outer object the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Object,
    Events,
}

/// A reader of pieces.
#[derive(Debug)]
pub(super) struct Pieces<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where in the buffer the first byte stands that no piece has taken.
    from: usize,
    /// How much of the buffer holds bytes of the file.
    filled: usize,
    /// How many bytes of the file lie before the buffer.
    before: u64,
    place: Place,
    has_events: bool,
    /// What the source said when it stopped early.
    stopped: Option<String>,
}

/// A place in the buffer.
type Extent = (usize, usize);

/// What was found before it is borrowed from the buffer.
enum Found {
    Member(Extent, Extent),
    Event(Extent),
    TooLong,
    Ended(Ended),
}

/// What ends a value.
enum Value {
    Whole(usize),
    TooLong,
    CutOff,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            from: 0,
            filled: 0,
            before: 0,
            place: Place::Outside,
            has_events: false,
            stopped: None,
        }
    }

    /// Whether `traceEvents` was reached.
    pub(super) fn has_events(&self) -> bool {
        self.has_events
    }

    /// How many bytes of JSON were read.
    pub(super) fn position(&self) -> u64 {
        self.before + self.from as u64
    }

    /// The next piece, or how the file ended.
    ///
    /// # Errors
    ///
    /// Fails when the operating system refuses to read. A file that ends early is none: everything before is good.
    pub(super) fn next(&mut self) -> io::Result<Result<Piece<'_>, Ended>> {
        Ok(match self.find()? {
            Found::Member(name, value) => Ok(Piece::Member(self.bytes(name), self.bytes(value))),
            Found::Event(extent) => Ok(Piece::Event(self.bytes(extent))),
            Found::TooLong => Ok(Piece::TooLong),
            Found::Ended(ended) => Err(ended),
        })
    }

    fn bytes(&self, (from, to): Extent) -> &[u8] {
        &self.buffer[from..to]
    }

    fn find(&mut self) -> io::Result<Found> {
        loop {
            let Some(byte) = self.peek()? else {
                return Ok(self.cut_off());
            };
            match (self.place, byte) {
                (_, b' ' | b'\t' | b'\n' | b'\r') => self.from += 1,
                // A mark of UTF-8, as editors write it.
                (Place::Outside, 0xEF | 0xBB | 0xBF) => self.from += 1,
                (Place::Outside, b'{') => {
                    self.from += 1;
                    self.place = Place::Object;
                }
                (Place::Object | Place::Events, b',') => self.from += 1,
                (Place::Object, b'}') => return self.rest(),
                (Place::Events, b']') => {
                    self.from += 1;
                    self.place = Place::Object;
                }
                (Place::Object, b'"') => {
                    if let Some(found) = self.member()? {
                        return Ok(found);
                    }
                }
                (Place::Events, b'}') | (Place::Outside | Place::Object, _) => {
                    return Ok(self.broken(byte));
                }
                (Place::Events, _) => {
                    return Ok(match self.value(0)? {
                        Value::Whole(len) => Found::Event(self.take(len)),
                        Value::TooLong => Found::TooLong,
                        Value::CutOff => self.cut_off(),
                    });
                }
            }
        }
    }

    /// Reads what lies behind the object: nothing that is wanted, but a decompressor proves its data only at their end.
    fn rest(&mut self) -> io::Result<Found> {
        while self.fill()? {
            self.from = self.filled;
        }
        Ok(match self.stopped {
            Some(_) => self.cut_off(),
            None => Found::Ended(Ended::Whole),
        })
    }

    /// Reads a member whose name begins here; `None` where it was the array of events, which is then entered.
    fn member(&mut self) -> io::Result<Option<Found>> {
        let Value::Whole(name) = self.value(0)? else {
            return Ok(Some(self.cut_off()));
        };
        let mut colon = name;
        let mut seen_colon = false;
        let first = loop {
            match self.byte(colon)? {
                None => return Ok(Some(self.cut_off())),
                Some(b' ' | b'\t' | b'\n' | b'\r') => {}
                Some(b':') if !seen_colon => seen_colon = true,
                Some(other) if !seen_colon || matches!(other, b',' | b'}' | b']') => {
                    self.from += colon;
                    return Ok(Some(self.broken(other)));
                }
                Some(first) => break first,
            }
            colon += 1;
        };
        let is_events = &self.buffer[self.from + 1..self.from + name - 1] == b"traceEvents";
        if is_events && first == b'[' {
            self.from += colon + 1;
            self.place = Place::Events;
            self.has_events = true;
            return Ok(None);
        }
        Ok(Some(match self.value(colon)? {
            Value::Whole(len) => {
                let whole = self.take(colon + len);
                Found::Member(
                    (whole.0 + 1, whole.0 + name - 1),
                    (whole.0 + colon, whole.1),
                )
            }
            Value::TooLong => Found::TooLong,
            Value::CutOff => self.cut_off(),
        }))
    }

    /// Takes the next bytes out; the buffer keeps them until the next piece is asked for.
    fn take(&mut self, len: usize) -> Extent {
        let from = self.from;
        self.from += len;
        (from, self.from)
    }

    /// Finds the end of the value that begins `skipped` bytes on, counted from there.
    fn value(&mut self, skipped: usize) -> io::Result<Value> {
        let mut scan = Scan::default();
        loop {
            if let Some(len) = scan.advance(&self.buffer[self.from + skipped..self.filled]) {
                return Ok(Value::Whole(len));
            }
            if scan.at > LONGEST {
                self.from += skipped;
                return self.pass_over(scan);
            }
            if !self.fill()? {
                return Ok(Value::CutOff);
            }
        }
    }

    /// Goes to the end of a value without keeping it.
    fn pass_over(&mut self, mut scan: Scan) -> io::Result<Value> {
        loop {
            self.from += scan.at;
            scan.at = 0;
            if !self.fill()? {
                return Ok(Value::CutOff);
            }
            if let Some(len) = scan.advance(&self.buffer[self.from..self.filled]) {
                self.from += len;
                return Ok(Value::TooLong);
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        self.byte(0)
    }

    fn byte(&mut self, at: usize) -> io::Result<Option<u8>> {
        while self.from + at >= self.filled {
            if !self.fill()? {
                return Ok(None);
            }
        }
        Ok(Some(self.buffer[self.from + at]))
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.stopped.is_some() {
            return Ok(false);
        }
        if self.buffer.len() - self.filled < AT_ONCE / 2 {
            self.buffer.copy_within(self.from..self.filled, 0);
            self.before += self.from as u64;
            self.filled -= self.from;
            self.from = 0;
            if self.buffer.len() - self.filled < AT_ONCE {
                self.buffer.resize(self.filled + AT_ONCE, 0);
            }
        }
        let read = loop {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        match read {
            Ok(read) => {
                self.filled += read;
                Ok(read > 0)
            }
            // So a decompressor speaks of data that end or break early; what came before is good.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::InvalidData
                ) =>
            {
                self.stopped = Some(error.to_string());
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn cut_off(&self) -> Found {
        Found::Ended(Ended::CutOff {
            at: self.before + self.filled as u64,
            why: self.stopped.clone(),
        })
    }

    fn broken(&self, byte: u8) -> Found {
        Found::Ended(Ended::Broken {
            at: self.position(),
            found: char::from(byte),
        })
    }
}

/// The search for the end of a value, which goes on where it stopped when more was read.
#[derive(Debug, Default)]
struct Scan {
    /// The next byte to look at.
    at: usize,
    depth: usize,
    is_in_string: bool,
}

impl Scan {
    /// Looks at the bytes of a value from its beginning; the length where its end is among them.
    fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(rest) = bytes.get(self.at..).filter(|rest| !rest.is_empty()) {
            if self.is_in_string {
                let Some(mark) = memchr2(b'"', b'\\', rest) else {
                    self.at = bytes.len();
                    return None;
                };
                if rest[mark] == b'\\' {
                    // What is escaped must be there before both are passed.
                    if rest.len() < mark + 2 {
                        self.at += mark;
                        return None;
                    }
                    self.at += mark + 2;
                    continue;
                }
                self.at += mark + 1;
                self.is_in_string = false;
                if self.depth == 0 {
                    return Some(self.at);
                }
                continue;
            }
            match rest[0] {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' | b' ' | b'\t' | b'\n' | b'\r' if self.depth == 0 => {
                    return Some(self.at);
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.at += 1;
                        return Some(self.at);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::{Ended, Piece, Pieces};

    /// Gives a few bytes at a time, as a slow pipe does.
    struct Dripping<'b>(&'b [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let len = self.0.len().min(self.1).min(to.len());
            to[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn pieces(source: impl Read) -> (Vec<String>, Ended) {
        let mut pieces = Pieces::new(source);
        let mut found = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        loop {
            match pieces.next().expect("memory") {
                Ok(Piece::Member(name, value)) => {
                    found.push(format!("{}={}", text(name), text(value)));
                }
                Ok(Piece::Event(event)) => found.push(text(event)),
                Ok(Piece::TooLong) => found.push("too long".to_owned()),
                Err(ended) => return (found, ended),
            }
        }
    }

    const SMALL: &str = concat!(
        "\u{feff}{ \"schemaVersion\" : 1,\n\"a\":\"x\\\"}\",\"b\":[{},[1]],",
        "\"traceEvents\": [ {\"name\":\"f(){\\\\\",\"args\":{\"x\":[1,2]}} , {} , NaN,\"s\" ] , \"end\":null}\n"
    );

    const FOUND: [&str; 8] = [
        "schemaVersion=1",
        "a=\"x\\\"}\"",
        "b=[{},[1]]",
        "{\"name\":\"f(){\\\\\",\"args\":{\"x\":[1,2]}}",
        "{}",
        "NaN",
        "\"s\"",
        "end=null",
    ];

    #[test]
    fn members_and_events_come_in_order() {
        let (found, ended) = pieces(SMALL.as_bytes());
        assert_eq!(found, FOUND);
        assert_eq!(ended, Ended::Whole);
    }

    #[test]
    fn what_cannot_be_json_ends_the_reading() {
        for (text, at, found) in [
            ("{\"a\" 1}", 5, '1'),
            ("{\"a\":,}", 5, ','),
            ("{a:1}", 1, 'a'),
            ("{\"traceEvents\":[{}}", 18, '}'),
            ("[1]", 0, '['),
        ] {
            assert_eq!(
                pieces(text.as_bytes()).1,
                Ended::Broken { at, found },
                "{text}"
            );
        }
    }

    #[test]
    fn an_endless_value_is_passed_over() {
        let mut text = b"{\"long\":\"".to_vec();
        text.resize(text.len() + (17 << 20), b'x');
        text.extend_from_slice(b"\",\"traceEvents\":[{\"a\":1}]}");
        let (found, ended) = pieces(text.as_slice());
        assert_eq!(found, ["too long", "{\"a\":1}"]);
        assert_eq!(ended, Ended::Whole);
    }

    #[test]
    fn every_cut_is_seen() {
        let whole = SMALL.trim_end().len();
        for len in 0..whole {
            let (found, ended) = pieces(&SMALL.as_bytes()[..len]);
            assert_eq!(found, FOUND[..found.len()], "cut at {len}");
            assert_eq!(
                ended,
                Ended::CutOff {
                    at: len as u64,
                    why: None
                }
            );
        }
    }

    proptest! {
        #[test]
        fn the_size_of_reads_changes_nothing(step in 1..9_usize) {
            let (found, ended) = pieces(Dripping(SMALL.as_bytes(), step));
            prop_assert_eq!(found, FOUND);
            prop_assert_eq!(ended, Ended::Whole);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut text = b"{\"traceEvents\":[".to_vec();
            text.extend(bytes);
            let _ = pieces(text.as_slice());
        }
    }
}
