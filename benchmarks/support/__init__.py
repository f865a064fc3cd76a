"""What the benchmark scripts share: vocabularies, engines behind one face, workers, clocks and tables."""
