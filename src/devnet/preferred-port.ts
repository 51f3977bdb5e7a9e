/**
 * Starts a server at its usual port, or at any free one when that is taken.
 * @param start listens at the given port; 0 takes any free one
 * @throws any other error of `start`
 */
export async function atPreferredPort<T>(preferred: number, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(preferred)
  } catch (error) {
    if (!/EADDRINUSE|address already in use|is taken/i.test(String(error))) throw error
    return start(0)
  }
}
