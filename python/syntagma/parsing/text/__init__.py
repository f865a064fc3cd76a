"""Text as it arrives, whatever its meaning: decoding, the window that is still needed, fixed texts across chunks."""
