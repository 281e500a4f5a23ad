//! A8 and A9: in which memory frames are kept.

use std::fmt;

use super::{Look, Report, Rule, Severity};
use crate::lint::context::GpuKind;
use crate::lint::written::Written;
use crate::model::{Element, FilePlace, Knob, Role};

/// Two kinds of memory along the chain.
pub(super) const A8: Rule = Rule {
    id: "DS010",
    code: "A8",
    severity: Severity::Warning,
    title: "memory types differ along the chain",
    reason: "Between two kinds of memory every frame is copied, and some elements stop with `Mismatch between \
             configured memory type and i/p buffer memory type`.",
    guard: "An integrated GPU, which a surface array (4) gives away; the new mux, which passes frames on as they are; \
            converters, which are there to convert.",
    remedy: "set `nvbuf-memory-type` and `cudadec-memtype` to 0 everywhere",
    fixed_by: Some("R1"),
    check: differ,
};

/// Frames outside device memory.
pub(super) const A9: Rule = Rule {
    id: "DS011",
    code: "A9",
    severity: Severity::Warning,
    title: "`nvbuf-memory-type` is not 0",
    reason: "On a discrete GPU 0 is device memory. 1 is pinned memory of the host, reached over PCIe, although some \
             guides call it NVMM; 3 is unified memory, whose pages move.",
    guard: "2, which is device memory too; an integrated GPU, which a surface array (4) gives away; unified memory in \
            a program that reads frames with the CPU (`get_nvds_buf_surface`).",
    remedy: "set `nvbuf-memory-type=0`",
    fixed_by: Some("R1"),
    check: outside_device,
};

/// Where frames are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Device,
    Pinned,
    Unified,
    SurfaceArray,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "device memory",
            Self::Pinned => "pinned host memory",
            Self::Unified => "unified memory",
            Self::SurfaceArray => "a surface array",
        })
    }
}

/// A value of `nvbuf-memory-type` on a discrete GPU (DeepStream 9.1 documentation).
fn of_buffer(value: i64) -> Option<Memory> {
    Some(match value {
        0 | 2 => Memory::Device,
        1 => Memory::Pinned,
        3 => Memory::Unified,
        4 => Memory::SurfaceArray,
        _ => return None,
    })
}

/// A value of `cudadec-memtype` (DeepStream 9.1 documentation).
fn of_decoder(value: i64) -> Option<Memory> {
    Some(match value {
        0 => Memory::Device,
        1 => Memory::Pinned,
        2 => Memory::Unified,
        _ => return None,
    })
}

/// `nvbuf-memory-type` as it is written on an element.
fn buffer_key<'l>(look: &'l Look<'_>, element: &Element) -> Option<(&'l Written, Memory)> {
    let written = look.own(element, "nvbuf-memory-type")?;
    let memory = of_buffer(written.integer()?)?;
    Some((written, memory))
}

/// Whether the pipeline is for an integrated GPU. Only that has surface arrays.
fn is_integrated(look: &Look<'_>) -> bool {
    let has_surface_array = |element: &Element| {
        buffer_key(look, element).is_some_and(|(_, memory)| memory == Memory::SurfaceArray)
    };
    match look.context.gpu {
        Some(gpu) => gpu == GpuKind::Integrated,
        None => look.pipeline.elements.iter().any(has_surface_array),
    }
}

fn differ(look: &Look<'_>, report: &mut Report<'_>) {
    if is_integrated(look) {
        return;
    }
    // The legacy mux decides in which memory the batch is.
    let mut muxes = look.pipeline.knobs_of(Knob::MuxNvbufMemoryType);
    let (Some(mux), None) = (muxes.next(), muxes.next()) else {
        return;
    };
    if mux.computed.is_some() {
        return;
    }
    let Some(batch) = of_buffer(mux.integer().unwrap_or(0)) else {
        return;
    };
    let mut add = |place: FilePlace, what: &str, memory: Memory| {
        report.add(
            place,
            format!("{what} {memory}, and the mux keeps its batches in {batch}"),
        );
    };
    let is_converted = look
        .pipeline
        .elements_with(Role::Converter)
        .any(|converter| buffer_key(look, converter).is_some_and(|(_, memory)| memory == batch));
    let decoders = look.pipeline.knobs_of(Knob::DecodeCudadecMemtype);
    for decoder in decoders.filter(|_| !is_converted) {
        let value = decoder.integer().unwrap_or(0);
        if let Some(memory) = of_decoder(value).filter(|memory| *memory != batch)
            && decoder.computed.is_none()
        {
            let place = decoder.place.clone().unwrap_or_else(|| look.place(mux));
            add(place, "the decoder writes to", memory);
            // The others say the same of the same mux.
            break;
        }
    }
    for element in &look.pipeline.elements {
        let takes_batch = matches!(
            element.role,
            Role::PrimaryInfer | Role::SecondaryInfer | Role::Tiler | Role::Osd
        );
        if let Some((written, memory)) = buffer_key(look, element).filter(|_| takes_batch)
            && memory != batch
        {
            add(
                written.place.clone(),
                &format!("`{}` works in", element.name),
                memory,
            );
        }
    }
}

fn outside_device(look: &Look<'_>, report: &mut Report<'_>) {
    if is_integrated(look) {
        return;
    }
    let reads_frames = look.pipeline.files.iter().any(|file| {
        let probe = b"get_nvds_buf_surface";
        file.bytes
            .windows(probe.len())
            .any(|window| window == probe)
    });
    for element in &look.pipeline.elements {
        let Some((written, memory)) = buffer_key(look, element) else {
            continue;
        };
        if memory != Memory::Device && !(memory == Memory::Unified && reads_frames) {
            let value = written.value.as_deref().unwrap_or_default();
            let message = format!(
                "`nvbuf-memory-type` of `{}` is {value}: {memory}",
                element.name
            );
            report.add(written.place.clone(), message);
        }
    }
}
