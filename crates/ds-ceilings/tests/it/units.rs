//! Quantities and what they refuse.

use ds_ceilings::{
    Batch, Bytes, BytesPerSec, Fps, Fraction, Megahertz, Nanos, OpsPerSec, Resolution, Seconds,
    StreamCount,
};

#[test]
fn real_quantities_are_finite_and_not_negative() {
    for bad in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        -f64::MIN_POSITIVE,
    ] {
        assert_eq!(Fps::new(bad), None, "{bad}");
        assert_eq!(Seconds::new(bad), None, "{bad}");
        assert_eq!(BytesPerSec::from_giga(bad), None, "{bad}");
        assert_eq!(OpsPerSec::from_tera(bad), None, "{bad}");
        assert_eq!(Fraction::new(bad), None, "{bad}");
    }
    // A product beyond the range of doubles is refused, not stored as infinity.
    assert_eq!(OpsPerSec::from_tera(f64::MAX), None);
    assert_eq!(Fraction::new(1.000_001), None);
    assert_eq!(Fps::new(-0.0), Some(Fps::ZERO));
    assert_eq!(
        Fraction::new(-0.0)
            .map(Fraction::get)
            .map(f64::is_sign_positive),
        Some(true)
    );
}

#[test]
fn arithmetic_stays_in_range() {
    let max = Fps::new(f64::MAX).expect("finite");
    assert_eq!(max + max, max);
    assert_eq!(max.scaled(2.0), None);
    assert_eq!(max.scaled(-1.0), None);
    assert_eq!(Fps::ZERO.ratio_to(Fps::ZERO), None);
    assert_eq!(
        StreamCount::new(u32::MAX) + StreamCount::new(1),
        StreamCount::new(u32::MAX)
    );
    assert_eq!(Bytes::from_mib(u64::MAX), Bytes::new(u64::MAX));
    assert_eq!(Bytes::from_gib(69.5), Some(Bytes::from_mib(71_168)));
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(Bytes::from_gib(bad), None, "{bad}");
    }
    let rates = [30.0, 15.0].map(|fps| Fps::new(fps).expect("finite"));
    assert_eq!(
        rates.into_iter().sum::<Fps>(),
        Fps::new(45.0).expect("finite")
    );
    assert_eq!(rates.into_iter().max(), Fps::new(30.0));
}

#[test]
fn shares_come_from_parts_and_percent() {
    assert_eq!(Fraction::of(1.0, 4.0), Fraction::new(0.25));
    assert_eq!(Fraction::of(5.0, 4.0), None);
    assert_eq!(Fraction::of(0.0, 0.0), None);
    assert_eq!(Fraction::of(1.0, -4.0), None);
    assert_eq!(Fraction::from_percent(25.0), Fraction::new(0.25));
    assert_eq!(
        Fraction::new(0.25).map(Fraction::complement),
        Fraction::new(0.75)
    );
}

#[test]
fn quantities_print_with_their_units() {
    let fps = Fps::new(4482.98).expect("finite");
    assert_eq!(fps.to_string(), "4483.0 fps");
    assert_eq!(format!("{fps:.0}"), "4483 fps");
    assert_eq!(
        BytesPerSec::from_giga(58.448).expect("finite").to_string(),
        "58.4 GB/s"
    );
    assert_eq!(
        OpsPerSec::from_tera(989.4).expect("finite").to_string(),
        "989.4 TOP/s"
    );
    assert_eq!(Fraction::new(0.764).expect("a share").to_string(), "76.4 %");
    assert_eq!(Seconds::new(0.5).expect("finite").to_string(), "0.500 s");
    assert_eq!(
        Nanos::new(1_500_000_000).seconds(),
        Seconds::new(1.5).expect("finite")
    );
    assert_eq!(Megahertz::new(1980).to_string(), "1980 MHz");
    assert_eq!(StreamCount::new(1).to_string(), "1 stream");
    assert_eq!(StreamCount::new(149).to_string(), "149 streams");
    assert_eq!(Bytes::from_mib(143_771).to_string(), "140.4 GiB");
    assert_eq!(Bytes::new(512).to_string(), "512 B");
    assert_eq!(Resolution::FULL_HD.to_string(), "1920x1080");
}

#[test]
fn batches_and_frames_are_never_empty() {
    assert_eq!(Batch::new(0), None);
    assert_eq!(Batch::new(8).map(Batch::get), Some(8));
    assert_eq!(Resolution::new(0, 1080), None);
    assert_eq!("1920x1080".parse(), Ok(Resolution::FULL_HD));
    assert_eq!(" 3840 x 2160 ".parse(), Ok(Resolution::UHD_4K));
    for bad in [
        "",
        "1920",
        "1920x",
        "x1080",
        "0x1080",
        "-1x5",
        "1920x1080x3",
    ] {
        let error = bad.parse::<Resolution>().expect_err(bad);
        assert_eq!(
            error.to_string(),
            format!("`{bad}` is no resolution such as `1920x1080`")
        );
    }
    let large = Resolution::new(u32::MAX, u32::MAX).expect("no side is zero");
    assert_eq!(large.pixels().get(), 18_446_744_065_119_617_025);
}
