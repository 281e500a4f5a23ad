//! Two GPUs side by side.

use super::Ceilings;

/// One ceiling of two GPUs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The id of the ceiling.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// The unit of both values.
    pub unit: &'static str,
    /// The first GPU's figure.
    pub first: Option<f64>,
    /// The second GPU's figure.
    pub second: Option<f64>,
    /// Second over first; `None` where one is unknown or the first is zero.
    pub ratio: Option<f64>,
}

impl Ceilings {
    /// Sets these ceilings beside another GPU's, in the order of [`Ceilings::rows`].
    #[must_use]
    pub fn compare(&self, other: &Self) -> Vec<Comparison> {
        let rows = self.rows().into_iter().zip(other.rows());
        rows.map(|(first, second)| {
            let ratio = first
                .value
                .zip(second.value)
                .map(|(a, b)| b / a)
                .filter(|ratio| ratio.is_finite());
            Comparison {
                id: first.id,
                label: first.label,
                unit: first.unit,
                first: first.value,
                second: second.value,
                ratio,
            }
        })
        .collect()
    }
}
