/** Returns an error in the engine's format, from which clients parse the code. */
export function fault(code: number, message: string, name: string): Error {
  return new Error(`Code: ${code}. DB::Exception: ${message} (${name})`);
}

/** Returns the error for something that is not allowed here. */
export function refusal(message: string): Error {
  return fault(164, message, 'READONLY');
}
