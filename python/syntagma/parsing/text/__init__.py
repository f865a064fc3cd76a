"""Text as it arrives, whatever it means: decoding, the window that is still needed, fixed texts that chunks cut."""
