import { describe, expect, test } from 'vitest';
import { ActivityMeter } from '../../../../../services/crawler/groups/activity-meter.ts';

describe('ActivityMeter', () => {
  test('assumes the usual activity before anything was measured', () => {
    expect(new ActivityMeter().activity).toBe(1);
  });

  test('follows a change within half an hour, and single pages hardly', () => {
    const meter = new ActivityMeter();
    meter.note(80, 40, 0);
    expect(meter.activity).toBeLessThan(1.1);
    for (let second = 1; second <= 1_800; second++) meter.note(80, 40, second * 1000);
    expect(meter.activity).toBeCloseTo(2, 1);
    for (let second = 1_801; second <= 3_600; second++) meter.note(20, 40, second * 1000);
    expect(meter.activity).toBeLessThan(0.65);
  });

  test('stays within a factor of five', () => {
    const meter = new ActivityMeter();
    meter.note(1e6, 1, 0);
    expect(meter.activity).toBe(5);
  });
});
