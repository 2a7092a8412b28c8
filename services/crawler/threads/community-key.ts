import { samplingHash } from '../audit/sampling-hash.ts';

/** A community by a number from 1 to 2³²; 0 stands for an unknown one. Two communities may share one. */
export function communityKey(name: string | undefined): number {
  return name === undefined || name === '' ? 0 : Math.floor(samplingHash(0, name.toLowerCase()) * 2 ** 32) || 1;
}
