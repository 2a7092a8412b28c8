/** Runs before each file of unit and integration tests. */
import fc from 'fast-check';

/**
 * The same examples in every run. Some properties tell of a simulation what holds nearly always and is no theorem, so
 * that new examples in each run would fail by chance. README.md says how to search with others.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FAST_CHECK_SEED ?? 1) });
