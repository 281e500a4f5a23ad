//! The number formats of the tensor cores.

use std::fmt;

use serde::Deserialize;

/// A number format of the tensor cores, with the accumulator where it changes the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// FP16 with the faster accumulator.
    Fp16,
    /// FP16 with FP32 accumulation: half the rate on GeForce, the same elsewhere.
    Fp16Acc32,
    /// BF16, from compute capability 8.0 on.
    Bf16,
    /// TF32, which always accumulates in FP32.
    Tf32,
    /// FP8 with the faster accumulator.
    Fp8,
    /// FP8 with FP32 accumulation: half the rate on GeForce, the same elsewhere.
    Fp8Acc32,
    /// INT8; dp4a where there is no INT8 tensor path.
    Int8,
    /// FP4.
    Fp4,
}

impl Precision {
    /// Every precision, in the order in which reports list them.
    pub const ALL: [Self; 8] = [
        Self::Fp16,
        Self::Fp16Acc32,
        Self::Bf16,
        Self::Tf32,
        Self::Fp8,
        Self::Fp8Acc32,
        Self::Int8,
        Self::Fp4,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp16 => "FP16",
            Self::Fp16Acc32 => "FP16 (FP32 accumulate)",
            Self::Bf16 => "BF16",
            Self::Tf32 => "TF32",
            Self::Fp8 => "FP8",
            Self::Fp8Acc32 => "FP8 (FP32 accumulate)",
            Self::Int8 => "INT8",
            Self::Fp4 => "FP4",
        }
    }

    /// The unit in which data sheets print this rate.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Int8 => "TOPS",
            _ => "TFLOP/s",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One optional value per precision, with the keys of the data files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerPrecision<T> {
    fp16: Option<T>,
    fp16_acc32: Option<T>,
    tf32: Option<T>,
    int8: Option<T>,
    fp8: Option<T>,
    fp8_acc32: Option<T>,
    fp4: Option<T>,
}

impl<T> Default for PerPrecision<T> {
    fn default() -> Self {
        Self {
            fp16: None,
            fp16_acc32: None,
            tf32: None,
            int8: None,
            fp8: None,
            fp8_acc32: None,
            fp4: None,
        }
    }
}

impl<T: Copy> PerPrecision<T> {
    /// The value written for this precision, without any fallback. BF16 has no key of its own.
    #[must_use]
    pub fn get(&self, precision: Precision) -> Option<T> {
        match precision {
            Precision::Fp16 => self.fp16,
            Precision::Fp16Acc32 => self.fp16_acc32,
            Precision::Bf16 => None,
            Precision::Tf32 => self.tf32,
            Precision::Fp8 => self.fp8,
            Precision::Fp8Acc32 => self.fp8_acc32,
            Precision::Int8 => self.int8,
            Precision::Fp4 => self.fp4,
        }
    }
}
