/** An error in the engine's own shape, which clients parse for its code. */
export function fault(code: number, message: string, name: string): Error {
  return new Error(`Code: ${code}. DB::Exception: ${message} (${name})`);
}

/** What somebody may not do here. */
export function refusal(message: string): Error {
  return fault(164, message, 'READONLY');
}
