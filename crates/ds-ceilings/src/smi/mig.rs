//! `nvidia-smi mig -lgip`: the GPU instance profiles that a GPU offers.

use crate::error::{Error, Output, SmiFailure};
use crate::units::Bytes;

/// The profiles of one or more GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigProfiles {
    /// In the order of the output.
    pub rows: Vec<MigProfileRow>,
}

/// One profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigProfileRow {
    /// The GPU index.
    pub gpu: u32,
    /// The name, such as `1g.18gb+me`.
    pub name: String,
    /// The profile id that `nvidia-smi mig -cgi` takes.
    pub id: u32,
    /// Instances that could be made now.
    pub free: u32,
    /// Instances that fit on an empty GPU.
    pub total: u32,
    /// Memory.
    pub memory: Bytes,
    /// Streaming multiprocessors.
    pub sm_count: u32,
    /// Decoders.
    pub decoders: u32,
    /// Encoders.
    pub encoders: u32,
    /// Copy engines; `None` where the second line is cut off.
    pub copy_engines: Option<u32>,
    /// JPEG engines.
    pub jpeg: Option<u32>,
    /// Optical-flow engines.
    pub ofa: Option<u32>,
}

impl MigProfiles {
    /// Reads the table; every profile takes two lines.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi or holds no profile.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        let mut rows: Vec<MigProfileRow> = Vec::new();
        for line in text.lines() {
            let cells: Vec<&str> = line.trim().trim_matches('|').split_whitespace().collect();
            if let Some(row) = first_line(&cells) {
                rows.push(row);
            } else if let (Some(counts), Some(row)) = (second_line(&cells), rows.last_mut()) {
                [row.copy_engines, row.jpeg, row.ofa] = counts.map(Some);
            }
        }
        if rows.is_empty() {
            return Err(Error::Missing {
                output: Output::MigProfiles,
                what: "profile",
            });
        }
        Ok(Self { rows })
    }
}

/// `0  MIG 1g.24gb  19  7/7  20.00  No  18  1  0`: the last three are SM, DEC, ENC.
fn first_line(cells: &[&str]) -> Option<MigProfileRow> {
    let [
        gpu,
        "MIG",
        name,
        id,
        instances,
        memory,
        _peer_to_peer,
        sm,
        decoders,
        encoders,
    ] = cells
    else {
        return None;
    };
    let (free, total) = instances.split_once('/')?;
    Some(MigProfileRow {
        gpu: gpu.parse().ok()?,
        name: (*name).to_owned(),
        id: id.parse().ok()?,
        free: free.parse().ok()?,
        total: total.parse().ok()?,
        memory: memory.parse().ok().and_then(Bytes::from_gib)?,
        sm_count: sm.parse().ok()?,
        decoders: decoders.parse().ok()?,
        encoders: encoders.parse().ok()?,
        copy_engines: None,
        jpeg: None,
        ofa: None,
    })
}

/// `2  1  0`: CE, JPEG, OFA.
fn second_line(cells: &[&str]) -> Option<[u32; 3]> {
    let [copy, jpeg, ofa] = cells else {
        return None;
    };
    Some([copy.parse().ok()?, jpeg.parse().ok()?, ofa.parse().ok()?])
}
