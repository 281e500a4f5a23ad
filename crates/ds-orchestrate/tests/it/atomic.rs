//! Files that are replaced whole, or not at all.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::Path;

use ds_orchestrate::atomic::write;

use crate::support::{
    child_task, files_below, folder, mode, put, run_again_on_a_full_disk, set_mode,
};

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}

#[test]
fn the_mode_is_kept() {
    for kept in [0o640, 0o755, 0o600, 0o444] {
        let folder = folder();
        let path = folder.path().join("file");
        put(&path, "old");
        set_mode(&path, kept);
        write(&path, b"new").expect("the folder is writable");
        assert_eq!((text(&path).as_str(), mode(&path)), ("new", kept));
        assert_eq!(files_below(folder.path()), ["file"], "nothing else is left");
    }
}

#[test]
fn a_new_file_is_readable_by_all() {
    let folder = folder();
    let path = folder.path().join("file");
    write(&path, b"new").expect("the folder is writable");
    assert_eq!((text(&path).as_str(), mode(&path)), ("new", 0o644));
}

#[test]
fn the_owner_is_kept_where_the_system_allows_it() {
    let folder = folder();
    let path = folder.path().join("file");
    put(&path, "old");
    // Root gives the file to somebody else; anybody else stays who they are.
    let given_away = chown(&path, Some(12_345), Some(12_346)).is_ok();
    let owner = || {
        let metadata = fs::metadata(&path).expect("the file is there");
        (metadata.uid(), metadata.gid())
    };
    let before = owner();
    assert_eq!(given_away, before == (12_345, 12_346));
    write(&path, b"new").expect("the folder is writable");
    assert_eq!((text(&path).as_str(), owner()), ("new", before));
}

#[test]
fn a_symbolic_link_stays_one() {
    let folder = folder();
    fs::create_dir(folder.path().join("real")).expect("an empty folder");
    let target = folder.path().join("real/file");
    put(&target, "old");
    set_mode(&target, 0o640);
    symlink("real/file", folder.path().join("first")).expect("a link");
    let link = folder.path().join("second");
    symlink("first", &link).expect("a link");
    write(&link, b"new").expect("the folder is writable");
    assert_eq!(
        fs::read_link(&link).expect("still a link"),
        Path::new("first")
    );
    assert_eq!((text(&target).as_str(), mode(&target)), ("new", 0o640));
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet() {
    let folder = folder();
    let link = folder.path().join("link");
    symlink("file", &link).expect("a link");
    write(&link, b"new").expect("the folder is writable");
    assert_eq!(
        fs::read_link(&link).expect("still a link"),
        Path::new("file")
    );
    assert_eq!(text(&folder.path().join("file")), "new");
}

#[test]
fn a_circle_of_links() {
    let folder = folder();
    symlink("b", folder.path().join("a")).expect("a link");
    symlink("a", folder.path().join("b")).expect("a link");
    write(&folder.path().join("a"), b"new").expect_err("it leads nowhere");
    assert_eq!(files_below(folder.path()), ["a", "b"]);
}

#[test]
fn a_folder_that_is_missing() {
    let folder = folder();
    let error = write(&folder.path().join("none/file"), b"new").expect_err("there is no folder");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(files_below(folder.path()).is_empty());
}

#[test]
fn a_folder_in_the_place_of_the_file() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::create_dir(&path).expect("an empty folder");
    write(&path, b"new").expect_err("it is a folder");
    assert!(path.is_dir() && files_below(folder.path()).is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_leaves_the_old_content() {
    // Here not even root can make a file.
    let path = Path::new("/proc/sys/kernel/ostype");
    let old = text(path);
    write(path, b"new").expect_err("nobody can make a file there");
    assert_eq!(text(path), old);
}

#[test]
fn a_name_without_a_folder_is_one_of_the_working_folder() {
    // The tests run in the folder of the package.
    let error = write(Path::new("Cargo.toml/file"), b"new").expect_err("a file is no folder");
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
    write(Path::new(""), b"new").expect_err("no name");
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    if let Some(path) = child_task() {
        write(Path::new(&path), &vec![b'x'; 1 << 20]).expect_err("there is no room");
        return;
    }
    let folder = folder();
    let path = folder.path().join("file");
    put(&path, "old");
    let this = "atomic::a_full_disk_leaves_the_old_content";
    let status = run_again_on_a_full_disk(this, &path.display().to_string());
    assert!(status.success(), "{status}");
    assert_eq!(text(&path), "old");
    assert_eq!(files_below(folder.path()), ["file"], "nothing else is left");
}
