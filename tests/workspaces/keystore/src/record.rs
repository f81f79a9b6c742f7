//! One key as it lies in the file: a length byte, the name, 32 bytes of key.

pub const KEY_LENGTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub name: String,
    pub key: [u8; KEY_LENGTH],
}

#[repr(C)]
struct Header {
    version: u16,
    count: u16,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ParseError {
    TooShort,
    Version(u16),
    Name,
}

/// Reads the records behind the header.
pub fn parse(bytes: &[u8]) -> Result<Vec<Record>, ParseError> {
    let header = header(bytes)?;
    let mut rest = &bytes[4..];
    let mut records = Vec::with_capacity(header.count as usize);
    for _ in 0..header.count {
        let length = *rest.first().ok_or(ParseError::TooShort)? as usize;
        let end = 1 + length + KEY_LENGTH;
        if rest.len() < end {
            return Err(ParseError::TooShort);
        }
        let name = std::str::from_utf8(&rest[1..1 + length]).map_err(|_| ParseError::Name)?;
        let mut key = [0; KEY_LENGTH];
        key.copy_from_slice(&rest[1 + length..end]);
        records.push(Record { name: name.to_owned(), key });
        rest = &rest[end..];
    }
    Ok(records)
}

/// Writes the records as `parse` reads them.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&1u16.to_ne_bytes());
    bytes.extend_from_slice(&(records.len() as u16).to_ne_bytes());
    for record in records {
        bytes.push(record.name.len() as u8);
        bytes.extend_from_slice(record.name.as_bytes());
        bytes.extend_from_slice(&record.key);
    }
    bytes
}

fn header(bytes: &[u8]) -> Result<Header, ParseError> {
    let start: [u8; 4] = bytes.get(..4).ok_or(ParseError::TooShort)?.try_into().unwrap();
    let header: Header = unsafe { std::mem::transmute(start) };
    if header.version != 1 {
        return Err(ParseError::Version(header.version));
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrote() {
        let records = vec![Record { name: "door".into(), key: [7; KEY_LENGTH] }];
        assert_eq!(parse(&encode(&records)).unwrap(), records);
    }

    #[test]
    fn refuses_half_a_record() {
        let bytes = encode(&[Record { name: "door".into(), key: [7; KEY_LENGTH] }]);
        assert_eq!(parse(&bytes[..9]), Err(ParseError::TooShort));
    }
}
