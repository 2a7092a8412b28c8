/** Why a delivery failed, in words, by the errors of the log of deliveries. */
const ERRORS: Readonly<Record<string, string>> = {
  timeout: 'it did not answer within 8 seconds',
  dns: 'its name was not found',
  tls: 'its certificate or TLS was not accepted',
  connect: 'no connection could be made',
  blocked_address: 'it leads to an address that is not public',
  redirect: 'it redirects, which is not followed',
  http_status: 'its answer is not a 2xx',
  local: 'something failed on our side',
  secret_unreadable: 'its secret cannot be read any more; make a new one',
};

/** An answer of a receiver: "It answered 500: its answer is not a 2xx". @param status 0: no answer */
export function answerInWords(status: number, error: string | null): string {
  const answered = status === 0 ? 'It did not answer' : `It answered ${status}`;
  return error === null ? answered : `${answered}: ${ERRORS[error] ?? error}`;
}
