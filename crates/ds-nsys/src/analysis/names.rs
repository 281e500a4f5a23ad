//! One name for the variants of a kernel, so that two builds of a program can be compared.

use std::borrow::Cow;

/// How far names are folded before two traces are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameFolding {
    /// Not at all: the demangled name.
    Exact,
    /// Return type, template arguments and parameters are dropped, and the hash that a compiler hung on.
    #[default]
    Arguments,
    /// Tile sizes such as `128x64` in the names of matrix kernels become `#` as well.
    Tiles,
}

impl NameFolding {
    /// The folded name; one that does not look like a function's stays as it is.
    #[must_use]
    pub fn fold(self, name: &str) -> String {
        match self {
            Self::Exact => name.to_owned(),
            Self::Arguments => without_hash(&without_arguments(name)).to_owned(),
            Self::Tiles => without_tiles(without_hash(&without_arguments(name))),
        }
    }
}

/// `void ns::kernel<…>(…)` becomes `ns::kernel`.
fn without_arguments(name: &str) -> Cow<'_, str> {
    let mut folded = String::with_capacity(name.len());
    let mut depth = 0_usize;
    // Two spellings of a namespace without a name hold the very signs that are looked for.
    let plain = name
        .replace("<unnamed>::", "")
        .replace("(anonymous namespace)::", "");
    let plain = plain.strip_prefix("void ").unwrap_or(&plain);
    for c in plain.chars() {
        match c {
            '<' => depth += 1,
            '>' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Cow::Borrowed(name),
            },
            '(' if depth == 0 => break,
            _ if depth == 0 => folded.push(c),
            _ => {}
        }
    }
    let folded = folded.trim_end();
    if depth > 0 || folded.is_empty() {
        return Cow::Borrowed(name);
    }
    Cow::Owned(folded.to_owned())
}

/// Triton appends a hash, or the specialisation of every argument (`0d1d2de`); both change with each build.
fn without_hash(name: &str) -> &str {
    /// Shorter endings are counters and sizes.
    const SHORTEST_HASH: usize = 6;
    let Some((stem, last)) = name.rsplit_once('_') else {
        return name;
    };
    let has_digit = last.bytes().any(|b| b.is_ascii_digit());
    let is_hash = last.len() >= SHORTEST_HASH
        && last.bytes().any(|b| b.is_ascii_alphabetic())
        && last.bytes().all(|b| b.is_ascii_hexdigit() || b == b'c');
    if has_digit && is_hash && !stem.is_empty() {
        stem
    } else {
        name
    }
}

/// Replaces every run of numbers joined by `x`.
fn without_tiles(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let tile = tile_len(rest);
        if tile > 0 && !folded.ends_with(|c: char| c.is_ascii_digit()) {
            folded.push('#');
            rest = &rest[tile..];
        } else {
            folded.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    folded
}

/// How many bytes of the beginning are `64x8` or `64x8x16`; 0 for anything else.
fn tile_len(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    if first == 0 {
        return 0;
    }
    let mut len = first;
    while let Some(next) = text[len..].strip_prefix('x').map(digits).filter(|n| *n > 0) {
        len += 1 + next;
    }
    if len > first { len } else { 0 }
}
