// The health check of a container without curl: exits with 0 while the process is ready, else with 1 and the reason.
// Plain JavaScript starts in 40 ms. Where the container listens on another port, METRICS_PORT says so.
const url = `http://127.0.0.1:${process.env.METRICS_PORT ?? 9464}/readyz`;
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
} catch (error) {
  console.error(`${url}: ${error.message}`);
  process.exitCode = 1;
}
