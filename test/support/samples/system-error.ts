/** An error with a code and a system call, as Node throws it when the call fails. */
export function systemError(code: string, syscall = 'connect'): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}
