//! The directory that `kitti-track-output-dir` of deepstream-app names: one file a frame and stream.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::frame::UNTRACKED;
use super::{BoundingBox, Detection, Frame, Retention, StreamId, TracksError};

/// Reads the files in the order of their frames, whatever the order of the directory.
pub(super) fn read(directory: &Path) -> Result<Retention, TracksError> {
    let unreadable = |source| TracksError::Read {
        path: directory.to_owned(),
        source,
    };
    let mut files: Vec<FileKey> = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let name = name.to_string_lossy();
        if let Some(key) = FileKey::parse(&name) {
            files.push(key);
        } else if name.ends_with(".txt") {
            return Err(TracksError::Unfit {
                path: directory.join(&*name),
                reason: "its name is not instance, stream and frame as in `00_000_000000.txt`; give a directory that \
                         holds the files of `kitti-track-output-dir` alone"
                    .to_owned(),
            });
        }
    }
    if files.is_empty() {
        return Err(TracksError::Unfit {
            path: directory.to_owned(),
            reason: "it holds no file of the form `00_000_000000.txt`; set `kitti-track-output-dir` in `[application]` \
                     and run deepstream-app, which does not make the directory itself"
                .to_owned(),
        });
    }
    files.sort_unstable();
    Retention::of_frames(files.into_iter().map(|key| key.read(directory)))
}

/// The name of a file: `%02u_%03u_%06lu.txt` of deepstream_app.c.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileKey {
    stream: StreamId,
    frame: u64,
}

impl FileKey {
    /// Reads a name; `None` where deepstream-app would not have given it.
    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(".txt")?.split('_');
        let (instance, pad, frame) = (parts.next()?, parts.next()?, parts.next()?);
        let key = Self {
            stream: StreamId {
                instance: instance.parse().ok()?,
                pad: pad.parse().ok()?,
            },
            frame: frame.parse().ok()?,
        };
        (parts.next().is_none() && key.name() == name).then_some(key)
    }

    fn name(&self) -> String {
        let StreamId { instance, pad } = self.stream;
        format!("{instance:02}_{pad:03}_{:06}.txt", self.frame)
    }

    fn read(&self, directory: &Path) -> Result<Frame, TracksError> {
        let path = directory.join(self.name());
        let file = File::open(&path).map_err(|source| TracksError::Read {
            path: path.clone(),
            source,
        })?;
        let mut objects = Vec::new();
        let mut lines = Lines::new(path.clone(), file);
        while let Some((line, text)) = lines.next()? {
            if text.trim().is_empty() {
                continue;
            }
            let object = object(&text).map_err(|reason| TracksError::Line {
                path: path.clone(),
                line,
                reason,
            })?;
            objects.push(object);
        }
        Ok(Frame {
            stream: self.stream,
            number: self.frame,
            objects,
            place: (path, 1),
        })
    }
}

/// Reads an object. Labels may hold blanks, so that the three constants behind the id tell where they end.
fn object(line: &str) -> Result<Detection, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let constants = words
        .windows(3)
        .position(|three| three == ["0.0", "0", "0.0"])
        .ok_or_else(|| {
            "no `0.0 0 0.0` between id and box, which every line of `kitti-track-output-dir` has"
                .to_owned()
        })?;
    let id = constants
        .checked_sub(1)
        .filter(|at| *at > 0)
        .and_then(|at| words[at].parse::<u64>().ok());
    let Some(id) = id else {
        return Err(
            "no id behind the label: this is what `gie-kitti-output-dir` writes, in front of the tracker; give the \
             directory of `kitti-track-output-dir`"
                .to_owned(),
        );
    };
    let sides: Vec<f64> = words
        .iter()
        .skip(constants + 3)
        .take(4)
        .map_while(|word| word.parse().ok())
        .collect();
    let &[left, top, right, bottom] = sides.as_slice() else {
        return Err(format!(
            "{} of the 4 numbers of a box, left, top, right and bottom; a line that breaks off was being written when \
             the program ended: delete it",
            sides.len()
        ));
    };
    let bbox = BoundingBox::new(left, top, right - left, bottom - top).ok_or_else(|| {
        format!("the box from ({left}, {top}) to ({right}, {bottom}) has no positive size; delete the line")
    })?;
    Ok(Detection {
        id: (id != UNTRACKED).then_some(id),
        label: words[..constants - 1].join(" "),
        bbox,
    })
}

/// The lines of a file, none of them longer than any program writes.
pub(super) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    line: u64,
}

impl Lines {
    /// Bytes of the longest line that is read. The convex hull of DeepStream 9.1 takes 4 KiB; 4,000 objects of a frame in
    /// JSON take less than this.
    const LONGEST: u64 = 1 << 20;

    pub(super) fn new(path: PathBuf, file: File) -> Self {
        Self {
            path,
            reader: BufReader::new(file),
            line: 0,
        }
    }

    /// The next line with its number; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, String)>, TracksError> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader)
            .take(Self::LONGEST + 1)
            .read_until(b'\n', &mut bytes)
            .map_err(|source| TracksError::Read {
                path: self.path.clone(),
                source,
            })?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        if bytes.len() as u64 > Self::LONGEST {
            return Err(TracksError::Line {
                path: self.path.clone(),
                line: self.line,
                reason: "the line is longer than 1 MiB; one line is one object or one frame"
                    .to_owned(),
            });
        }
        Ok(Some((
            self.line,
            String::from_utf8_lossy(&bytes)
                .trim_end_matches(['\n', '\r'])
                .to_owned(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_deepstream_app_gives_them() {
        let key = FileKey::parse("00_003_000120.txt").expect("a name");
        assert_eq!((key.stream.pad, key.frame), (3, 120));
        assert_eq!(key.name(), "00_003_000120.txt");
        assert!(FileKey::parse("00_003_1234567.txt").is_some());
        for name in [
            "0_3_120.txt",
            "00_003_000120.csv",
            "00_003.txt",
            "00_003_000120_1.txt",
            "labels.txt",
        ] {
            assert_eq!(FileKey::parse(name), None, "{name}");
        }
    }

    #[track_caller]
    fn check(line: &str, id: Option<u64>, label: &str) {
        let object = object(line).expect("an object");
        assert_eq!((object.id, object.label.as_str()), (id, label));
        assert_eq!(
            object.bbox,
            BoundingBox::new(10.0, 20.0, 30.0, 40.0).expect("a box")
        );
    }

    #[test]
    fn lines_of_every_release() {
        // DeepStream 4 and 5, 6 to 9.0, 9.1 with a projected object, a label of two words, an object without a track.
        check(
            "car 7 0.0 0 0.0 10.00 20.00 40.00 60.00 0.0 0.0 0.0 0.0 0.0 0.0 0.0",
            Some(7),
            "car",
        );
        check(
            "car 7 0.0 0 0.0 10.000000 20.000000 40.000000 60.000000 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.930000",
            Some(7),
            "car",
        );
        check(
            "car 7 0.0 0 0.0 10.0 20.0 40.0 60.0 0.0 0.0 0.0 1.5 2.5 0.0 0.0 0.93 1.0 25.0 60.0 10|20|40|60",
            Some(7),
            "car",
        );
        check(
            "traffic light 2 7 0.0 0 0.0 10.0 20.0 40.0 60.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.9",
            Some(7),
            "traffic light 2",
        );
        check(
            "car 18446744073709551615 0.0 0 0.0 10.0 20.0 40.0 60.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.9",
            None,
            "car",
        );
    }

    #[test]
    fn lines_that_are_refused_with_what_to_do() {
        for (line, reason) in [
            (
                "car 0.0 0 0.0 10.0 20.0 40.0 60.0 0.0",
                "`gie-kitti-output-dir`",
            ),
            ("car 7 0.0 0 0.0 10.0 20.0", "2 of the 4 numbers"),
            (
                "car 7 0.0 0 0.0 40.0 20.0 10.0 60.0 0.0",
                "no positive size",
            ),
            ("frame 1, car 7", "no `0.0 0 0.0`"),
        ] {
            let said = object(line).expect_err("no object");
            assert!(said.contains(reason), "{said}");
        }
    }
}
