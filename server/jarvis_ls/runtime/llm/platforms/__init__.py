"""Model providers behind one interface; each file is one kind of provider."""
