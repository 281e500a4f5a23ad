//! The smallest of several rates of which some are known only from below, or not at all.

use std::fmt;

use ds_ceilings::Fps;

/// One of the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// Measured or computed.
    Known(Fps),
    /// This much was reached, and more may be possible.
    AtLeast(Fps),
    /// It exists and is not known.
    Unknown,
    /// It does not bound this pipeline.
    Absent,
}

impl Term {
    /// The number, where there is one.
    pub(crate) fn fps(self) -> Option<Fps> {
        match self {
            Self::Known(fps) | Self::AtLeast(fps) => Some(fps),
            Self::Unknown | Self::Absent => None,
        }
    }
}

/// How a number relates to the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// It is the number.
    Exactly,
    /// The truth may be higher: the sweep did not reach its plateau.
    AtLeast,
    /// The truth may be lower: a ceiling is not known.
    AtMost,
    /// The truth may be higher or lower: both of the above.
    Open,
}

impl fmt::Display for Qualifier {
    /// The words in front of the number; none for [`Qualifier::Exactly`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exactly => "",
            Self::AtLeast => "at least ",
            Self::AtMost => "at most ",
            Self::Open => "by what is known ",
        })
    }
}

/// The smallest term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Minimum<K> {
    /// Which term it is.
    pub(crate) key: K,
    /// Its rate.
    pub(crate) fps: Fps,
    /// How that relates to the truth.
    pub(crate) qualifier: Qualifier,
}

/// The smallest term; `None` if no term has a number. Of equal terms one that is known wins over one that is a lower
/// bound, and the first over a later one.
pub(crate) fn minimum<K: Copy>(terms: &[(K, Term)]) -> Option<Minimum<K>> {
    let numbered = terms.iter().filter_map(|(key, term)| {
        let open_above = matches!(term, Term::AtLeast(_));
        Some((term.fps()?, open_above, *key))
    });
    let (fps, open_above, key) = numbered.min_by_key(|(fps, open_above, _)| (*fps, *open_above))?;
    let open_below = terms.iter().any(|(_, term)| *term == Term::Unknown);
    let qualifier = match (open_above, open_below) {
        // Nothing is below zero, so an unknown ceiling cannot lower it.
        (false, true) if fps == Fps::ZERO => Qualifier::Exactly,
        (false, false) => Qualifier::Exactly,
        (true, false) => Qualifier::AtLeast,
        (false, true) => Qualifier::AtMost,
        (true, true) => Qualifier::Open,
    };
    Some(Minimum {
        key,
        fps,
        qualifier,
    })
}

#[cfg(test)]
mod tests {
    use super::{Qualifier, Term, minimum};
    use ds_ceilings::Fps;

    #[track_caller]
    fn check(terms: &[Term], expected: Option<(usize, Qualifier)>) {
        let keyed: Vec<(usize, Term)> = terms.iter().copied().enumerate().collect();
        let found = minimum(&keyed).map(|minimum| (minimum.key, minimum.qualifier));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_qualifier_follows_from_what_is_open() {
        let fps = |value| Fps::new(value).unwrap();
        let (known, at_least) = (
            |value| Term::Known(fps(value)),
            |value| Term::AtLeast(fps(value)),
        );
        check(&[], None);
        check(&[Term::Unknown, Term::Absent], None);
        check(&[known(5.0), known(3.0)], Some((1, Qualifier::Exactly)));
        check(&[at_least(5.0), known(9.0)], Some((0, Qualifier::AtLeast)));
        check(&[at_least(5.0), known(4.0)], Some((1, Qualifier::Exactly)));
        check(&[at_least(5.0), known(5.0)], Some((1, Qualifier::Exactly)));
        check(&[known(5.0), Term::Unknown], Some((0, Qualifier::AtMost)));
        check(&[at_least(5.0), Term::Unknown], Some((0, Qualifier::Open)));
        check(&[known(0.0), Term::Unknown], Some((0, Qualifier::Exactly)));
        check(&[known(5.0), Term::Absent], Some((0, Qualifier::Exactly)));
    }
}
