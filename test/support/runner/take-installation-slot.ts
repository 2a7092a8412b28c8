import { once } from 'node:events';
import { connect } from 'node:net';
import { inject } from 'vitest';
import './provided-context.ts';

// A setup file: vitest runs it before the tests of a file. The process of the file keeps the slot until it ends.
const slot = connect(inject('installationSlotPort'), '127.0.0.1');
await once(slot, 'data');
slot.unref();
