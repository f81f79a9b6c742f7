"""What pygls gets wrong or leaves out, each fix with the test that says when it can go."""
