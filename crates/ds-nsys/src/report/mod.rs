//! The reports of `nsys stats`, printed to the last digit as the original prints them.

mod api;
mod exec;
mod gpu;
mod kernels;
mod memory;
mod name;
mod nvtx;
mod nvtx_gpu;
mod nvtx_trace;
mod summary;
mod table;
mod text;
mod trace;
mod unified_memory;

pub use name::{NvtxNames, Report, ReportKind};
pub use table::{Cell, Heading, RowSink, SeparatedWriter, Table};
pub use text::{NameWidth, TextReport};

use crate::error::{Error, Result};
use crate::nvtx::RangeStyle;
use crate::query::{Selection, Split, Window};
use crate::style::Style;
use crate::trace::Trace;

/// How a report is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// Which release's printing is reproduced.
    pub style: Style,
    /// Which part of the session is looked at, as `--filter-time` of `nsys stats` takes it.
    pub window: Window,
}

impl ReportOptions {
    fn selection(self) -> Selection {
        Selection {
            window: self.window,
            split: Split::Whole,
        }
    }
}

impl Trace {
    /// Makes a report in memory.
    ///
    /// A table that the export lacks is absent data and gives an empty report, not an error.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn report(&self, report: Report, options: ReportOptions) -> Result<Table> {
        let mut table = Table::new(options.style);
        self.report_into(report, options, &mut table)?;
        Ok(table)
    }

    /// Makes a report and hands its rows on one by one; trace reports then need no memory for them.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read or the receiver fails.
    pub fn report_into(
        &self,
        report: Report,
        options: ReportOptions,
        sink: &mut dyn RowSink,
    ) -> Result<()> {
        let mut output = Output {
            sink,
            heading: None,
        };
        match report.kind {
            ReportKind::CudaGpuKernSum => kernels::by_name(self, report, options, &mut output),
            ReportKind::CudaApiSum => api::cuda(self, options, &mut output),
            ReportKind::OsrtSum => api::os_runtime(self, options, &mut output),
            ReportKind::CudaGpuMemTimeSum => memory::by_time(self, options, &mut output),
            ReportKind::CudaGpuMemSizeSum => memory::by_size(self, options, &mut output),
            ReportKind::CudaGpuSum => gpu::gpu_sum(self, report, options, &mut output),
            ReportKind::CudaApiGpuSum => gpu::api_gpu_sum(self, report, options, &mut output),
            ReportKind::NvtxSum => nvtx::both_styles(self, options, &mut output),
            ReportKind::NvtxPushpopSum => {
                nvtx::one_style(self, RangeStyle::PushPop, options, &mut output)
            }
            ReportKind::NvtxStartendSum => {
                nvtx::one_style(self, RangeStyle::StartEnd, options, &mut output)
            }
            ReportKind::CudaGpuKernGbSum => kernels::by_shape(self, report, options, &mut output),
            ReportKind::CudaKernExecSum => exec::summary(self, report, options, &mut output),
            ReportKind::NvtxKernSum => nvtx_gpu::kernels(self, report, options, &mut output),
            ReportKind::NvtxGpuProjSum => nvtx_gpu::projection(self, options, &mut output),
            ReportKind::CudaGpuTrace => trace::gpu(self, report, options, &mut output),
            ReportKind::CudaApiTrace => trace::api(self, options, &mut output),
            ReportKind::NvtxPushpopTrace => nvtx_trace::push_pop(self, options, &mut output),
            ReportKind::UmSum => unified_memory::by_address(self, report, options, &mut output),
        }
    }
}

/// Passes rows on, the heading before the first of them.
struct Output<'s> {
    sink: &'s mut dyn RowSink,
    /// Waits for the first row: without rows there is no heading either.
    heading: Option<Heading>,
}

impl Output<'_> {
    fn heading(&mut self, heading: Heading) {
        self.heading = Some(heading);
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if let Some(heading) = self.heading.take() {
            self.sink.heading(&heading).map_err(Error::Write)?;
        }
        self.sink.row(cells).map_err(Error::Write)
    }
}
