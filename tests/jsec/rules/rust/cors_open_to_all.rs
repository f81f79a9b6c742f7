pub fn open() -> CorsLayer {
    CorsLayer::permissive() // expect: cors-open-to-all
}

pub fn any() -> CorsLayer {
    CorsLayer::new().allow_origin(Any) // expect: cors-open-to-all
}

pub fn actix() -> Cors {
    Cors::default()
        .allow_any_origin() // expect: cors-open-to-all
        .max_age(3600)
}

pub fn named() -> CorsLayer {
    CorsLayer::new().allow_origin(ORIGIN) // ok
}

pub fn other() -> Grammar {
    Grammar::permissive() // ok
}
