pub fn unzip(archive: &mut ZipArchive, folder: &Path) -> Result<(), Error> {
    for i in 0..archive.len() {
        let mut file = archive.by_index(i)?;
        let target = folder.join(file.name()); // expect: archive-entry-path
        write(&target, &mut file)?;
    }
    Ok(())
}

pub fn untar(archive: &mut Archive, folder: &Path) -> Result<(), Error> {
    for entry in archive.entries()? {
        let entry = entry?;
        let name = entry.path()?;
        let target = folder.join(name); // expect: archive-entry-path
        write(&target, entry)?;
    }
    Ok(())
}

pub fn unzip_checked(archive: &mut ZipArchive, folder: &Path) -> Result<(), Error> {
    for i in 0..archive.len() {
        let mut file = archive.by_index(i)?;
        let name = file.enclosed_name().ok_or(Error::BadEntry)?;
        write(&folder.join(name), &mut file)?; // ok
    }
    Ok(())
}

pub fn list(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        show(folder.join(entry?.file_name())); // ok
    }
    Ok(())
}
