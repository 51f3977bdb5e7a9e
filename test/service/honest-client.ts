import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from './exchange.js'

const PAUSE_MS = 25

/** A client that asks for one quote after the other until it stops. */
export function startHonestClient(ask: () => Promise<Answer>) {
  const statuses = new Map<number | string, number>()
  let isStopping = false
  let slowestMs = 0

  async function askAgainAndAgain(): Promise<void> {
    while (!isStopping) {
      const start = performance.now()
      const status = await ask().then(
        (answer) => answer.status,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      )
      slowestMs = Math.max(slowestMs, performance.now() - start)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await pause(PAUSE_MS)
    }
  }
  const asking = askAgainAndAgain()

  return {
    /** @returns how many answers had each status, or which error, and how long the slowest took */
    async stop() {
      isStopping = true
      await asking
      return { statuses: Object.fromEntries(statuses), slowestMs }
    },
  }
}
