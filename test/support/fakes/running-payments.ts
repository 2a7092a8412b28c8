import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnvironment } from '../../../services/simulator/environment.ts';
import { startSimulator } from '../../../services/simulator/simulator.ts';
import { createStripe } from '../../../shared/billing/stripe.ts';
import type { PaymentSettings } from '../../../shared/billing/stripe.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/** The payment simulator in this process, over real HTTP. */
export interface RunningPayments {
  url: string;
  /** What a service needs to sell through it. */
  payments: { settings: PaymentSettings; stripe: ReturnType<typeof createStripe>; clock: Clock };
  /** Presses a button of a checkout page; returns where it leads. */
  press(checkout: { url: string }, button: 'pay' | 'cancel' | 'refund'): Promise<string | null>;
  stop(): Promise<void>;
}

const KEY = 'sk_test_trial';
const SECRET = 'whsec_trial';

/** @param webhookUrl where events are sent; by default nobody listens there, and every webhook is lost */
export async function startPayments(webhookUrl = 'http://127.0.0.1:9/stripe/webhook'): Promise<RunningPayments> {
  const directory = mkdtempSync(join(tmpdir(), 'forum-test-payments-'));
  const { world, access } = parseEnvironment({ DATA_DIR: directory });
  const payments = { key: KEY, secret: SECRET, webhookUrl };
  const options = { port: 0, world: { ...world, rate: 0, history: 0 }, access, payments };
  const simulator = await startSimulator(options, systemClock, false);
  const { url } = simulator;
  const settings: PaymentSettings = {
    mode: 'trial',
    secretKey: KEY,
    webhookSecrets: [SECRET],
    apiUrl: url,
    prices: {},
    automaticTax: false,
  };
  return {
    url,
    payments: { settings, stripe: createStripe(settings), clock: systemClock },
    async press(checkout, button) {
      const response = await fetch(`${checkout.url}/${button}`, { method: 'POST', redirect: 'manual' });
      if (response.status !== 303) throw new Error(`the checkout page answered ${response.status}`);
      return response.headers.get('location');
    },
    async stop() {
      await simulator.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
