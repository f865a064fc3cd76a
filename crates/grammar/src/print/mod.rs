//! Grammar text printed from the IR.
