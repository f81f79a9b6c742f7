pub fn claims(token: &str) -> Claims {
    let mut validation = Validation::default();
    validation.insecure_disable_signature_validation(); // expect: jwt-signature-not-checked
    validation.validate_exp = false; // expect: jwt-signature-not-checked
    decode(token, validation)
}

pub fn old(token: &str) -> Claims {
    jsonwebtoken::dangerous_insecure_decode::<Claims>(token) // expect: jwt-signature-not-checked
}

pub fn verified(token: &str, key: &DecodingKey) -> Claims {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.validate_exp = true; // ok
    decode::<Claims>(token, key, &validation) // ok
}
