//! Groups keyed by small integers, in the order in which they were first seen.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// One value a key. Iteration follows the order of first sight, so output never depends on hashing.
#[derive(Debug)]
pub(crate) struct Grouped<K, V> {
    positions: HashMap<K, usize, BuildHasherDefault<IdHasher>>,
    groups: Vec<(K, V)>,
}

impl<K, V> Default for Grouped<K, V> {
    fn default() -> Self {
        Self {
            positions: HashMap::default(),
            groups: Vec::new(),
        }
    }
}

/// Values that two threads summed up apart.
pub(crate) trait Merge {
    /// Takes the other's share over.
    fn merge(&mut self, other: Self);
}

impl<K: Copy + Eq + Hash, V: Default> Grouped<K, V> {
    /// The value of a key, made when the key is new.
    pub(crate) fn entry(&mut self, key: K) -> &mut V {
        let position = self.position(key);
        &mut self.groups[position].1
    }

    /// The place of a key in the order of first sight.
    pub(crate) fn position(&mut self, key: K) -> usize {
        let next = self.groups.len();
        let position = *self.positions.entry(key).or_insert(next);
        if position == next {
            self.groups.push((key, V::default()));
        }
        position
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.groups.iter().map(|(key, value)| (*key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn into_groups(self) -> impl Iterator<Item = (K, V)> {
        self.groups.into_iter()
    }
}

impl<K: Copy + Eq + Hash, V: Default + Merge> Grouped<K, V> {
    /// Joins what several threads grouped apart.
    pub(crate) fn joined(parts: Vec<Self>) -> Self {
        let mut joined = Self::default();
        joined.join(parts);
        joined
    }

    /// Takes over what several threads grouped apart.
    pub(crate) fn join(&mut self, parts: Vec<Self>) {
        for part in parts {
            if self.groups.is_empty() {
                *self = part;
                continue;
            }
            for (key, value) in part.groups {
                self.entry(key).merge(value);
            }
        }
    }
}

/// A hasher for ids: a multiplication and a rotation a word.
///
/// The ids come from a file, so a hostile one could make them collide; it could as well be long.
#[derive(Debug, Default)]
pub(crate) struct IdHasher(u64);

/// The odd number nearest to 2^64 divided by the golden ratio, the usual choice for multiplicative hashing.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // The table takes its position from the low bits, which a product fills from the high ones only by rotation.
        self.0 = (self.0 ^ word).wrapping_mul(SPREAD).rotate_left(32);
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word.cast_unsigned());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
